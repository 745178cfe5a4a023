// The best split of one node by one column.
#pragma once

#include "grow.hpp"
#include "grow_score.hpp"

namespace countwise {

// The rows of one node, side by side: positions in the table, classes numbered 0 .. n_classes-1 within the node.
template <class Count>
struct NodeRows {
  const uint32_t* rows;
  const uint32_t* classes;
  const Count* weights;  // null: 1 each
  size_t n_rows;
  uint32_t n_classes;
  const Count* class_counts;
  Count total;
  Count weight(size_t i) const { return weights ? weights[i] : Count{1}; }
};

struct ColumnSplit {
  double gain = 0;              // weight times what impurity falls by; 0 where no split is allowed
  double info = 0;              // weight times the entropy of the branches, in bits, for gain ratios
  int32_t low = -1, high = -1;  // see GrownTree
  uint32_t n_codes = 0;         // that occur, missing included: of 1 there is nothing to split, here or below
  double choice_bits = 0;       // log2 of the splits of the column that the node could have
  std::vector<int32_t> sides;   // of a category in two sets; see GrownTree
};

// Weight of some rows of one code and class; those of a code stand together, codes ascend.
template <class Count>
struct CodeEntry {
  uint32_t code, cls;
  Count weight;
};

// The codes that a node has of a category: entries starts[i] .. starts[i + 1], and their weight.
template <class Count>
struct NodeCodes {
  std::vector<size_t> starts;
  std::vector<Count> weight;
  size_t size() const { return weight.size(); }
};

// Memory that is used again from column to column: most nodes are small, and would spend their time on getting it.
template <class Count>
struct ColumnScratch {
  std::vector<Count> table, counts, left, right;
  std::vector<uint64_t> keys, sorted;
  std::vector<CodeEntry<Count>> entries;
  std::vector<uint32_t> touched;
  // Of subset_split.
  NodeCodes<Count> codes;
  std::vector<double> shares, direction, turned, along;
  std::vector<uint32_t> order;
  std::vector<uint8_t> on_left;
};

// The two sides of a split while rows move from the right to the left: their class counts, and what they cost.
template <class Score, class Count>
class TwoSides {
 public:
  // All rows are on the right; `left` and `right` are memory for the counts.
  TwoSides(const Score& score, const std::vector<Count>& counts, std::vector<Count>& left, std::vector<Count>& right)
      : score_(score), left_(left), right_(right) {
    left_.assign(counts.size(), Count{0});
    right_ = counts;
    for (const Count count : counts) {
      right_weight_ += count;
      right_terms_ += score.term(count);
    }
  }

  CW_INLINE void move(const CodeEntry<Count>& entry) {
    Count &l = left_[entry.cls], &r = right_[entry.cls];
    left_terms_ += score_.term(l + entry.weight) - score_.term(l);
    right_terms_ += score_.term(r - entry.weight) - score_.term(r);
    l += entry.weight;
    r -= entry.weight;
    left_weight_ += entry.weight;
    right_weight_ -= entry.weight;
  }

  Count left_weight() const { return left_weight_; }
  CW_INLINE bool enough(double min_leaf) const {
    return static_cast<double>(left_weight_) >= min_leaf && static_cast<double>(right_weight_) >= min_leaf;
  }
  CW_INLINE double cost() const {
    return score_.cost(left_terms_, left_weight_) + score_.cost(right_terms_, right_weight_);
  }

 private:
  const Score& score_;
  std::vector<Count>&left_, &right_;
  Count left_weight_ = 0, right_weight_ = 0;
  typename Score::Sum left_terms_ = 0, right_terms_ = 0;
};

template <class Count>
void list_entries(const Column& column, const NodeRows<Count>& node, ColumnScratch<Count>& scratch);

template <class Score, class Count>
ColumnSplit number_split(const Score& score, const NodeRows<Count>& node, double node_cost, uint32_t n_values,
                         double min_leaf, ColumnScratch<Count>& scratch);

// Categories in two sets. They are put in the order of their class shares, of more than two classes along the direction
// in which the shares differ most (Coppersmith, Hong and Hosking 1999), and cut where it gains most: of two classes the
// best of all subsets (Breiman et al. 1984, section 4.2). The least code is in branch 0.
template <class Score, class Count>
ColumnSplit subset_split(const Score& score, const NodeRows<Count>& node, double node_cost, double min_leaf,
                         ColumnScratch<Count>& scratch);

template <class Score, class Count>
ColumnSplit category_split(const Score& score, const NodeRows<Count>& node, double node_cost, double min_leaf,
                           ColumnScratch<Count>& scratch);

// By the kind of the column.
template <class Score, class Count>
ColumnSplit column_split(const Score& score, const NodeRows<Count>& node, double node_cost, uint32_t n_values,
                         double min_leaf, bool subsets, ColumnScratch<Count>& scratch) {
  if (n_values) return number_split(score, node, node_cost, n_values, min_leaf, scratch);
  return subsets ? subset_split(score, node, node_cost, min_leaf, scratch)
                 : category_split(score, node, node_cost, min_leaf, scratch);
}

}  // namespace countwise
