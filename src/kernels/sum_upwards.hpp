// Counts at the leaves of a tree, added up to its root.
#pragma once

#include "common.hpp"

namespace countwise {

// The cells of all nodes: those of node i are cell_ptr[i] .. cell_ptr[i + 1], their values ascend.
struct SummedCells {
  std::vector<int64_t> cell_ptr;
  std::vector<int32_t> cell_value;
  std::vector<double> cell_count;
};

// Some counts by key = node * arity + value; every key once, ascending.
struct KeyedCounts {
  const int64_t* key;
  const double* count;
  size_t n;
};

// Every node's own counts and those of all nodes below it. parent[0] == -1; nodes may have any other order.
SummedCells sum_upwards(const int32_t* parent, size_t n_nodes, const KeyedCounts& own, size_t arity);

}  // namespace countwise
