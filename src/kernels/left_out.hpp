// What a row takes with it when it leaves the counts of a hierarchical Dirichlet process.
#pragma once

#include <algorithm>

#include "gamma_terms.hpp"

namespace countwise {

// Tables of n customers at concentration c, as the fit expects them: of one or less, all of it.
inline double expected_tables(double c, double n) { return n > 1 ? c * rising(c, n).d1 : n; }

// What the context above loses when `left` of a cell's n goes, the cell's concentration being c. Of one row that is its
// chance of a table of its own; weights above 1 are taken for as many rows by the fit.
inline double lost_above(double c, double n, double left) {
  if (left <= 1) return n > 1 ? left * c / (c + n - 1) : left;
  return expected_tables(c, n) - expected_tables(c, std::max(0.0, n - left));
}

}  // namespace countwise
