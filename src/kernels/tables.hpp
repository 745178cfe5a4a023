// Expected numbers of tables in a Chinese restaurant, for many cells at once.
#pragma once

#include "common.hpp"

namespace countwise {

// t = c (psi(c + n) - psi(c)), kept in [1, n]: the tables of n customers at concentration c. For n >= 1.
void expected_tables(const double* c, const double* n, size_t size, double* t);

// dt = t - c^2 (psi'(c) - psi'(c + n)): its derivative by log c.
void table_slopes(const double* c, const double* n, const double* t, size_t size, double* dt);

// out = exp(psi(x)), for x >= 1.
void exp_digamma(const double* x, size_t size, double* out);

}  // namespace countwise
