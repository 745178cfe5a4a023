// Logarithm and exponential without branches or calls, so that loops over arrays become vector code.
#pragma once

#include <cstring>

#include "common.hpp"

namespace countwise {

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

// For x >= 1, to about 1e-12. x = m 2^e with m within sqrt(2) of 1; log m = 2 artanh((m - 1) / (m + 1)).
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

// For x > 0 in single precision, to about 2e-7.
CW_INLINE float log_of(float x) {
  constexpr int32_t kSqrtHalf = 0x3f3504f3;
  int32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const int32_t e = (bits - kSqrtHalf) >> 23;
  bits -= e * (1 << 23);
  float m;
  std::memcpy(&m, &bits, sizeof m);
  const float s = (m - 1) / (m + 1), q = s * s;
  return static_cast<float>(e) * 0.693147181f + 2 * s * (1 + q * (1.f / 3 + q * (1.f / 5 + q * (1.f / 7))));
}

// exp(-y) for y in [0, 3], to about 1e-10: the series of exp(-y / 16), squared four times.
CW_INLINE double exp_minus(double y) {
  const double z = y * (-1. / 16);
  double p = 1 + z * (1 + z * (1. / 2 + z * (1. / 6 + z * (1. / 24 + z * (1. / 120 + z * (1. / 720 + z / 5040))))));
  p *= p;
  p *= p;
  p *= p;
  return p * p;
}

}  // namespace countwise
