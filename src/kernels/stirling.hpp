// Unsigned Stirling numbers of the first kind S(n, t): exact ratios in a table that all trees share, an asymptotic
// form outside it.
#pragma once

#include <memory>

#include "common.hpp"

namespace countwise {

// Ratios of neighbours for n <= n_max, t <= kBand. Samplers move by these ratios, so that neither logarithms nor
// overflow are met. A table is never changed once it is made: threads read it without locks.
class StirlingTable {
 public:
  static constexpr int32_t kBand = 250;   // tables t: their number grows as the logarithm of the customers n
  static constexpr int32_t kRows = 4096;  // with kBand: 16.2 MB at most

  explicit StirlingTable(int32_t n_max);
  int32_t n_max() const { return n_max_; }

  // The place of S(n, t + 1) / S(n, t), t < n; the next t follows.
  CW_INLINE const double* over_tables(int32_t n, int32_t t) const {
    const size_t row = n <= kBand
                           ? static_cast<size_t>(n) * (n - 1) / 2
                           : static_cast<size_t>(kBand) * (kBand - 1) / 2 + static_cast<size_t>(n - kBand) * kBand;
    return over_tables_.data() + row + (t - 1);
  }
  // The place of S(n + 1, t) / S(n, t), t <= n; the next n follows.
  CW_INLINE const double* over_customers(int32_t n, int32_t t) const {
    return over_customers_.data() + static_cast<size_t>(t - 1) * stride_ + n;
  }
  size_t nbytes() const { return (over_tables_.size() + over_customers_.size()) * sizeof(double); }

 private:
  int32_t n_max_;
  size_t stride_;
  std::vector<double> over_tables_, over_customers_;
};

// A table for counts up to n, or to kRows where n is greater; made at most once for each size.
std::shared_ptr<const StirlingTable> stirling_table(int64_t n);

// log S(n, t), 1 <= t <= n: from the table, else asymptotic.
double log_stirling(int64_t n, int64_t t);

// The asymptotic ratios out[i] = S(n, t + i + 1) / S(n, t + i) and out[i] = S(n + i + 1, t) / S(n + i, t), i < size.
void far_over_tables(int64_t n, int64_t t, int size, double* out);
void far_over_customers(int64_t n, int64_t t, int size, double* out);

}  // namespace countwise
