// Random numbers of our own: the same stream from the same seed with every compiler, unlike the distributions of
// <random>. Only the last digit of the C library's logarithm can differ between systems.
#pragma once

#include <cmath>

#include "common.hpp"

namespace countwise {

// Steele, Lea and Flood (2014): turns any seed, 0 included, into well-mixed words.
inline uint64_t splitmix64(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

// xoshiro256++ (Blackman and Vigna 2021): 64 bits a step, period 2^256 - 1.
class Random {
 public:
  explicit Random(uint64_t seed) {
    for (auto& word : state_) word = splitmix64(seed);
  }

  CW_INLINE uint64_t bits() {
    const uint64_t result = rotate(state_[0] + state_[3], 23) + state_[0], shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // In [0, 1), a multiple of 2^-53; positive() in (0, 1], safe under a logarithm.
  CW_INLINE double uniform() { return static_cast<double>(static_cast<int64_t>(bits() >> 11)) * 0x1p-53; }
  CW_INLINE double positive() { return 1.0 - uniform(); }

  // 0 .. bound-1, to a relative bias of bound / 2^32.
  CW_INLINE uint32_t below(uint32_t bound) { return static_cast<uint32_t>(((bits() >> 32) * bound) >> 32); }

  // Marsaglia's polar method; the second of each pair is kept for the next call.
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double x, y, s;
    do {
      x = 2 * uniform() - 1;
      y = 2 * uniform() - 1;
      s = x * x + y * y;
    } while (s >= 1 || s == 0);
    const double scale = std::sqrt(-2 * std::log(s) / s);
    spare_ = y * scale;
    has_spare_ = true;
    return x * scale;
  }

  double exponential() { return -std::log(positive()); }

  // Gamma(shape, rate 1). Shapes from 1 up: Marsaglia and Tsang (2000). Below 1 a draw may underflow to 0: where
  // that matters, take log_gamma.
  double gamma(double shape) {
    if (shape < 1) return std::exp(log_gamma(shape));
    const double d = shape - 1. / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double x = normal(), root = 1 + c * x;
      if (root <= 0) continue;
      const double v = root * root * root, u = positive(), xx = x * x;
      if (u < 1 - 0.0331 * xx * xx || std::log(u) < 0.5 * xx + d * (1 - v + std::log(v))) return d * v;
    }
  }

  // The logarithm of a Gamma(shape, rate 1) draw; Gamma(a) is Gamma(a + 1) U^(1/a).
  double log_gamma(double shape) {
    if (shape >= 1) return std::log(gamma(shape));
    const double above = std::log(gamma(shape + 1));
    return above + std::log(positive()) / shape;
  }

  // -log of a Beta(a, b) draw, without underflow for small a: log(1 + Y / X) of two gammas.
  double minus_log_beta(double a, double b) {
    const double log_x = log_gamma(a), difference = log_gamma(b) - log_x;
    return (difference > 0 ? difference : 0) + std::log1p(std::exp(-std::fabs(difference)));
  }

  double beta(double a, double b) { return std::exp(-minus_log_beta(a, b)); }

 private:
  static CW_INLINE uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

  uint64_t state_[4];
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace countwise
