// Rows of codes to the nodes of a grown tree, and the probabilities of nodes.
#pragma once

#include "count_tree.hpp"

namespace countwise {

// How a row goes on from a node: the columns of GrownTree, thresholds between codes (-1 for a category), and for each
// node where its children begin; those of a node are first_child[node] .. first_child[node + 1].
struct SplitView {
  const int32_t* column;
  const int32_t* threshold;
  const int32_t* branch;
  const int64_t* first_child;
  const std::vector<uint32_t>& n_values;  // of each column: see GrowRows
};

// out[row] = the deepest node that the row reaches: where there is no branch for its code it stays.
void reach_nodes(const std::vector<Column>& columns, const SplitView& splits, size_t n_rows, int n_threads,
                 int32_t* out);

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
