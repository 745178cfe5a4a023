// The rows of a growing tree, each node's side by side, and how a node's rows are divided among its children.
#pragma once

#include <algorithm>
#include <utility>

#include "grow_column.hpp"

namespace countwise {

// A row of a node that has a part of its weight.
struct SharedRow {
  uint32_t row, cls;
  double weight;
};

// One node: its rows are begin .. end of the partition, or its own; its classes, ascending, and their weights.
template <class Count>
struct NodePart {
  size_t begin = 0, end = 0;
  std::vector<SharedRow> own;
  size_t n_rows() const { return end - begin + own.size(); }
  int32_t branch = -1;
  std::vector<uint32_t> values;
  std::vector<Count> counts;
  Count total = 0;
};

template <class Count>
struct NodeScratch {
  ColumnScratch<Count> column;
  std::vector<uint32_t> classes, branch, rows, place;
  std::vector<Count> weights, counts;
};

// Which branch a code takes.
class Branching {
 public:
  Branching(const GrowRows& table, int32_t column, int32_t low, const std::vector<int32_t>& sides)
      : n_values_(table.n_values[column]),
        low_(static_cast<uint32_t>(low)),
        n_branches_(n_values_       ? 3
                    : sides.empty() ? table.columns[column].arity
                                    : 2) {
    if (n_values_ || sides.empty()) return;
    side_.resize(table.columns[column].arity);
    for (const int32_t side : sides) side_[side >> 1] = side & 1;
  }

  uint32_t n_branches() const { return n_branches_; }
  CW_INLINE uint32_t operator()(uint32_t code) const {
    if (n_values_) return code >= n_values_ ? 2 : code > low_;
    return side_.empty() ? code : side_[code];
  }

 private:
  uint32_t n_values_, low_;
  std::vector<uint8_t> side_;
  uint32_t n_branches_;
};

template <class Count>
class Partition {
 public:
  // Weights may be empty: 1 each.
  Partition(const GrowRows& table, std::vector<Count> weights)
      : table_(table), weights_(std::move(weights)), rows_(table.n_rows), classes_(table.n_rows) {
    for (size_t i = 0; i < table.n_rows; ++i) {
      rows_[i] = static_cast<uint32_t>(i);
      classes_[i] = code_at(table.target, i);
    }
  }

  NodePart<Count> whole() const {
    NodeScratch<Count> scratch;
    NodePart<Count> all;
    all.end = rows_.size();
    count_classes(all, scratch);
    return all;
  }

  // The node as its columns are looked at; classes are numbered among those that it has.
  NodeRows<Count> rows_of(const NodePart<Count>& node, NodeScratch<Count>& scratch) const {
    const size_t n_rows = node.end - node.begin;
    scratch.classes.resize(n_rows);
    scratch.place.resize(table_.n_classes);
    for (uint32_t c = 0; c < node.values.size(); ++c) scratch.place[node.values[c]] = c;
    for (size_t i = 0; i < n_rows; ++i) scratch.classes[i] = scratch.place[classes_[node.begin + i]];
    return {rows_.data() + node.begin,
            scratch.classes.data(),
            weights_.empty() ? nullptr : weights_.data() + node.begin,
            n_rows,
            static_cast<uint32_t>(node.values.size()),
            node.counts.data(),
            node.total};
  }

  // The rows of a node put in the order of its children, each child's in their old order. Nodes that do not overlap may
  // be divided at the same time.
  std::vector<NodePart<Count>> divide(const NodePart<Count>& node, int32_t column, int32_t low,
                                      const std::vector<int32_t>& sides, NodeScratch<Count>& scratch) {
    auto children = name_branches(node, column, low, sides, scratch);
    const size_t n_rows = node.end - node.begin;
    std::vector<size_t> next;
    for (const auto& child : children) next.push_back(child.begin - node.begin);
    scratch.rows.resize(n_rows);
    scratch.classes.resize(n_rows);
    scratch.weights.resize(weights_.empty() ? 0 : n_rows);
    for (size_t i = 0; i < n_rows; ++i) {
      const size_t to = next[scratch.branch[i]]++;
      scratch.rows[to] = rows_[node.begin + i];
      scratch.classes[to] = classes_[node.begin + i];
      if (!weights_.empty()) scratch.weights[to] = weights_[node.begin + i];
    }
    std::copy(scratch.rows.begin(), scratch.rows.end(), rows_.begin() + node.begin);
    std::copy(scratch.classes.begin(), scratch.classes.end(), classes_.begin() + node.begin);
    std::copy(scratch.weights.begin(), scratch.weights.end(), weights_.begin() + (weights_.empty() ? 0 : node.begin));
    for (auto& child : children) count_classes(child, scratch);
    return children;
  }

 private:
  // Children with their branches and places; scratch.branch[i] becomes the child of row i.
  std::vector<NodePart<Count>> name_branches(const NodePart<Count>& node, int32_t of_column, int32_t low,
                                             const std::vector<int32_t>& sides, NodeScratch<Count>& scratch) const {
    const Column& column = table_.columns[of_column];
    const Branching branch_of(table_, of_column, low, sides);
    const size_t n_rows = node.end - node.begin;
    scratch.branch.resize(n_rows);
    with_width(column, [&](auto* tag) {
      using Code = std::remove_const_t<std::remove_pointer_t<decltype(tag)>>;
      const Code* codes = codes_of<Code>(column);
      for (size_t i = 0; i < n_rows; ++i) {
        scratch.branch[i] = branch_of(codes[rows_[node.begin + i]]);
      }
    });
    const uint32_t n_branches = branch_of.n_branches();
    std::vector<uint32_t> present;
    scratch.place.assign(std::max(n_branches, table_.n_classes), 0);
    for (size_t i = 0; i < n_rows; ++i)
      if (scratch.place[scratch.branch[i]]++ == 0) present.push_back(scratch.branch[i]);
    std::sort(present.begin(), present.end());
    std::vector<NodePart<Count>> children(present.size());
    size_t begin = node.begin;
    for (uint32_t c = 0; c < present.size(); ++c) {
      children[c].branch = static_cast<int32_t>(present[c]);
      children[c].begin = begin;
      children[c].end = begin += scratch.place[present[c]];
      scratch.place[present[c]] = c;
    }
    for (size_t i = 0; i < n_rows; ++i) scratch.branch[i] = scratch.place[scratch.branch[i]];
    return children;
  }

  void count_classes(NodePart<Count>& node, NodeScratch<Count>& scratch) const {
    auto& counts = scratch.counts;  // zero between calls
    counts.resize(table_.n_classes);
    for (size_t i = node.begin; i < node.end; ++i) {
      Count& count = counts[classes_[i]];
      if (count == Count{0}) node.values.push_back(classes_[i]);
      count += weights_.empty() ? Count{1} : weights_[i];
    }
    std::sort(node.values.begin(), node.values.end());
    for (const uint32_t value : node.values) {
      node.counts.push_back(counts[value]);
      node.total += counts[value];
      counts[value] = 0;
    }
  }

  const GrowRows& table_;
  std::vector<Count> weights_;
  std::vector<uint32_t> rows_, classes_;
};

}  // namespace countwise
