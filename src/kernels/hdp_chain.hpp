// The hierarchical Dirichlet process of a count tree as a Markov chain: what its samplers share.
#pragma once

#include "hdp.hpp"
#include "random.hpp"

namespace countwise {

struct HdpRun {
  int64_t n_iter, burn_in;  // sweeps, and how many of them are not averaged
  uint64_t seed;
  int64_t draw_node, n_draws;  // posterior draws of this node's distribution, spread over the sweeps that are kept
};

struct HdpOut {
  ShrunkOut estimate;
  double* concentration;  // mean of each group
  double* trace;          // kept sweeps x groups, or null
  double* draws;          // n_draws x arity, or null
};

// Every node is a Chinese restaurant: its customers of a value sit at tables, and each table is a customer one node up.
// Customers of leaves are rows (paper 000, section 4.3).
class HdpChain {
 public:
  // Tables start at their expectation from the leaves up (paper 000, eq. 15).
  HdpChain(const CountTreeView& tree, const HdpModel& model);

  bool is_inner(size_t node) const { return inner_[node]; }
  double alpha(size_t node) const { return node == 0 ? model.root_concentration : concentration[model.group[node]]; }

  // Every group's concentration by Beta and Gamma draws (paper 000, Algorithm 5).
  void draw_concentrations(Random& random);

  // Adds the estimates of the present state (paper 000, eq. 12-14) to the averages.
  void record();
  void write_averages(const HdpOut& out) const;

  // One draw of a node's distribution given tables and concentrations, from the root down its path.
  void draw_distribution(size_t node, Random& random, double* out) const;

  const CountTreeView tree;
  const HdpModel model;
  std::vector<int32_t> up;                 // the cell of the same value one node up
  std::vector<int32_t> customers, tables;  // per cell
  std::vector<int32_t> total;              // customers of a node
  std::vector<int64_t> group_tables;       // tables of a group's nodes
  std::vector<double> concentration;       // per group

  struct ActiveNode {
    int32_t node, first, last;  // its cells: active_cells[first .. last - 1]
  };
  std::vector<ActiveNode> active_nodes;  // from the leaves up
  std::vector<int32_t> active_cells;     // at least two rows, not the root's: the others have one table for ever

 private:
  void find_active();
  void seat();
  void sort_nodes();
  double draw_rate(size_t group, Random& random) const;

  std::vector<char> inner_;          // per node: has children
  std::vector<int64_t> group_ptr_;   // the nodes of group g that are visited for its rate: group_node_[..]
  std::vector<int32_t> group_node_;  // all of a small group's; of a large one's not the leaves with few rows
  std::vector<int32_t> few_rows_;    // large groups: leaves by their rows, 0 .. kFew
  std::vector<int64_t> few_ptr_;     // where a group's begin, -1 for a small group
  std::vector<double> proba_, proba_sum_, weight_sum_, total_sum_, concentration_sum_;
  int64_t recorded_ = 0;
};

// `sweep(random)` draws all tables anew, once an iteration.
template <class Sweep>
void run_chain(HdpChain& chain, const HdpRun& run, const HdpOut& out, Sweep&& sweep) {
  Random random(run.seed);
  const int64_t n_kept = run.n_iter - run.burn_in;
  int64_t drawn = 0;
  for (int64_t kept = 1 - run.burn_in; kept <= n_kept; ++kept) {
    sweep(random);
    chain.draw_concentrations(random);
    if (kept < 1) continue;
    chain.record();
    if (out.trace)
      for (size_t g = 0; g < chain.concentration.size(); ++g)
        out.trace[(kept - 1) * chain.concentration.size() + g] = chain.concentration[g];
    for (; out.draws && drawn * n_kept < kept * run.n_draws; ++drawn)
      chain.draw_distribution(static_cast<size_t>(run.draw_node), random, out.draws + drawn * chain.tree.arity);
  }
  chain.write_averages(out);
}

}  // namespace countwise
