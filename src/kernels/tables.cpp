#include "tables.hpp"

#include <cstring>

// The loops run over arrays without branches or calls, so that the compiler makes vector code of them. Logarithm,
// exponential and digamma are therefore written out, to about 1e-9: far below the error of the method that uses them.
// Digamma and trigamma are pushed up by 4, where four or five terms of the asymptotic series do.

namespace countwise {
namespace {

CW_INLINE double from_bits(uint64_t bits) {
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

CW_INLINE uint64_t to_bits(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

// For x >= 1. x = m 2^e with m within sqrt(2) of 1; log m = 2 artanh((m - 1) / (m + 1)).
CW_INLINE double log_of(double x) {
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdull, kExponent = 0xfff0000000000000ull;
  constexpr double kLn2 = 0.6931471805599453;
  const uint64_t above = to_bits(x) - kSqrtHalf;
  const double e = from_bits((above >> 52) | 0x4330000000000000ull) - 4503599627370496.0;  // an integer as a double
  const double m = from_bits(to_bits(x) - (above & kExponent));
  const double s = (m - 1) / (m + 1), q = s * s;
  const double series = 1 + q * (1. / 3 + q * (1. / 5 + q * (1. / 7 + q * (1. / 9 + q * (1. / 11 + q * (1. / 13))))));
  return e * kLn2 + 2 * s * series;
}

// exp(-y) for y in [0, 3]: the series of exp(-y / 16), squared four times.
CW_INLINE double exp_minus(double y) {
  const double z = y * (-1. / 16);
  double p = 1 + z * (1 + z * (1. / 2 + z * (1. / 6 + z * (1. / 24 + z * (1. / 120 + z * (1. / 720 + z / 5040))))));
  p *= p;
  p *= p;
  p *= p;
  return p * p;
}

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
