#include "hdp_chain.hpp"

#include <algorithm>
#include <limits>

#include "special.hpp"

namespace countwise {

namespace {

constexpr int32_t kFew = 32;        // leaves with so few rows are drawn together, see draw_rate
constexpr int64_t kManyNodes = 64;  // ... in groups of more nodes than this

// -log q, q ~ Beta(alpha, n), which is distributed as the sum over i < n of E_i / (alpha + i) with standard exponential
// E_i: cheaper than two gammas while n is small.
double minus_log_q(double a, int32_t n, Random& random) {
  if (n > 6) return random.minus_log_beta(a, n);
  double sum = 0;
  for (int32_t i = 0; i < n; ++i) sum += random.exponential() / (a + i);
  return sum;
}

}  // namespace

HdpChain::HdpChain(const CountTreeView& view, const HdpModel& given)
    : tree(view),
      model(given),
      up(view.n_cells()),
      customers(view.n_cells(), 0),
      tables(view.n_cells()),
      total(view.n_nodes, 0),
      group_tables(given.n_groups, 0),
      concentration(given.n_groups, kStart),
      inner_(view.n_nodes, 0),
      proba_(view.n_cells()),
      proba_sum_(view.n_cells(), 0.0),
      weight_sum_(view.n_nodes, 0.0),
      total_sum_(view.n_nodes, 0.0),
      concentration_sum_(given.n_groups, 0.0) {
  link_cells(tree, up.data());
  for (size_t node = 1; node < tree.n_nodes; ++node) inner_[tree.parent[node]] = 1;
  find_active();
  seat();
  sort_nodes();
}

void HdpChain::find_active() {
  for (size_t node = tree.n_nodes; node-- > 1;) {
    const auto first = static_cast<int32_t>(active_cells.size());
    for (int64_t c = tree.cell_ptr[node]; c < tree.cell_ptr[node + 1]; ++c)
      if (tree.cell_count[c] > 1) active_cells.push_back(static_cast<int32_t>(c));
    const auto last = static_cast<int32_t>(active_cells.size());
    if (last > first) active_nodes.push_back({static_cast<int32_t>(node), first, last});
  }
}

void HdpChain::seat() {
  for (size_t node = tree.n_nodes; node-- > 0;) {
    const double a = alpha(node);
    for (int64_t c = tree.cell_ptr[node]; c < tree.cell_ptr[node + 1]; ++c) {
      if (!inner_[node]) customers[c] = static_cast<int32_t>(tree.cell_count[c]);
      const int32_t n = customers[c];
      total[node] += n;
      if (node == 0) continue;
      const double expected = n > 1 ? std::floor(a * (digamma(a + n) - digamma(a))) : n;
      tables[c] = std::clamp(static_cast<int32_t>(expected), 1, n);
      customers[up[c]] += tables[c];
      group_tables[model.group[node]] += tables[c];
    }
  }
}

void HdpChain::sort_nodes() {
  std::vector<int64_t> size(model.n_groups, 0);
  for (size_t node = 1; node < tree.n_nodes; ++node) ++size[model.group[node]];
  few_ptr_.assign(model.n_groups, -1);
  for (size_t g = 0; g < model.n_groups; ++g)
    if (size[g] > kManyNodes) {
      few_ptr_[g] = static_cast<int64_t>(few_rows_.size());
      few_rows_.resize(few_rows_.size() + kFew + 1, 0);
    }
  const auto counted = [&](size_t node) {
    return few_ptr_[model.group[node]] >= 0 && !inner_[node] && total[node] <= kFew;
  };
  group_ptr_.assign(model.n_groups + 1, 0);
  for (size_t node = 1; node < tree.n_nodes; ++node)
    if (counted(node))
      ++few_rows_[few_ptr_[model.group[node]] + total[node]];
    else
      ++group_ptr_[model.group[node] + 1];
  for (size_t g = 0; g < model.n_groups; ++g) group_ptr_[g + 1] += group_ptr_[g];
  group_node_.resize(group_ptr_.back());
  std::vector<int64_t> place(group_ptr_.begin(), group_ptr_.end() - 1);
  for (size_t node = 1; node < tree.n_nodes; ++node)
    if (!counted(node)) group_node_[place[model.group[node]]++] = static_cast<int32_t>(node);
}

// The sum over the group's nodes of -log q_j, q_j ~ Beta(alpha, N_j). Nodes of few customers, of which a group can have
// very many, are drawn together: their exponentials of one i add up to a Gamma variable whose shape is the number of
// nodes with N_j > i.
double HdpChain::draw_rate(size_t group, Random& random) const {
  const double a = concentration[group];
  const int64_t *begin = &group_ptr_[group], few = few_ptr_[group];
  double sum = 0;
  if (few < 0) {
    for (int64_t i = begin[0]; i < begin[1]; ++i) sum += minus_log_q(a, total[group_node_[i]], random);
    return sum;
  }
  int32_t nodes_of[kFew + 1];
  std::copy(&few_rows_[few], &few_rows_[few] + kFew + 1, nodes_of);
  for (int64_t i = begin[0]; i < begin[1]; ++i) {
    const int32_t n = total[group_node_[i]];
    if (n <= kFew)
      ++nodes_of[n];
    else
      sum += random.minus_log_beta(a, n);
  }
  int32_t above = 0;
  for (int32_t i = kFew - 1; i >= 0; --i) {
    above += nodes_of[i + 1];
    if (above > 0) sum += random.gamma(above) / (a + i);
  }
  return sum;
}

void HdpChain::draw_concentrations(Random& random) {
  for (size_t g = 0; g < model.n_groups; ++g) {
    if (group_tables[g] == 0) continue;  // no node but perhaps the root
    const double rate = model.rate + draw_rate(g, random);
    const double shape = model.shape + static_cast<double>(group_tables[g]);
    // The prior is cut off at the bounds. Draws outside are refused; after many refusals the old value stays, which
    // leaves the posterior invariant, since how often that happens does not depend on the old value.
    for (int tries = 0; tries < 32; ++tries) {
      const double drawn = random.gamma(shape) / rate;
      if (drawn < kLeast || drawn > kMost) continue;
      concentration[g] = drawn;
      break;
    }
  }
}

void HdpChain::record() {
  for (size_t node = 0; node < tree.n_nodes; ++node) {
    const double a = alpha(node), scale = 1 / (total[node] + a), weight = a * scale;
    const int64_t begin = tree.cell_ptr[node], end = tree.cell_ptr[node + 1];
    for (int64_t c = begin; c < end; ++c) {
      const double above = node == 0 ? 1.0 / static_cast<double>(tree.arity) : proba_[up[c]];
      const double p = customers[c] * scale + weight * above;
      proba_[c] = p;
      proba_sum_[c] += p;
    }
    weight_sum_[node] += weight;
    total_sum_[node] += total[node];
  }
  for (size_t g = 0; g < model.n_groups; ++g) concentration_sum_[g] += concentration[g];
  ++recorded_;
}

void HdpChain::write_averages(const HdpOut& out) const {
  const double share = 1 / static_cast<double>(recorded_);
  for (size_t g = 0; g < model.n_groups; ++g)
    out.concentration[g] = group_tables[g] ? concentration_sum_[g] * share : model.root_concentration;
  for (size_t node = 0; node < tree.n_nodes; ++node) {
    double here = 0, above = 0;  // mean probability of the node's values, here and one node up
    for (int64_t c = tree.cell_ptr[node]; c < tree.cell_ptr[node + 1]; ++c) {
      here += out.estimate.cell_proba[c] = proba_sum_[c] * share;
      above += node == 0 ? 1 / static_cast<double>(tree.arity) : out.estimate.cell_proba[up[c]];
    }
    // Values without a cell have what is left, here and above: their ratio makes the node sum to 1. Where nothing is
    // left, or only rounding errors, the mean weight of the parent serves.
    const double weight = weight_sum_[node] * share;
    out.estimate.absent[node] = 1 - above > 1e-12 && here < 1 ? (1 - here) / (1 - above) : weight;
    const double a = node == 0 ? model.root_concentration : out.concentration[model.group[node]];
    const double sum = total_sum_[node] * share + a;
    const double uncertain = node == 0 ? 0 : 1 / (out.estimate.precision[tree.parent[node]] + 1);
    out.estimate.precision[node] = (sum + 1) / (1 + a * a / sum * uncertain) - 1;
  }
}

void HdpChain::draw_distribution(size_t node, Random& random, double* out) const {
  std::vector<size_t> path{node};
  while (path.back() != 0) path.push_back(tree.parent[path.back()]);
  std::fill(out, out + tree.arity, 1 / static_cast<double>(tree.arity));
  for (size_t depth = path.size(); depth-- > 0;) {
    const size_t at = path[depth];
    const double a = alpha(at);
    for (size_t k = 0; k < tree.arity; ++k) out[k] *= a;
    for (int64_t c = tree.cell_ptr[at]; c < tree.cell_ptr[at + 1]; ++c) out[tree.cell_value[c]] += customers[c];
    // Gamma draws as logarithms: those of small shapes lie far below the smallest double.
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (size_t k = 0; k < tree.arity; ++k) {
      out[k] = out[k] > 0 ? random.log_gamma(out[k]) : -std::numeric_limits<double>::infinity();
      most = std::max(most, out[k]);
    }
    for (size_t k = 0; k < tree.arity; ++k) sum += out[k] = std::exp(out[k] - most);
    for (size_t k = 0; k < tree.arity; ++k) out[k] /= sum;
  }
}

}  // namespace countwise
