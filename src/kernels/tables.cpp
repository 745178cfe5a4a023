#include "tables.hpp"

#include "vector_math.hpp"

// Vector code, to about 1e-9: far below the error of the method that uses it.
// Digamma and trigamma are pushed up by 4, where four or five terms of the asymptotic series do.

namespace countwise {
namespace {

// p = x (x + 1) (x + 2) (x + 3) and its derivatives: p1 / p is the sum of 1 / (x + i) over i < 4.
CW_INLINE double rising(double x) { return x * (6 + x * (11 + x * (6 + x))); }
CW_INLINE double rising1(double x) { return 6 + x * (22 + x * (18 + x * 4)); }
CW_INLINE double rising2(double x) { return 22 + x * (36 + x * 12); }

// digamma(z) - log z and trigamma(z) for z >= 4, given r = 1 / z.
CW_INLINE double digamma_tail(double r) {
  const double q = r * r;
  return -r * (0.5 + r * (1. / 12 - q * (1. / 120 - q * (1. / 252 - q * (1. / 240 - q * (1. / 132))))));
}
CW_INLINE double trigamma_tail(double r) {
  const double q = r * r;
  return r * (1 + r * (0.5 + r * (1. / 6 - q * (1. / 30 - q * (1. / 42 - q * (1. / 30 - q * (5. / 66)))))));
}

CW_INLINE double trigamma_of(double x) {
  const double p = 1 / rising(x), first = rising1(x) * p;
  return trigamma_tail(1 / (x + 4)) + first * first - rising2(x) * p;
}

}  // namespace

CW_CLONES void expected_tables(const double* c, const double* n, size_t size, double* t) {
  for (size_t i = 0; i < size; ++i) {
    const double x = c[i], most = n[i], y = x + most;
    const double px = rising(x), py = rising(y);
    const double shift = (rising1(x) * py - rising1(y) * px) / (px * py);
    const double r = 1 / ((x + 4) * (y + 4)), rx = r * (y + 4), ry = r * (x + 4);
    const double psi = log_of((y + 4) * rx) + (digamma_tail(ry) - digamma_tail(rx)) + shift;
    const double tables = x * psi, floored = tables < 1 ? 1 : tables;
    t[i] = floored > most ? most : floored;
  }
}

CW_CLONES void table_slopes(const double* c, const double* n, const double* t, size_t size, double* dt) {
  for (size_t i = 0; i < size; ++i) dt[i] = t[i] - c[i] * c[i] * (trigamma_of(c[i]) - trigamma_of(c[i] + n[i]));
}

// exp(psi(z + 1/2)) = z + 1/(24 z) - 37/(5760 z^3) + ... at z = x + 3.5, pushed down.
CW_CLONES void exp_digamma(const double* x, size_t size, double* out) {
  for (size_t i = 0; i < size; ++i) {
    const double z = x[i] + 3.5, r = 1 / z, q = r * r;
    const double far = z + r * (1. / 24 - q * (37. / 5760 - q * (10313. / 2903040 - q * (5509121. / 1393459200))));
    out[i] = far * exp_minus(rising1(x[i]) / rising(x[i]));
  }
}

}  // namespace countwise
