// Rows whose value of a split is missing take all of its branches, each with its share of their weight: C4.5.
#pragma once

#include "grow_node.hpp"

namespace countwise {

// As Partition, but every node has its rows for itself: a row may be in many.
class SharedPartition {
 public:
  SharedPartition(const GrowRows& table, std::vector<double> weights) : table_(table), weights_(std::move(weights)) {}

  NodePart<double> whole() const {
    NodePart<double> all;
    for (size_t i = 0; i < table_.n_rows; ++i)
      all.own.push_back({static_cast<uint32_t>(i), code_at(table_.target, i), weights_[i]});
    count_classes(all);
    return all;
  }

  NodeRows<double> rows_of(const NodePart<double>& node, NodeScratch<double>& scratch) const {
    const size_t n_rows = node.own.size();
    scratch.rows.resize(n_rows);
    scratch.classes.resize(n_rows);
    scratch.weights.resize(n_rows);
    scratch.place.resize(table_.n_classes);
    for (uint32_t c = 0; c < node.values.size(); ++c) scratch.place[node.values[c]] = c;
    for (size_t i = 0; i < n_rows; ++i) {
      scratch.rows[i] = node.own[i].row;
      scratch.classes[i] = scratch.place[node.own[i].cls];
      scratch.weights[i] = node.own[i].weight;
    }
    return {scratch.rows.data(),
            scratch.classes.data(),
            scratch.weights.data(),
            n_rows,
            static_cast<uint32_t>(node.values.size()),
            node.counts.data(),
            node.total};
  }

  // A branch's share is that of the rows whose value is known.
  std::vector<NodePart<double>> divide(const NodePart<double>& node, int32_t column, int32_t low,
                                       const std::vector<int32_t>& sides, NodeScratch<double>&) const {
    const Branching branch_of(table_, column, low, sides);
    const Column& codes = table_.columns[column];
    std::vector<double> share(branch_of.n_branches(), 0.0);
    double known = 0;
    for (const SharedRow& row : node.own) {
      const uint32_t code = code_at(codes, row.row);
      if (code >= table_.n_known[column]) continue;
      share[branch_of(code)] += row.weight;
      known += row.weight;
    }
    std::vector<NodePart<double>> children;
    std::vector<size_t> place(share.size());
    for (uint32_t branch = 0; branch < share.size(); ++branch) {
      if (share[branch] <= 0) continue;
      place[branch] = children.size();
      children.emplace_back();
      children.back().branch = static_cast<int32_t>(branch);
    }
    for (const SharedRow& row : node.own) {
      const uint32_t code = code_at(codes, row.row);
      if (code < table_.n_known[column]) {
        children[place[branch_of(code)]].own.push_back(row);
        continue;
      }
      for (auto& child : children)
        child.own.push_back({row.row, row.cls, row.weight * share[static_cast<size_t>(child.branch)] / known});
    }
    for (auto& child : children) count_classes(child);
    return children;
  }

 private:
  void count_classes(NodePart<double>& node) const {
    std::vector<double> counts(table_.n_classes, 0.0);
    for (const SharedRow& row : node.own) counts[row.cls] += row.weight;
    for (uint32_t value = 0; value < table_.n_classes; ++value) {
      if (counts[value] <= 0) continue;
      node.values.push_back(value);
      node.counts.push_back(counts[value]);
      node.total += counts[value];
    }
  }

  const GrowRows& table_;
  std::vector<double> weights_;
};

struct KnownColumn {
  uint32_t n_values, n_known;
};

// The best split of the rows whose value is known: their gain; missing is one more branch of the split's information.
template <class Score, class Count>
ColumnSplit known_split(const Score& score, const NodeRows<Count>& node, const KnownColumn& column,
                        const GrowOptions& options, ColumnScratch<Count>& scratch) {
  std::vector<Count> counts(node.n_classes, Count{0});
  Count total = 0;
  auto& entries = scratch.entries;
  size_t kept = 0;
  for (const auto& entry : entries) {
    if (entry.code >= column.n_known) continue;
    counts[entry.cls] += entry.weight;
    total += entry.weight;
    entries[kept++] = entry;
  }
  const bool any_missing = kept < entries.size();
  entries.resize(kept);
  ColumnSplit split;
  split.n_codes = 1;
  if (kept == 0) return split;
  NodeRows<Count> known = node;
  known.class_counts = counts.data();
  known.total = total;
  typename Score::Sum terms = 0;
  for (const Count count : counts) terms += score.term(count);
  split =
      column_split(score, known, score.cost(terms, total), column.n_values, options.min_leaf, options.subsets, scratch);
  if (split.gain > 0 && any_missing)
    split.info += score.log_term(node.total) - score.log_term(total) - score.log_term(node.total - total);
  return split;
}

}  // namespace countwise
