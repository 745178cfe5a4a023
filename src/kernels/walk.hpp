// Rows of codes to the nodes of a grown tree, and the probabilities of nodes.
#pragma once

#include "count_tree.hpp"
#include "grow.hpp"

namespace countwise {

// One node of the walk: the column that it splits on (-1 in a leaf), the threshold between codes (-1 for a category,
// kSubset for one in two sets),
// and its children, n_children from first_child on; negative where they have to be searched: else child i has branch i.
struct WalkNode {
  int32_t column, threshold, first_child, n_children;
};

struct SplitView {
  const WalkNode* nodes;
  const int32_t* branch;    // of every node: see GrownTree
  const int64_t* side_ptr;  // the same, but of a number one code for each threshold: up to it branch 0
  const int32_t* sides;
  const uint64_t* masks;  // of a category in two sets whose codes are below 64, by node: which are met, which go to 1
  const std::vector<uint32_t>& n_values;  // of each column: see GrowRows
};

// out[row] = the deepest node that the row reaches: where there is no branch for its code it stays.
void reach_nodes(const std::vector<Column>& columns, const SplitView& splits, size_t n_rows, int n_threads,
                 int32_t* out);

// When a row takes several branches. Where its code is not below n_known of the column (unless that is empty) it takes
// all of them, in proportion to `total` of their nodes. With `soft`, and a number whose node has likely thresholds in
// its sides, it takes both branches, in proportion to the thresholds below and above its code; a share that would
// come to less than kLeastShare goes with the greater one, so that a row has some hundred nodes at most.
struct Spreading {
  const std::vector<uint32_t>& n_known;
  const double* total;
  bool soft;
};
constexpr double kLeastShare = 1.0 / 256;

// The nodes of each row and its shares in them, row_ptr[row] .. row_ptr[row + 1].
struct SpreadRows {
  std::vector<int64_t> row_ptr;
  std::vector<int32_t> node;
  std::vector<double> share;
};
SpreadRows spread_rows(const std::vector<Column>& columns, const SplitView& splits, const Spreading& spreading,
                       size_t n_rows, int n_threads);

// out[row * n_values + value] = the mean of proba[node * n_values + value] over the nodes of a row, by its shares.
void spread_proba(const std::vector<Column>& columns, const SplitView& splits, const Spreading& spreading,
                  const double* proba, size_t n_values, size_t n_rows, int n_threads, double* out);

// What a smoother says of the values at every node; see smooth/base.py. `base` may be null: even.
struct SmoothedView {
  const double* cell_proba;
  const double* absent;
  const double* base;
  bool hierarchical;
};

// out[i * arity + value] = the probability of the value at nodes[i].
void node_proba(const CountTreeView& tree, const SmoothedView& smoothed, const int32_t* nodes, size_t n_nodes,
                int n_threads, double* out);

}  // namespace countwise
