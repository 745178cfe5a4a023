#include "grow.hpp"

#include <memory>
#include <numeric>

#include "grow_choice.hpp"
#include "grow_node.hpp"
#include "grow_shared.hpp"
#include "grow_threshold.hpp"
#include "random.hpp"

namespace countwise {
namespace {

constexpr size_t kThreadedValues = size_t{1} << 18;  // rows x columns of a node that are worth several threads
constexpr size_t kTaskRows = 8192;                   // rows of small nodes that one task takes together

template <class Score, class Count, class Part>
class Grower {
 public:
  Grower(const GrowRows& rows, const GrowOptions& options, std::vector<Count> weights, double total)
      : table_(rows), options_(options), score_(total, rows.n_rows), part_(rows, std::move(weights)) {}

  GrownTree grow() {
    auto all = std::make_shared<std::vector<uint32_t>>();
    for (uint32_t c = 0; c < table_.columns.size(); ++c)
      if (table_.columns[c].arity > 1) all->push_back(c);
    std::vector<Pending> level(1);
    level[0].node = part_.whole();
    level[0].columns = all;
    tree_.cell_ptr = {0};
    tree_.level_ptr = {0};
    append(level[0].node, -1, -1);
    tree_.level_ptr.push_back(1);
    for (uint32_t depth = 0; !level.empty() && depth < options_.max_depth; ++depth) level = next_level(level);
    tree_.side_ptr.assign(n_sides_.size() + 1, 0);
    for (size_t i = 0; i < n_sides_.size(); ++i) tree_.side_ptr[i + 1] = tree_.side_ptr[i] + n_sides_[i];
    return std::move(tree_);
  }

 private:
  using Columns = std::shared_ptr<const std::vector<uint32_t>>;
  struct Pending {
    NodePart<Count> node;
    Columns columns;  // that may differ from row to row
  };
  struct Split {
    int32_t column = -1;
    int32_t low = -1, high = -1;
    std::vector<int32_t> sides;
    Columns columns;
    std::vector<NodePart<Count>> children;
  };

  std::vector<Pending> next_level(const std::vector<Pending>& level) {
    const int64_t first = tree_.level_ptr[tree_.level_ptr.size() - 2];
    std::vector<Split> splits(level.size());
    for_each_node(level, [&](size_t i, NodeScratch<Count>& scratch, int threads) {
      splits[i] = choose(level[i], static_cast<uint64_t>(first) + i, scratch, threads);
      if (splits[i].column < 0) return;
      splits[i].children = part_.divide(level[i].node, splits[i].column, splits[i].low, splits[i].sides, scratch);
    });
    std::vector<Pending> below;
    for (size_t i = 0; i < level.size(); ++i) {
      const size_t node = static_cast<size_t>(first) + i;
      Split& split = splits[i];
      if (split.column < 0) continue;
      tree_.column[node] = split.column;
      tree_.low[node] = split.low;
      tree_.high[node] = split.high;
      tree_.sides.insert(tree_.sides.end(), split.sides.begin(), split.sides.end());
      n_sides_[node] = static_cast<int64_t>(split.sides.size());
      for (auto& child : split.children) {
        append(child, static_cast<int32_t>(node), child.branch);
        below.push_back({std::move(child), split.columns});
      }
    }
    if (!below.empty()) tree_.level_ptr.push_back(static_cast<int64_t>(tree_.parent.size()));
    return below;
  }

  // Large nodes one after the other, each on all threads; the small ones in tasks of about as many rows.
  template <class F>
  void for_each_node(const std::vector<Pending>& level, F&& f) {
    std::vector<size_t> begins;
    size_t held = kTaskRows;
    NodeScratch<Count> scratch;
    std::vector<size_t> small;
    for (size_t i = 0; i < level.size(); ++i) {
      const size_t n_rows = level[i].node.n_rows();
      if (n_rows * level[i].columns->size() >= kThreadedValues) {
        f(i, scratch, options_.n_threads);
        continue;
      }
      if (held >= kTaskRows) {
        begins.push_back(small.size());
        held = 0;
      }
      small.push_back(i);
      held += n_rows;
    }
    begins.push_back(small.size());
    if (options_.n_threads <= 1) {
      for (const size_t i : small) f(i, scratch, 1);
      return;
    }
    parallel_for(begins.size() - 1, options_.n_threads, [&](size_t task) {
      NodeScratch<Count> own;
      for (size_t s = begins[task]; s < begins[task + 1]; ++s) f(small[s], own, 1);
    });
  }

  Split choose(const Pending& pending, uint64_t node, NodeScratch<Count>& scratch, int threads) {
    const NodePart<Count>& own = pending.node;
    Split split;
    if (own.values.size() < 2 || static_cast<double>(own.total) < 2 * options_.min_leaf) return split;
    const NodeRows<Count> rows = part_.rows_of(own, scratch);
    typename Score::Sum terms = 0;
    for (const Count count : own.counts) terms += score_.term(count);
    const double cost = score_.cost(terms, own.total);
    const auto& columns = *pending.columns;
    std::vector<ColumnSplit> found(columns.size());
    const auto look = [&](size_t at, ColumnScratch<Count>& buffers) {
      const uint32_t c = columns[at], n_values = table_.n_values[c];
      list_entries(table_.columns[c], rows, buffers);
      if (table_.n_known.empty())
        found[at] = column_split(score_, rows, cost, n_values, options_.min_leaf, options_.subsets, buffers);
      else
        found[at] = known_split(score_, rows, {n_values, table_.n_known[c]}, options_, buffers);
    };
    if (options_.max_features < columns.size())
      look_at_some(look, found, node, scratch.column);
    else if (threads > 1)
      parallel_for(columns.size(), threads, [&](size_t at) {
        ColumnScratch<Count> buffers;
        look(at, buffers);
      });
    else
      for (size_t at = 0; at < columns.size(); ++at) look(at, scratch.column);
    const int best = best_column(found, options_.criterion, static_cast<double>(own.total));
    if (best < 0) return split;
    split.column = static_cast<int32_t>(columns[best]);
    split.low = found[best].low;
    split.high = found[best].high;
    split.sides = std::move(found[best].sides);
    if constexpr (std::is_same_v<Score, EntropyScore<Count>>) {  // others tell nothing of likelihood
      if (const uint32_t n_values = table_.n_values[split.column]; options_.soft && n_values) {
        auto& buffers = scratch.column;
        list_entries(table_.columns[split.column], rows, buffers);
        split.sides = likely_thresholds(score_, rows.n_classes, n_values, options_.min_leaf, split.low, buffers);
      }
    }
    split.columns = without_constants(pending.columns, found);
    return split;
  }

  // In random order until enough columns that vary were seen, and one that can be split by.
  template <class Look>
  void look_at_some(Look&& look, std::vector<ColumnSplit>& found, uint64_t node, ColumnScratch<Count>& buffers) {
    uint64_t state = options_.seed ^ (node * 0x9e3779b97f4a7c15ull);
    Random random(splitmix64(state));
    std::vector<uint32_t> order(found.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    uint32_t n_seen = 0;
    bool any = false;
    for (size_t i = 0; i < order.size() && (n_seen < options_.max_features || !any); ++i) {
      std::swap(order[i], order[i + random.below(static_cast<uint32_t>(order.size() - i))]);
      const ColumnSplit& own = found[order[i]];
      look(order[i], buffers);
      n_seen += own.n_codes > 1;
      any |= own.gain > 0;
    }
  }

  // A column of one code here has one below.
  static Columns without_constants(const Columns& columns, const std::vector<ColumnSplit>& found) {
    size_t n_constant = 0;
    for (const auto& own : found) n_constant += own.n_codes == 1;
    if (n_constant == 0) return columns;
    auto left = std::make_shared<std::vector<uint32_t>>();
    left->reserve(found.size() - n_constant);
    for (size_t i = 0; i < found.size(); ++i)
      if (found[i].n_codes != 1) left->push_back((*columns)[i]);
    return left;
  }

  void append(const NodePart<Count>& node, int32_t parent, int32_t branch) {
    tree_.parent.push_back(parent);
    tree_.branch.push_back(branch);
    tree_.column.push_back(-1);
    tree_.low.push_back(-1);
    tree_.high.push_back(-1);
    n_sides_.push_back(0);
    for (size_t c = 0; c < node.values.size(); ++c) {
      tree_.cell_value.push_back(static_cast<int32_t>(node.values[c]));
      tree_.cell_count.push_back(static_cast<double>(node.counts[c]));
    }
    tree_.cell_ptr.push_back(static_cast<int64_t>(tree_.cell_value.size()));
  }

  const GrowRows& table_;
  const GrowOptions& options_;
  Score score_;
  Part part_;
  GrownTree tree_;
  std::vector<int64_t> n_sides_;  // of every node; nodes are split in their order
};

template <class Count, class Part = Partition<Count>>
GrownTree grow_with(const GrowRows& rows, const GrowOptions& options, std::vector<Count> weights, double total) {
  if (options.criterion == GrowCriterion::kGini)
    return Grower<GiniScore<Count>, Count, Part>(rows, options, std::move(weights), total).grow();
  return Grower<EntropyScore<Count>, Count, Part>(rows, options, std::move(weights), total).grow();
}

}  // namespace

GrownTree grow_tree(const GrowRows& rows, const GrowOptions& options) {
  if (!rows.n_known.empty()) {
    std::vector<double> weights(rows.n_rows, 1.0);
    if (rows.weights) weights.assign(rows.weights, rows.weights + rows.n_rows);
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    GrowOptions near = options;
    near.min_leaf *= 1 - kSameGain;  // shares of rows that add up to it may fall short by rounding
    return grow_with<double, SharedPartition>(rows, near, std::move(weights), total);
  }
  if (!rows.weights) return grow_with(rows, options, std::vector<uint32_t>(), static_cast<double>(rows.n_rows));
  double total = 0;
  bool whole = true;
  for (size_t i = 0; i < rows.n_rows; ++i) {
    total += rows.weights[i];
    whole &= rows.weights[i] == std::floor(rows.weights[i]);
  }
  const double* begin = rows.weights;
  if (whole && total < 0x1p31)
    return grow_with(rows, options, std::vector<uint32_t>(begin, begin + rows.n_rows), total);
  return grow_with(rows, options, std::vector<double>(begin, begin + rows.n_rows), total);
}

}  // namespace countwise
