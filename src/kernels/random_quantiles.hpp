// Random cut points of one numeric column: quantiles whose number and places are drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace countwise {

// Ascending distinct values and their weights. The number of bins is uniform on fewest N^(1/3) .. most N^(1/3).
struct WeightedValues {
  const double *values, *mass;
  size_t size;
};

// Ascending cuts, each between two neighbouring values.
std::vector<double> random_quantiles(const WeightedValues& column, double fewest, double most, uint64_t seed);

}  // namespace countwise
