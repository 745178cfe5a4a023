#include "random_quantiles.hpp"

#include <algorithm>
#include <cmath>

#include "random.hpp"
#include "value_blocks.hpp"

namespace countwise {

std::vector<double> random_quantiles(const WeightedValues& column, double fewest, double most, uint64_t seed) {
  double total = 0;
  for (size_t i = 0; i < column.size; ++i) total += column.mass[i];
  Random random(seed);
  const double root = std::cbrt(total);
  const auto least = static_cast<uint32_t>(std::max(2.0, std::round(fewest * root)));
  const auto greatest = static_cast<uint32_t>(std::max(2.0, std::round(most * root)));
  const uint32_t n_bins = least + random.below(greatest - least + 1);
  const bool capped = random.uniform() < 0.5;  // a spike then does not draw all cuts to itself
  const double most_of_one = capped ? total / n_bins : total;
  std::vector<double> upto(column.size), cuts;
  double sum = 0;
  for (size_t i = 0; i < column.size; ++i) upto[i] = sum += std::min(column.mass[i], most_of_one);
  for (uint32_t j = 1; j < n_bins && column.size > 1; ++j) {
    const double goal = (j + random.uniform() - 0.5) * sum / n_bins;
    // The boundary behind value i has upto[i] below it: the nearest one, of two equally near the lower.
    size_t i = std::lower_bound(upto.begin(), upto.end() - 1, goal) - upto.begin();
    i = std::min(i, column.size - 2);
    if (i > 0 && goal - upto[i - 1] <= upto[i] - goal) --i;
    cuts.push_back(cut_between(column.values[i], column.values[i + 1]));
  }
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());  // goals ascend, and so do cuts
  return cuts;
}

}  // namespace countwise
