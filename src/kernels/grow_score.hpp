// What a split of class counts is worth: sums over classes of a term of each count, from which the impurity of a set of
// rows follows. Counts that are whole numbers have sums of whole numbers, which are the same in any order.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "common.hpp"

namespace countwise {

constexpr double kSameGain = 1e-9;  // gains, per row, that differ by no more are equal: the rest may be rounding

// Sums are 64-bit integers for whole counts (uint32_t), doubles for real ones.
template <class Count>
using TermSum = std::conditional_t<std::is_integral_v<Count>, int64_t, double>;

// Bits: the terms are w log2 w, scaled for whole numbers so that no sum passes 2^61.
template <class Count>
class EntropyScore {
 public:
  using Sum = TermSum<Count>;

  EntropyScore(double total, size_t n_rows) {
    if constexpr (std::is_integral_v<Count>) {
      const int exponent = 60 - std::ilogb(std::max(total, 2.0) * std::max(std::log2(std::max(total, 2.0)), 1.0));
      scale_ = std::ldexp(1.0, exponent);
      unit_ = std::ldexp(1.0, -exponent);
      const auto top = static_cast<size_t>(total);
      if (top <= 1024 + 4 * n_rows) {  // less memory than the rows take
        table_.resize(top + 1);
        for (size_t w = 0; w <= top; ++w) table_[w] = scaled(static_cast<double>(w));
      }
    }
  }

  CW_INLINE Sum term(Count weight) const {
    if constexpr (std::is_integral_v<Count>) {
      return table_.empty() ? scaled(static_cast<double>(weight)) : table_[weight];
    } else {
      return weight > 0 ? weight * std::log2(weight) : 0.0;
    }
  }

  // Weight times impurity, from the sum of the terms of its classes.
  CW_INLINE double cost(Sum terms, Count weight) const {
    if constexpr (std::is_integral_v<Count>) {
      return static_cast<double>(term(weight) - terms) * unit_;
    } else {
      return term(weight) - terms;
    }
  }

  // w log2 w in bits, for the information of the split itself.
  double log_term(Count weight) const {
    if constexpr (std::is_integral_v<Count>) {
      return static_cast<double>(term(weight)) * unit_;
    } else {
      return term(weight);
    }
  }

 private:
  int64_t scaled(double w) const { return w < 2 ? 0 : std::llround(w * std::log2(w) * scale_); }

  double scale_ = 1, unit_ = 1;
  std::vector<int64_t> table_;
};

// 1 - sum of squared shares.
template <class Count>
class GiniScore {
 public:
  using Sum = TermSum<Count>;
  GiniScore(double, size_t) {}
  CW_INLINE Sum term(Count weight) const { return static_cast<Sum>(weight) * static_cast<Sum>(weight); }
  CW_INLINE double cost(Sum terms, Count weight) const {
    const double w = static_cast<double>(weight);
    return w > 0 ? w - static_cast<double>(terms) / w : 0.0;
  }
  double log_term(Count) const { return 0.0; }  // only gain ratios ask for it
};

}  // namespace countwise
