// What a grown tree says about the classes of some of the rows that it counts, each left out along its own path.
#pragma once

#include "count_tree.hpp"

namespace countwise {

// A tree of classes with the counts of an HDP (rows at the leaves, tables above) and the concentration of every node as
// fitted; `factor` multiplies those of all nodes but the root.
struct TreeHdp {
  const CountTreeView& tree;
  const double* counts;  // [cell]
  Strength strength;
  double root_concentration;
};

// The node that answers for each row, its class, and what of it the node has counted (0: nothing).
struct LeavingRows {
  const int32_t* node;
  Column target;
  const double* left;
  size_t n_rows;
};

// out[row * classes + y] = log P(y | node of the row) without the row. What leaves a cell takes tables from the cell
// above: see left_out.hpp. A node that holds no other row is gone, and the node above it answers.
void left_out_log_proba(const TreeHdp& hdp, double factor, const LeavingRows& rows, int n_threads, double* out);

}  // namespace countwise
