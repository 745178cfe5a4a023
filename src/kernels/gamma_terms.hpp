// Differences of log Gamma and its derivatives that stay exact where the terms themselves are large and cancel.
#pragma once

#include <cmath>

#include "common.hpp"

namespace countwise {

// The four parts in which variational bounds of Dirichlet distributions are written: each goes to 0, or grows like
// log t, where log t, digamma and log Gamma grow and their differences would be lost to rounding.
struct GammaTerms {
  double e;   // log t - digamma(t)
  double q1;  // t trigamma(t) - 1
  double q2;  // t^2 tetragamma(t) + 1
  double w;   // log Gamma(t) - t digamma(t) + t
};

constexpr double kHalfLog2Pi = 0.91893853320467274178;

// Tails of the asymptotic series (Abramowitz and Stegun 6.1.41, 6.3.18, 6.4.12-13) at t >= 10; r is the remainder of
// Stirling's formula for log Gamma.
struct GammaTails {
  double e, q1, q2, r;
  explicit GammaTails(double t) {
    const double v = 1 / t, y = v * v;
    e = 0.5 * v +
        y * (1. / 12 - y * (1. / 120 - y * (1. / 252 - y * (1. / 240 - y * (1. / 132 - y * (691. / 32760 - y / 12))))));
    q1 = 0.5 * v + y * (1. / 6 - y * (1. / 30 - y * (1. / 42 - y * (1. / 30 - y * (5. / 66 - y * (691. / 2730))))));
    q2 = -v - y * (1. / 2 - y * (1. / 6 - y * (1. / 6 - y * (3. / 10 - y * (5. / 6 - y * (691. / 210))))));
    r = v * (1. / 12 - y * (1. / 360 - y * (1. / 1260 - y * (1. / 1680 - y * (1. / 1188 - y * (691. / 360360))))));
  }
};

inline GammaTerms gamma_terms(double t) {
  double high = t, sum1 = 0, sum2 = 0, sum3 = 0, product = 1;
  for (; high < 10; high += 1) {
    const double v = 1 / high;
    sum1 += v;
    sum2 += v * v;
    sum3 += v * v * v;
    product *= high;
  }
  const GammaTails tail(high);
  const double log_high = std::log(high);
  if (high == t) return {tail.e, tail.q1, tail.q2, kHalfLog2Pi - 0.5 * log_high + tail.r + t * tail.e};
  const double digamma = log_high - tail.e - sum1;
  const double trigamma = (1 + tail.q1) / high + sum2;
  const double tetragamma = (tail.q2 - 1) / (high * high) - 2 * sum3;
  const double log_gamma = (high - 0.5) * log_high - high + kHalfLog2Pi + tail.r - std::log(product);
  return {std::log(t) - digamma, t * trigamma - 1, t * t * tetragamma + 1, log_gamma - t * digamma + t};
}

// log Gamma(a + n) - log Gamma(a), and its first two derivatives in a; n need not be whole.
struct Rising {
  double value, d1, d2;
};

inline Rising rising(double a, double n) {
  if (n <= 16 && n == std::floor(n)) {  // a product of few factors: most cells of sparse tables
    double product = 1, d1 = 0, d2 = 0;
    for (double m = 0; m < n; m += 1) {
      const double v = 1 / (a + m);
      product *= a + m;
      d1 += v;
      d2 -= v * v;
    }
    return {std::log(product), d1, d2};
  }
  double high = a, ratio = 1, sum1 = 0, sum2 = 0;
  for (; high < 10; high += 1) {
    const double v = 1 / high, u = 1 / (high + n);
    ratio *= high * u;
    sum1 += v - u;
    sum2 += v * v - u * u;
  }
  const GammaTails low(high), top(high + n);
  const double log_step = std::log1p(n / high);
  const double stirling = (high + n - 0.5) * log_step + n * (std::log(high) - 1) + top.r - low.r;
  return {stirling + std::log(ratio), log_step - top.e + low.e + sum1,
          (1 + top.q1) / (high + n) - (1 + low.q1) / high - sum2};
}

}  // namespace countwise
