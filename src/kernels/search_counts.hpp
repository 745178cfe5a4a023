// Where a search for parents starts: an attribute's distribution given the class alone.
#pragma once

#include <algorithm>

#include "parents.hpp"

namespace countwise {

constexpr double kSearchStrength = 5;  // of the pull to the estimate one level up
constexpr double kSearchRoot = 2;      // of the pull to the uniform distribution at the root

// phi_0 = (n_k + 2/K) / (N + 2), phi_1 = (n_yk + 5 phi_0) / (n_y + 5), with or without one row of the cell.
class MarginalEstimate {
 public:
  MarginalEstimate(const SearchRows& rows, uint32_t attribute)
      : arity_(rows.columns[attribute].arity),
        n_classes_(rows.n_classes),
        cell_(size_t{arity_} * n_classes_, 0.0),
        value_(arity_, 0.0),
        class_(n_classes_, 0.0) {
    for (size_t r = 0; r < rows.n_rows; ++r) {
      const uint32_t k = code_at(rows.columns[attribute], r), y = code_at(rows.target, r);
      const double weight = rows.weight_of(r);
      cell_[k * n_classes_ + y] += weight, value_[k] += weight, class_[y] += weight, total_ += weight;
    }
  }

  double count(size_t cell) const { return cell_[cell]; }

  // P(k | y) for a row of value k whose class is y (it loses `left`) or another one (which loses it at the root only).
  double given_class(uint32_t k, uint32_t y, bool own, double left) const {
    const double n = cell_[k * n_classes_ + y];
    const double root =
        (std::max(0.0, value_[k] - left) + kSearchRoot / arity_) / (std::max(0.0, total_ - left) + kSearchRoot);
    const double gone = own ? std::min(left, n) : 0.0;
    return (n - gone + kSearchStrength * root) / (class_[y] - gone + kSearchStrength);
  }

 private:
  uint32_t arity_, n_classes_;
  std::vector<double> cell_, value_, class_;  // [value][class], [value], [class]
  double total_ = 0;
};

}  // namespace countwise
