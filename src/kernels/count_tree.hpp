// A count tree as smoothers see it: counts of one target at every node, not how a row gets there.
#pragma once

#include "common.hpp"

namespace countwise {

// Level-ordered: parent[0] == -1, siblings are adjacent, and every cell of a node has one of the same value in the
// node's parent. An inner node's counts are the sums of its children's; leaves may stand at any level.
struct CountTreeView {
  const int32_t* parent;
  const int64_t* level_ptr;  // level d is nodes level_ptr[d] .. level_ptr[d + 1]
  const int64_t* cell_ptr;   // the cells of node i are cell_ptr[i] .. cell_ptr[i + 1]
  const int32_t* cell_value;
  const double* cell_count;
  size_t n_nodes, n_levels, arity;

  size_t n_cells() const { return static_cast<size_t>(cell_ptr[n_nodes]); }
};

// out[cell] = the cell of the same value in the parent node; -1 at the root, or where the parent has none.
void link_cells(const CountTreeView& tree, int32_t* out);

// Where shrink() writes: per cell the probability; per node the factor on the parent's probability for a value
// without a cell, and the weight of a Dirichlet distribution that is as uncertain as the estimate.
struct ShrunkOut {
  double* cell_proba;
  double* absent;
  double* precision;
};

// A number for every node, or for every group of nodes where `group` is given.
struct Strength {
  const double* value;
  const int32_t* group;
  double of(size_t node) const { return value[group ? static_cast<size_t>(group[node]) : node]; }
};

// Each node's `counts` (per cell) pulled to its parent's estimate with a_j = strength.of(j) pseudo-counts:
// p_j = (n_j + a_j p_parent) / (N_j + a_j), the root to the uniform distribution. out.cell_proba may be `counts`.
void shrink(const CountTreeView& tree, const double* counts, const Strength& strength, const ShrunkOut& out);

}  // namespace countwise
