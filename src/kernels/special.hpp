// Digamma of positive numbers, to about 1e-14 of its size.
#pragma once

#include <cmath>

#include "common.hpp"

namespace countwise {

// Pushes x above 10 by the recurrence and uses the asymptotic series there (Abramowitz and Stegun 6.3.18).
inline double digamma(double x) {
  double shift = 0;
  for (; x < 10; x += 1) shift += 1 / x;
  const double y = 1 / (x * x);
  const double tail =
      y * (1. / 12 - y * (1. / 120 - y * (1. / 252 - y * (1. / 240 - y * (1. / 132 - y * (691. / 32760 - y / 12))))));
  return std::log(x) - 0.5 / x - tail - shift;
}

}  // namespace countwise
