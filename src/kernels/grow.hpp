// Growth of a classification tree from coded rows, as C4.5 does it: one attribute at each inner node, numbers by a
// threshold, categories by a branch for each or in two sets.
#pragma once

#include "common.hpp"

namespace countwise {

// Rows to grow from. `n_values[i]` is 0 for a category; for a number its codes below n_values[i] ascend with the value,
// and the code n_values[i] means missing. Codes are below the columns' arity; weights may be null.
struct GrowRows {
  const std::vector<Column>& columns;
  const std::vector<uint32_t>& n_values;
  Column target;
  uint32_t n_classes;
  const double* weights;
  size_t n_rows;
  // Of each column the codes of known values, 0 .. n_known-1; rows of other codes take all branches, each with its
  // share of the weight. Empty where missing is a value like others.
  const std::vector<uint32_t>& n_known;
};

constexpr int32_t kSubset = -2;  // in the place of a threshold

enum class GrowCriterion { kGainRatio = 0, kEntropy = 1, kGini = 2 };

struct GrowOptions {
  GrowCriterion criterion;
  double min_leaf;        // weight that at least two branches must have
  uint32_t max_depth;     // levels below the root
  uint32_t max_features;  // attributes that a node looks at, drawn at random; all of them from their number up
  uint64_t seed;
  bool subsets;  // categories are split in two sets, instead of a branch for each
  bool soft;     // of numbers the likely thresholds are listed too; not by Gini
  int n_threads;
};

// Level-ordered, siblings adjacent. Per node: the column that it splits on (-1 in a leaf); of a number the codes
// between which the threshold lies (rows of codes <= low go to branch 0, of codes > high to branch 1, none is between;
// missing to branch 2), -1 for a category; the branch that leads to it (of a category the code), and its class counts.
// A category that is split in two sets has kSubset for low and high, and for each code that the node met, ascending,
// 2 * code + the branch that it takes: sides[side_ptr[node]] up to sides[side_ptr[node + 1]]. There a number has its
// likely_thresholds, if they were asked for and differ.
struct GrownTree {
  std::vector<int32_t> parent, branch, column, low, high;
  std::vector<int64_t> level_ptr, cell_ptr;
  std::vector<int32_t> cell_value;
  std::vector<double> cell_count;
  std::vector<int64_t> side_ptr;
  std::vector<int32_t> sides;
};

GrownTree grow_tree(const GrowRows& rows, const GrowOptions& options);

}  // namespace countwise
