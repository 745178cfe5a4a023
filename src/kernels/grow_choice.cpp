#include "grow_choice.hpp"

#include "grow_threshold.hpp"

namespace countwise {
namespace {

template <class Count>
void entries_of(const double* table, uint32_t arity, const std::vector<uint32_t>& classes, uint32_t n_classes,
                ColumnScratch<Count>& scratch) {
  scratch.entries.clear();
  for (uint32_t code = 0; code < arity; ++code)
    for (uint32_t c = 0; c < classes.size(); ++c) {
      const auto count = static_cast<Count>(table[static_cast<size_t>(code) * n_classes + classes[c]]);
      if (count != Count{0}) scratch.entries.push_back({code, c, count});
    }
}

template <class Score, class Count>
void choose(const CountedNodes& nodes, const ChoiceOptions& options, const ChosenSplits& out) {
  const Score score(nodes.total, 0);
  parallel_for(nodes.n_nodes, options.n_threads, [&](size_t node) {
    ColumnScratch<Count> scratch;
    std::vector<double> sums(nodes.n_classes, 0.0);  // by any column: all have all rows
    const double* first = nodes.tables[0] + node * nodes.arity[0] * nodes.n_classes;
    for (size_t i = 0; i < static_cast<size_t>(nodes.arity[0]) * nodes.n_classes; ++i)
      sums[i % nodes.n_classes] += first[i];
    std::vector<uint32_t> classes;
    std::vector<Count> counts;
    NodeRows<Count> rows{};
    typename Score::Sum terms = 0;
    for (uint32_t c = 0; c < nodes.n_classes; ++c) {
      if (sums[c] <= 0) continue;
      classes.push_back(c);
      counts.push_back(static_cast<Count>(sums[c]));
      rows.total += counts.back();
      terms += score.term(counts.back());
    }
    rows.n_classes = static_cast<uint32_t>(classes.size());
    rows.class_counts = counts.data();
    const double cost = score.cost(terms, rows.total);
    std::vector<ColumnSplit> found(nodes.tables.size());
    const auto list = [&](size_t c) {
      const size_t size = static_cast<size_t>(nodes.arity[c]) * nodes.n_classes;
      entries_of(nodes.tables[c] + node * size, nodes.arity[c], classes, nodes.n_classes, scratch);
    };
    for (size_t c = 0; c < found.size(); ++c) {
      list(c);
      found[c] = column_split(score, rows, cost, nodes.n_values[c], options.min_leaf, options.subsets, scratch);
    }
    const int best = best_column(found, options.criterion, static_cast<double>(rows.total));
    out.column[node] = best;
    out.low[node] = best < 0 ? -1 : found[best].low;
    out.high[node] = best < 0 ? -1 : found[best].high;
    if (best < 0) return;
    out.sides[node] = std::move(found[best].sides);
    if constexpr (std::is_same_v<Score, EntropyScore<Count>>) {
      if (!options.soft || nodes.n_values[best] == 0) return;
      list(static_cast<size_t>(best));
      out.sides[node] =
          likely_thresholds(score, rows.n_classes, nodes.n_values[best], options.min_leaf, found[best].low, scratch);
    }
  });
}

}  // namespace

int best_column(const std::vector<ColumnSplit>& found, GrowCriterion criterion, double total) {
  const bool by_ratio = criterion == GrowCriterion::kGainRatio;
  const double same = kSameGain * total;
  std::vector<double> gains(found.size());
  double sum = 0;
  size_t n_gains = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    gains[i] = found[i].gain;
    // A threshold must pay for its choice among those of the node: Quinlan (1996), log2(thresholds) / rows. So must a
    // subset, by entropy too: of as many subsets as there can be some gain much by chance.
    const bool pays = by_ratio || (criterion == GrowCriterion::kEntropy && found[i].low == kSubset);
    if (pays && gains[i] > 0) gains[i] -= found[i].choice_bits;
    if (gains[i] <= same) continue;
    sum += gains[i];
    ++n_gains;
  }
  int best = -1;
  double best_score = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    if (gains[i] <= same || (by_ratio && gains[i] < sum / static_cast<double>(n_gains) - same)) continue;
    const double score = by_ratio ? gains[i] / found[i].info : gains[i] / total;
    if (score <= best_score + kSameGain) continue;
    best_score = score;
    best = static_cast<int>(i);
  }
  return best;
}

void choose_splits(const CountedNodes& nodes, const ChoiceOptions& options, const ChosenSplits& out) {
  const bool whole = nodes.whole && nodes.total < 0x1p31;
  if (options.criterion == GrowCriterion::kGini) {
    if (whole)
      choose<GiniScore<uint32_t>, uint32_t>(nodes, options, out);
    else
      choose<GiniScore<double>, double>(nodes, options, out);
  } else if (whole) {
    choose<EntropyScore<uint32_t>, uint32_t>(nodes, options, out);
  } else {
    choose<EntropyScore<double>, double>(nodes, options, out);
  }
}

}  // namespace countwise
