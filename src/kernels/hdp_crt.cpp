#include "hdp_crt.hpp"

#include <algorithm>

namespace countwise {

int32_t draw_tables(int32_t n, double c, Random& random) {
  int32_t tables = 1, i = 1;
  const auto one_by_one = [&](int32_t end) {
    for (; i < end; ++i) tables += random.uniform() * (c + i) < c;
  };
  one_by_one(std::min(n, 32));
  while (i < n) {
    // A new table has at most the chance `most` from here to twice as far: jump from candidate to candidate and accept
    // with the ratio of the chances, at least 1/2. So the work is that of the tables, not of the customers.
    const int32_t end = i > n / 2 ? n : 2 * i;
    const double most = c / (c + i);
    if (most > 0.25) {
      one_by_one(end);
      continue;
    }
    const double scale = 1 / std::log1p(-most);
    for (;;) {
      const double jump = std::log(random.positive()) * scale;
      if (jump >= end - i) break;
      i += static_cast<int32_t>(jump);
      tables += random.uniform() * most * (c + i) < c;
      if (++i >= end) break;
    }
    i = end;
  }
  return tables;
}

namespace {

class CrtSweep {
 public:
  explicit CrtSweep(HdpChain& chain);
  void operator()(Random& random);

 private:
  void draw_distributions(Random& random);
  void draw_all_tables(Random& random);

  HdpChain& chain_;
  std::vector<int32_t> inner_;                     // nodes with children
  std::vector<int32_t> fixed_cell_, fixed_total_;  // customers from cells that always have one table
  std::vector<double> phi_;                        // per cell of an inner node: its probability
};

CrtSweep::CrtSweep(HdpChain& chain)
    : chain_(chain), fixed_cell_(chain.customers), fixed_total_(chain.total), phi_(chain.tree.n_cells()) {
  for (size_t node = 0; node < chain.tree.n_nodes; ++node)
    if (chain.is_inner(node)) inner_.push_back(static_cast<int32_t>(node));
  for (const auto& at : chain.active_nodes)
    for (int32_t i = at.first; i < at.last; ++i) {
      const int32_t c = chain.active_cells[i];
      fixed_cell_[chain.up[c]] -= chain.tables[c];
      fixed_total_[chain.tree.parent[at.node]] -= chain.tables[c];
    }
}

// phi_j ~ Dirichlet(n_j + alpha phi_parent). The values without a cell are one further value: nothing below has them.
void CrtSweep::draw_distributions(Random& random) {
  const CountTreeView& tree = chain_.tree;
  for (const int32_t node : inner_) {
    const double a = chain_.alpha(node);
    double rest = 1, sum = 0;
    for (int64_t c = tree.cell_ptr[node]; c < tree.cell_ptr[node + 1]; ++c) {
      const double above = node == 0 ? 1 / static_cast<double>(tree.arity) : phi_[chain_.up[c]];
      rest -= above;
      sum += phi_[c] = random.gamma(chain_.customers[c] + a * above);
    }
    if (rest > 0) sum += random.gamma(a * rest);
    const double scale = 1 / sum;
    for (int64_t c = tree.cell_ptr[node]; c < tree.cell_ptr[node + 1]; ++c) phi_[c] *= scale;
  }
}

void CrtSweep::draw_all_tables(Random& random) {
  HdpChain& chain = chain_;
  const CountTreeView& tree = chain.tree;
  for (const int32_t node : inner_) {
    const int64_t begin = tree.cell_ptr[node], end = tree.cell_ptr[node + 1];
    std::copy(fixed_cell_.begin() + begin, fixed_cell_.begin() + end, chain.customers.begin() + begin);
    chain.total[node] = fixed_total_[node];
  }
  for (const auto& at : chain.active_nodes) {
    const int32_t parent = tree.parent[at.node], group = chain.model.group[at.node];
    const double a = chain.concentration[group];
    for (int32_t i = at.first; i < at.last; ++i) {
      const int32_t c = chain.active_cells[i], up = chain.up[c];
      const int32_t tables = draw_tables(chain.customers[c], a * phi_[up], random);
      chain.group_tables[group] += tables - chain.tables[c];
      chain.tables[c] = tables;
      chain.customers[up] += tables;
      chain.total[parent] += tables;
    }
  }
}

void CrtSweep::operator()(Random& random) {
  draw_distributions(random);
  draw_all_tables(random);
}

}  // namespace

void hdp_crt(const CountTreeView& tree, const HdpModel& model, const HdpRun& run, const HdpOut& out) {
  HdpChain chain(tree, model);
  CrtSweep sweep(chain);
  run_chain(chain, run, out, sweep);
}

}  // namespace countwise
