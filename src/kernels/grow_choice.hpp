// The split of a node: one of the best splits of its columns.
#pragma once

#include "grow_column.hpp"

namespace countwise {

// The greatest gain; by ratio, the greatest ratio among those of at least average gain. The first of equals, -1 if none
// gains anything.
int best_column(const std::vector<ColumnSplit>& found, GrowCriterion criterion, double total);

// Nodes whose rows were counted column by column: table[c][(node * arity[c] + code) * n_classes + class].
struct CountedNodes {
  const std::vector<const double*>& tables;
  const std::vector<uint32_t>& arity;
  const std::vector<uint32_t>& n_values;  // see GrowRows
  uint32_t n_classes;
  size_t n_nodes;
  double total;  // weight of all rows of the tree
  bool whole;    // whether all weights are whole numbers
};

struct ChoiceOptions {
  GrowCriterion criterion;
  double min_leaf;
  bool subsets, soft;  // see GrowOptions
  int n_threads;
};

struct ChosenSplits {
  int32_t *column, *low, *high;  // see GrownTree; column is -1 for a node that stays a leaf
  std::vector<int32_t>* sides;   // of each node
};

// The same splits as grow_tree has from the rows themselves.
void choose_splits(const CountedNodes& nodes, const ChoiceOptions& options, const ChosenSplits& out);

}  // namespace countwise
