// Context trees: counts of a child variable below every observed prefix of (class, parent 1, parent 2, ...).
#pragma once

#include "common.hpp"

namespace countwise {

// Level-ordered arrays. Node 0 is the root, siblings are adjacent and sorted by branch code, and the cells of a
// node are the child values with a positive count, sorted by value. A value with a cell has one in the parent too.
struct ContextTree {
  std::vector<int32_t> parent;      // per node, -1 for the root
  std::vector<int32_t> branch;      // per node, the code of the level's variable; -1 for the root
  std::vector<int64_t> level_ptr;   // level d is nodes level_ptr[d] .. level_ptr[d + 1]
  std::vector<int64_t> cell_ptr;    // the cells of node i are cell_ptr[i] .. cell_ptr[i + 1]
  std::vector<int32_t> cell_value;  // per cell
  std::vector<double> cell_count;   // per cell
};

// What build_context_tree() and merge_context_trees() need to know of an existing tree.
struct ContextTreeView {
  const int32_t* parent;
  const int32_t* branch;
  const int64_t* level_ptr;
  const int64_t* cell_ptr;
  const int32_t* cell_value;
  const double* cell_count;
  size_t n_levels;
};

// The tree of `child` below `path` (the class, then the parents in order). `weights` may be null.
ContextTree build_context_tree(const std::vector<Column>& path, const Column& child, const double* weights,
                               size_t n_rows);

// The tree of the rows of both, the same in whatever order trees are merged. Negative counts in `b` take rows out
// again; what ends at 0 leaves no node.
ContextTree merge_context_trees(const ContextTreeView& a, const ContextTreeView& b);

// The children of node i are out[i] .. out[i + 1].
std::vector<int32_t> first_children(const ContextTreeView& tree);

// Hands memory that was freed back to the system, where the C library can be asked to.
void release_memory();

}  // namespace countwise
