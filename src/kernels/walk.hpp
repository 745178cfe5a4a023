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
  const int64_t* side_ptr;  // the same; not read where no node has kSubset
  const int32_t* sides;
  const std::vector<uint32_t>& n_values;  // of each column: see GrowRows
};

// out[row] = the deepest node that the row reaches: where there is no branch for its code it stays.
void reach_nodes(const std::vector<Column>& columns, const SplitView& splits, size_t n_rows, int n_threads,
                 int32_t* out);

// The nodes of each row and its shares in them, row_ptr[row] .. row_ptr[row + 1]: where a code is not below
// n_known of its column, a row takes all branches, in proportion to `total` of their nodes.
struct SpreadRows {
  std::vector<int64_t> row_ptr;
  std::vector<int32_t> node;
  std::vector<double> share;
};
SpreadRows spread_rows(const std::vector<Column>& columns, const SplitView& splits,
                       const std::vector<uint32_t>& n_known, const double* total, size_t n_rows);

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
