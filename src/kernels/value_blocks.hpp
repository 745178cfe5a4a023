// A numeric column with its class labels, sorted and summed: the input of every entropy cut search.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace countwise {

// lo <= cut < hi for neighbours lo < hi: with bins (a, b] this separates them even when no double lies between.
inline double cut_between(double lo, double hi) {
  const double sum = lo + hi, middle = std::isfinite(sum) ? 0.5 * sum : 0.5 * lo + 0.5 * hi;
  return middle >= lo && middle < hi ? middle : lo;
}

// Flat arrays of n_rows entries: finite values, classes in 0 .. n_classes - 1, weights >= 0.
// weights == nullptr: every row counts once.
struct LabelledColumn {
  const double* values;
  const int32_t* classes;
  const double* weights;
  int64_t n_rows;
  int32_t n_classes;
};

// Ascending blocks of distinct values with the weight of every class in them. Block b holds the values
// lo[b] .. hi[b] and the entries ptr[b] .. ptr[b + 1] of cls and weight, each class at most once.
//
// Weights are integers in multiples of `unit`, so sums are exact and do not depend on the order of the rows:
// unit is 1 when every weight is an integer, otherwise a power of two far below the weights.
struct ValueBlocks {
  std::vector<double> lo, hi;
  std::vector<int64_t> ptr;
  std::vector<int32_t> cls;
  std::vector<int64_t> weight;
  int64_t total = 0;
  double unit = 1.0;

  int64_t size() const { return static_cast<int64_t>(lo.size()); }
};

// Sorts a column into blocks; rows of weight 0 are left out. Each distinct value is a block of its own, or,
// with merge_pure_runs, adjacent values that hold the same single class share one: what is left between
// blocks are the boundary points of Fayyad & Irani. Throws std::invalid_argument for entries outside the
// stated ranges.
void sort_into_blocks(const LabelledColumn& column, bool merge_pure_runs, ValueBlocks& out);

}  // namespace countwise
