#include <algorithm>
#include <numeric>

#include "grow_column.hpp"

namespace countwise {
namespace {

constexpr int kTurns = 100;  // of the power iteration
constexpr double kSettled = 1e-10;
constexpr int kManyCodes = 50;  // from here on one subset less is nothing

// log2(2^(m - 1) - 1): the ways to put m codes into two sets.
double subset_bits(size_t m) {
  const int doublings = static_cast<int>(m) - 1;
  return doublings < kManyCodes ? std::log2(std::ldexp(1.0, doublings) - 1) : doublings;
}

template <class Count>
void find_codes(const std::vector<CodeEntry<Count>>& entries, NodeCodes<Count>& found) {
  found.starts.clear();
  found.weight.clear();
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i == 0 || entries[i].code != entries[i - 1].code) {
      found.starts.push_back(i);
      found.weight.push_back(0);
    }
    found.weight.back() += entries[i].weight;
  }
  found.starts.push_back(entries.size());
}

// out[i * n_classes + c] = the share of class c among the rows of code i, less that among all rows.
template <class Count>
void class_shares(const NodeRows<Count>& node, const NodeCodes<Count>& codes,
                  const std::vector<CodeEntry<Count>>& entries, std::vector<double>& out) {
  const size_t k = node.n_classes;
  out.resize(codes.size() * k);
  for (size_t i = 0; i < codes.size(); ++i) {
    double* own = out.data() + i * k;
    for (size_t c = 0; c < k; ++c)
      own[c] = -static_cast<double>(node.class_counts[c]) / static_cast<double>(node.total);
    for (size_t e = codes.starts[i]; e < codes.starts[i + 1]; ++e)
      own[entries[e].cls] += static_cast<double>(entries[e].weight) / static_cast<double>(codes.weight[i]);
  }
}

double dot(const double* a, const double* b, size_t n) { return std::inner_product(a, a + n, b, 0.0); }

// The direction of the greatest weighted variance of the shares, by power iteration from the code that adds most to it.
template <class Count>
void main_direction(const NodeCodes<Count>& codes, size_t k, ColumnScratch<Count>& scratch) {
  const auto& shares = scratch.shares;
  auto &direction = scratch.direction, &turned = scratch.turned;
  direction.assign(k, 0.0);
  double most = 0;
  for (size_t i = 0; i < codes.size(); ++i) {
    const double* own = shares.data() + i * k;
    const double spread = static_cast<double>(codes.weight[i]) * dot(own, own, k);
    if (spread <= most) continue;
    most = spread;
    direction.assign(own, own + k);
  }
  for (int turn = 0; turn < kTurns && most > 0; ++turn) {
    turned.assign(k, 0.0);
    for (size_t i = 0; i < codes.size(); ++i) {
      const double* own = shares.data() + i * k;
      const double along = static_cast<double>(codes.weight[i]) * dot(own, direction.data(), k);
      for (size_t c = 0; c < k; ++c) turned[c] += along * own[c];
    }
    const double length = std::sqrt(dot(turned.data(), turned.data(), k));
    if (!(length > 0)) return;
    double change = 0;
    for (size_t c = 0; c < k; ++c) {
      turned[c] /= length;
      change = std::max(change, std::abs(turned[c] - direction[c]));
    }
    direction.swap(turned);
    if (change < kSettled) return;
  }
}

// scratch.order: positions of the codes, by where they lie along the direction; equal ones by code.
template <class Count>
void order_codes(const NodeRows<Count>& node, ColumnScratch<Count>& scratch) {
  const size_t k = node.n_classes;
  const NodeCodes<Count>& codes = scratch.codes;
  class_shares(node, codes, scratch.entries, scratch.shares);
  if (k > 2) main_direction(codes, k, scratch);
  auto& along = scratch.along;
  along.resize(codes.size());
  for (size_t i = 0; i < codes.size(); ++i) {
    const double* own = scratch.shares.data() + i * k;
    along[i] = k == 2 ? own[1] : dot(own, scratch.direction.data(), k);
  }
  auto& order = scratch.order;
  order.resize(codes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return along[a] < along[b] || (along[a] == along[b] && a < b); });
}

}  // namespace

template <class Score, class Count>
ColumnSplit subset_split(const Score& score, const NodeRows<Count>& node, double node_cost, double min_leaf,
                         ColumnScratch<Count>& scratch) {
  const auto& entries = scratch.entries;
  const NodeCodes<Count>& codes = scratch.codes;
  find_codes(entries, scratch.codes);
  ColumnSplit best;
  best.n_codes = static_cast<uint32_t>(codes.size());
  if (codes.size() < 2) return best;
  best.choice_bits = subset_bits(codes.size());
  order_codes(node, scratch);
  const auto& order = scratch.order;
  scratch.counts.assign(node.class_counts, node.class_counts + node.n_classes);
  TwoSides<Score, Count> sides(score, scratch.counts, scratch.left, scratch.right);
  Count best_left = 0;
  double least = node_cost;
  const double same = kSameGain * static_cast<double>(node.total);
  size_t n_left = 0;
  for (size_t at = 0; at + 1 < order.size(); ++at) {
    for (size_t e = codes.starts[order[at]]; e < codes.starts[order[at] + 1]; ++e) sides.move(entries[e]);
    if (!sides.enough(min_leaf)) continue;
    const double cost = sides.cost();
    if (cost >= least - same) continue;
    least = cost;
    n_left = at + 1;
    best_left = sides.left_weight();
  }
  if (n_left == 0) return best;
  best.gain = node_cost - least;
  best.info = score.log_term(node.total) - score.log_term(best_left) - score.log_term(node.total - best_left);
  best.low = best.high = kSubset;
  auto& on_left = scratch.on_left;
  on_left.assign(codes.size(), 0);
  for (size_t at = 0; at < n_left; ++at) on_left[order[at]] = 1;
  best.sides.reserve(codes.size());
  for (size_t i = 0; i < codes.size(); ++i)
    best.sides.push_back(static_cast<int32_t>(2 * entries[codes.starts[i]].code + (on_left[i] != on_left[0])));
  return best;
}

#define CW_INSTANTIATE(Score, Count) \
  template ColumnSplit subset_split(const Score<Count>&, const NodeRows<Count>&, double, double, ColumnScratch<Count>&);
CW_INSTANTIATE(EntropyScore, uint32_t)
CW_INSTANTIATE(EntropyScore, double)
CW_INSTANTIATE(GiniScore, uint32_t)
CW_INSTANTIATE(GiniScore, double)
#undef CW_INSTANTIATE

}  // namespace countwise
