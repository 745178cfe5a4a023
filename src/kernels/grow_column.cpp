#include "grow_column.hpp"

namespace countwise {
namespace {

constexpr size_t kTablePerRow = 8;  // counters per row up to which counting beats sorting
constexpr size_t kLanes = 4;
constexpr size_t kLaneCounters = 64;   // of larger tables neighbours are seldom the same counter
constexpr size_t kInsertionRows = 24;  // fewer are sorted by insertion,
constexpr size_t kRadixRows = 160;     // more by their digits

// Codes with their positions in the node, ascending; equal codes keep the order of the rows.
void sort_keys(std::vector<uint64_t>& keys, std::vector<uint64_t>& other, uint32_t arity) {
  const size_t n = keys.size();
  if (n <= kInsertionRows) {
    for (size_t i = 1; i < n; ++i) {
      const uint64_t key = keys[i];
      size_t j = i;
      for (; j > 0 && keys[j - 1] > key; --j) keys[j] = keys[j - 1];
      keys[j] = key;
    }
    return;
  }
  if (n <= kRadixRows) {
    std::sort(keys.begin(), keys.end());
    return;
  }
  other.resize(n);
  for (int shift = 32; shift < 64 && (static_cast<uint64_t>(arity) >> (shift - 32)) > 0; shift += 8) {
    uint32_t first[257] = {};
    for (const uint64_t key : keys) ++first[((key >> shift) & 255) + 1];
    for (size_t d = 0; d < 256; ++d) first[d + 1] += first[d];
    for (const uint64_t key : keys) other[first[(key >> shift) & 255]++] = key;
    keys.swap(other);
  }
}

// Rows of few codes hit the same counter again and again, and each increment would wait for the one before. So they
// take turns with kLanes tables, which are added up; real weights have one, for sums in the order of the rows.
template <class Code, class Count>
void count_codes(const Code* codes, const NodeRows<Count>& node, size_t n_counters, Count* table) {
  const size_t k = node.n_classes, n_rows = node.n_rows;
  if (node.weights) {
    for (size_t i = 0; i < n_rows; ++i) table[codes[node.rows[i]] * k + node.classes[i]] += node.weights[i];
    return;
  }
  size_t i = 0;
  if (n_counters <= kLaneCounters) {
    for (; i + kLanes <= n_rows; i += kLanes)
      for (size_t lane = 0; lane < kLanes; ++lane)
        ++table[lane * n_counters + codes[node.rows[i + lane]] * k + node.classes[i + lane]];
    for (size_t lane = 1; lane < kLanes; ++lane)
      for (size_t c = 0; c < n_counters; ++c) table[c] += table[lane * n_counters + c];
  }
  for (; i < n_rows; ++i) ++table[codes[node.rows[i]] * k + node.classes[i]];
}

}  // namespace

template <class Count>
void list_entries(const Column& column, const NodeRows<Count>& node, ColumnScratch<Count>& scratch) {
  const size_t k = node.n_classes, n_counters = static_cast<size_t>(column.arity) * k;
  auto& entries = scratch.entries;
  if (n_counters <= kTablePerRow * node.n_rows) {
    scratch.table.assign(n_counters <= kLaneCounters ? n_counters * kLanes : n_counters, Count{0});
    with_width(column, [&](auto* tag) {
      using Code = std::remove_const_t<std::remove_pointer_t<decltype(tag)>>;
      count_codes(codes_of<Code>(column), node, n_counters, scratch.table.data());
    });
    entries.resize(std::min(n_counters, node.n_rows));
    size_t n = 0;
    const Count* count = scratch.table.data();
    for (uint32_t code = 0; code < column.arity; ++code)
      for (uint32_t c = 0; c < k; ++c, ++count)
        if (*count != Count{0}) entries[n++] = {code, c, *count};
    entries.resize(n);
    return;
  }
  auto& keys = scratch.keys;
  keys.resize(node.n_rows);
  with_width(column, [&](auto* tag) {
    using Code = std::remove_const_t<std::remove_pointer_t<decltype(tag)>>;
    const Code* codes = codes_of<Code>(column);
    for (size_t i = 0; i < node.n_rows; ++i) keys[i] = static_cast<uint64_t>(codes[node.rows[i]]) << 32 | i;
  });
  sort_keys(keys, scratch.sorted, column.arity);
  entries.resize(node.n_rows);
  for (size_t i = 0; i < node.n_rows; ++i) {
    const auto at = static_cast<uint32_t>(keys[i]);
    entries[i] = {static_cast<uint32_t>(keys[i] >> 32), node.classes[at], node.weight(at)};
  }
}

template <class Score, class Count>
ColumnSplit number_split(const Score& score, const NodeRows<Count>& node, double node_cost, uint32_t n_values,
                         double min_leaf, ColumnScratch<Count>& scratch) {
  using Sum = typename Score::Sum;
  const auto& entries = scratch.entries;
  auto &known = scratch.counts, &gaps = scratch.left;
  size_t end = entries.size();
  ColumnSplit best;
  gaps.assign(node.n_classes, Count{0});
  known.assign(node.class_counts, node.class_counts + node.n_classes);
  Count missing = 0;
  for (; end > 0 && entries[end - 1].code >= n_values; --end) {
    gaps[entries[end - 1].cls] += entries[end - 1].weight;
    missing += entries[end - 1].weight;
  }
  double missing_cost = 0;
  if (end < entries.size()) {
    Sum terms = 0;
    for (uint32_t c = 0; c < node.n_classes; ++c) {
      terms += score.term(gaps[c]);
      known[c] -= gaps[c];
    }
    missing_cost = score.cost(terms, missing);
    best.n_codes = 1;
  }
  TwoSides<Score, Count> sides(score, known, scratch.left, scratch.right);
  const double same = kSameGain * static_cast<double>(node.total);
  double least = node_cost - missing_cost;  // what both sides cost together must be less
  Count best_left = 0;
  uint32_t n_known = 0;
  for (size_t i = 0; i < end;) {
    const uint32_t code = entries[i].code;
    for (; i < end && entries[i].code == code; ++i) sides.move(entries[i]);
    ++n_known;
    if (i == end || !sides.enough(min_leaf)) continue;
    const double cost = sides.cost();
    if (cost < least - same) {
      least = cost;
      best.low = static_cast<int32_t>(code);
      best.high = static_cast<int32_t>(entries[i].code) - 1;
      best_left = sides.left_weight();
      best.gain = node_cost - missing_cost - cost;
    }
  }
  best.n_codes += n_known;
  best.choice_bits = std::log2(std::max(n_known - 1.0, 1.0));
  if (best.gain > 0) {
    const Count rest = node.total - missing - best_left;
    best.info = score.log_term(node.total) - score.log_term(missing) - score.log_term(best_left) - score.log_term(rest);
  }
  return best;
}

template <class Score, class Count>
ColumnSplit category_split(const Score& score, const NodeRows<Count>& node, double node_cost, double min_leaf,
                           ColumnScratch<Count>& scratch) {
  using Sum = typename Score::Sum;
  const auto& entries = scratch.entries;
  auto& counts = scratch.left;
  auto& touched = scratch.touched;
  counts.assign(node.n_classes, Count{0});
  ColumnSplit split;
  double branches = 0, info = score.log_term(node.total);
  uint32_t n_large = 0;
  for (size_t i = 0; i < entries.size();) {
    const uint32_t code = entries[i].code;
    Count weight = 0;
    touched.clear();
    for (; i < entries.size() && entries[i].code == code; ++i) {
      Count& count = counts[entries[i].cls];
      if (count == Count{0}) touched.push_back(entries[i].cls);
      count += entries[i].weight;
      weight += entries[i].weight;
    }
    Sum terms = 0;
    for (const uint32_t c : touched) {
      terms += score.term(counts[c]);
      counts[c] = 0;
    }
    branches += score.cost(terms, weight);
    info -= score.log_term(weight);
    n_large += static_cast<double>(weight) >= min_leaf;
    ++split.n_codes;
  }
  const double gain = node_cost - branches;
  if (split.n_codes >= 2 && n_large >= 2 && gain > kSameGain * static_cast<double>(node.total)) {
    split.gain = gain;
    split.info = info;
  }
  return split;
}

#define CW_INSTANTIATE(Score, Count)                                                                       \
  template ColumnSplit number_split(const Score<Count>&, const NodeRows<Count>&, double, uint32_t, double, \
                                    ColumnScratch<Count>&);                                                \
  template ColumnSplit category_split(const Score<Count>&, const NodeRows<Count>&, double, double,         \
                                      ColumnScratch<Count>&);
CW_INSTANTIATE(EntropyScore, uint32_t)
CW_INSTANTIATE(EntropyScore, double)
CW_INSTANTIATE(GiniScore, uint32_t)
CW_INSTANTIATE(GiniScore, double)
#undef CW_INSTANTIATE
template void list_entries(const Column&, const NodeRows<uint32_t>&, ColumnScratch<uint32_t>&);
template void list_entries(const Column&, const NodeRows<double>&, ColumnScratch<double>&);

}  // namespace countwise
