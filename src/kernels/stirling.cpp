#include "stirling.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

namespace countwise {

// --- the table -----------------------------------------------------------------------------------------------------

// With R(n, t) = S(n, t + 1) / S(n, t) and W(n, t) = S(n + 1, t) / S(n, t) the recurrence S(n + 1, t) = n S(n, t) +
// S(n, t - 1) reads W(n, t) = n + 1 / R(n, t - 1) and R(n + 1, t) = (n R(n, t) + 1) / W(n, t): positive terms only,
// so rounding grows no faster than n.
StirlingTable::StirlingTable(int32_t n_max)
    : n_max_(n_max), stride_(n_max + 24) {  // 24: columns of one n shall not fall on the same cache lines
  const int32_t full = std::min(n_max, kBand);
  over_tables_.resize(static_cast<size_t>(full) * (full + 1) / 2 + static_cast<size_t>(n_max - full) * kBand);
  over_customers_.resize(stride_ * full);
  double* tables = over_tables_.data();
  const double* before = nullptr;
  for (int32_t n = 1; n <= n_max; ++n) {
    const int32_t width = std::min(n, kBand);
    for (int32_t t = 1; t <= width; ++t) {
      // before[t - 1] is R(n - 1, t), which is 0 at t = n - 1 and not there at t = n.
      const double r = t == n ? 0.0 : ((n - 1) * before[t - 1] + 1) / over_customers_[(t - 1) * stride_ + n - 1];
      tables[t - 1] = r;
      over_customers_[(t - 1) * stride_ + n] = t == 1 ? n : n + 1 / tables[t - 2];
    }
    before = tables;
    tables += width;
  }
}

std::shared_ptr<const StirlingTable> stirling_table(int64_t n) {
  static std::mutex mutex;
  static std::shared_ptr<const StirlingTable> largest;
  const std::lock_guard<std::mutex> lock(mutex);
  if (!largest || (largest->n_max() < n && largest->n_max() < StirlingTable::kRows)) {
    int32_t size = 256;
    while (size < n && size < StirlingTable::kRows) size *= 4;
    largest = std::make_shared<const StirlingTable>(size);
  }
  return largest;
}

// --- outside the table ---------------------------------------------------------------------------------------------

namespace {

// Sums over i = 1 .. n-1 of p^k, p = z / (z + i): a value's tables are a sum of Bernoulli(p) variables plus one.
struct PowerSums {
  double p1, p2, p3, p4;
};

constexpr double kHalfLogTwoPi = 0.91893853320467274178;
constexpr int kHead = 10;  // terms added one by one; Euler and Maclaurin's formula for the others has x > 11 then

CW_INLINE PowerSums power_sums(double n, double z) {
  double h1 = 0, h2 = 0, h3 = 0, h4 = 0;
  for (int i = 1; i <= kHead; ++i) {
    const double v = 1 / (z + i), vv = v * v;
    h1 += v;
    h2 += vv;
    h3 += v * vv;
    h4 += vv * vv;
  }
  // Sums of v^-k over v = x, x + 1, .. y - 1; first terms as differences that do not cancel when z is far above n.
  const double x = z + kHead + 1, y = z + n, a = 1 / x, b = 1 / y, d = (y - x) * a * b;
  const double a2 = a * a, b2 = b * b, a4 = a2 * a2, b4 = b2 * b2;
  const double a5 = a4 * a, b5 = b4 * b, a6 = a4 * a2, b6 = b4 * b2, a7 = a6 * a, b7 = b6 * b;
  const double d2 = d * (a + b), d3 = d * (a2 + a * b + b2), d4 = d2 * (a2 + b2);
  h1 += std::log1p((y - x) * a) + d / 2 + d2 / 12 - d4 / 120 + (a6 - b6) / 252;
  h2 += d + d2 / 2 + d3 / 6 - (a5 - b5) / 30 + (a7 - b7) / 42;
  h3 += d2 / 2 + d3 / 2 + d4 / 4 - (a6 - b6) / 12 + (a6 * a2 - b6 * b2) / 12;
  h4 += d3 / 3 + d4 / 2 + (a5 - b5) / 3 - (a7 - b7) / 6 + (a7 * a2 - b7 * b2) * 0.2;
  const double zz = z * z;
  return {z * h1, zz * h2, zz * z * h3, zz * zz * h4};
}

// log Gamma(x) without its linear terms: 1/(12 x) - 1/(360 x^3) + ..., x > 9.
CW_INLINE double stirling_series(double x) {
  const double y = 1 / (x * x);
  return (1. / 12 - y * (1. / 360 - y * (1. / 1260 - y * (1. / 1680 - y / 1188)))) / x;
}

// log Gamma(x), x > 0. Not std::lgamma, which writes to a global variable that threads would share.
double log_gamma(double x) {
  double shift = 1;
  for (; x < 10; x += 1) shift *= x;
  return (x - 0.5) * std::log(x) - x + kHalfLogTwoPi + stirling_series(x) - std::log(shift);
}

// log m! minus Stirling's formula (m + 1/2) log m - m + log(2 pi) / 2, m > 0.
double factorial_remainder(double m) {
  return m > 9 ? stirling_series(m) : log_gamma(m + 1) - (m + 0.5) * std::log(m) + m - kHalfLogTwoPi;
}

// sum over i = 1 .. n-1 of log(1 + z / i) = log Gamma(z + n) - log Gamma(z + 1) - log Gamma(n), n > kHead.
double log_product(double n, double z) {
  if (z > n) {  // terms no larger than n log z
    const double x = z + 1, y = z + n, all = n - 1;
    return (x - 0.5) * std::log1p(all / x) + all * (std::log(y) - 1) + stirling_series(y) - stirling_series(x) -
           log_gamma(n);
  }
  double head = 1;
  for (int i = 1; i <= kHead; ++i) head *= (z + i) * (1.0 / i);
  const double x = kHead + 1;
  const double upper =
      (n + z - 0.5) * std::log1p(z / n) + z * std::log(n) + stirling_series(n + z) - stirling_series(n);
  const double lower =
      (x + z - 0.5) * std::log1p(z / x) + z * std::log(x) + stirling_series(x + z) - stirling_series(x);
  return std::log(head) + upper - lower;
}

// The second-order term of the saddle-point approximation of a sum with these cumulants.
CW_INLINE double second_order(double k2, double k3, double k4) {
  return (k4 / 8 - 5 * k3 * k3 / (24 * k2)) / (k2 * k2);
}

// Where Newton's iteration for the saddle point starts: the last one found, moved along its tangent.
struct Saddle {
  double log_z, tables, variance;
  Saddle(double n, double t) : tables(t), variance(1e300) {
    const double m = t - 0.9, rest = n - t + 0.1;
    log_z = m < rest ? std::log(m / std::log1p(n / m)) : 2 * std::log(n) - std::log(2 * rest);
  }
};

// log(S(n, t) / (n - 1)!) where S(n, t) / (n - 1)! is the coefficient of z^(t-1) in prod (1 + z / i), by the
// saddle-point method with its second-order term. The same approximation of a binomial coefficient, whose error is
// known, is subtracted: that makes the result good up to both ends, t = 2 and t = n - 1 (tests/smooth/test_stirling.py
// measures it). t may be any number between 1 and n.
double far_log(double n, double t, Saddle& saddle) {
  const double all = n - 1, m = t - 1, rest = n - t;
  if (m <= 0) return 0;
  if (rest <= 0) return -log_gamma(n);
  double log_z = saddle.log_z + std::clamp((t - saddle.tables) / saddle.variance, -2.0, 2.0), k2 = 0, k3 = 0, k4 = 0;
  for (int step = 0; step < 60; ++step) {
    const PowerSums s = power_sums(n, std::exp(log_z));
    k2 = s.p1 - s.p2;
    k3 = s.p1 - 3 * s.p2 + 2 * s.p3;
    k4 = s.p1 - 7 * s.p2 + 12 * s.p3 - 6 * s.p4;
    const double move = std::clamp((m - s.p1) / k2, -2.0, 2.0);
    log_z += move;
    if (k2 * move * move < 1e-14) break;  // the next move is of the order of this one's square
  }
  saddle.log_z = log_z;
  saddle.tables = t;
  saddle.variance = k2;
  const double p = m / all, q = rest / all, b2 = m * q;
  const double binomial = second_order(b2, b2 * (1 - 2 * p), b2 * (1 - 6 * p * q)) - factorial_remainder(all) +
                          factorial_remainder(m) + factorial_remainder(rest);
  return log_product(n, std::exp(log_z)) - m * log_z - 0.5 * std::log(k2) - kHalfLogTwoPi + second_order(k2, k3, k4) -
         binomial;
}

// out[i] = f(i), i = 0 .. size: for smooth f by the polynomial through a few Chebyshev nodes.
template <class F>
void tabulate(F&& f, int size, bool smooth, double* out) {
  constexpr int kNodes = 8;
  if (!smooth || size < kNodes) {
    for (int i = 0; i <= size; ++i) out[i] = f(i);
    return;
  }
  double x[kNodes], difference[kNodes];
  for (int j = 0; j < kNodes; ++j) {
    x[j] = 0.5 * size * (1 - std::cos((2 * j + 1) * (3.14159265358979323846 / (2 * kNodes))));
    difference[j] = f(x[j]);
  }
  for (int order = 1; order < kNodes; ++order)
    for (int j = kNodes - 1; j >= order; --j)
      difference[j] = (difference[j] - difference[j - 1]) / (x[j] - x[j - order]);
  for (int i = 0; i <= size; ++i) {
    double value = difference[kNodes - 1];
    for (int j = kNodes - 2; j >= 0; --j) value = value * (i - x[j]) + difference[j];
    out[i] = value;
  }
}

constexpr int kMostSteps = 32;    // ratios at a time
constexpr int kSmoothFrom = 200;  // S(n, t) is far from the steep end t = n when n - t exceeds this

}  // namespace

double log_stirling(int64_t n, int64_t t) {
  const double customers = static_cast<double>(n), tables = static_cast<double>(t);
  if (n <= StirlingTable::kRows && t <= StirlingTable::kBand) {
    const auto table = stirling_table(n);
    const double* ratio = table->over_tables(static_cast<int32_t>(n), 1);
    double sum = log_gamma(customers);
    for (int64_t i = 1; i < t; ++i) sum += std::log(ratio[i - 1]);
    return sum;
  }
  Saddle saddle(customers, tables);
  return log_gamma(customers) + far_log(customers, tables, saddle);
}

void far_over_tables(int64_t n, int64_t t, int size, double* out) {
  if (size <= 0) return;
  const double customers = static_cast<double>(n), tables = static_cast<double>(t);
  Saddle saddle(customers, tables);
  double value[kMostSteps + 1];
  // Gamma(t) S(n, t) is the smooth function: tables behave as a Poisson variable where they are few.
  const auto f = [&](double i) { return far_log(customers, tables + i, saddle) + log_gamma(tables + i); };
  const int steps = std::min(size, kMostSteps);
  tabulate(f, steps, n - t - steps > kSmoothFrom, value);
  for (int i = 0; i < steps; ++i) out[i] = std::exp(value[i + 1] - value[i]) / (tables + i);
  far_over_tables(n, t + steps, size - steps, out + steps);
}

void far_over_customers(int64_t n, int64_t t, int size, double* out) {
  if (size <= 0) return;
  const double customers = static_cast<double>(n), tables = static_cast<double>(t);
  Saddle saddle(customers, tables);
  double value[kMostSteps + 1];
  const auto f = [&](double i) { return far_log(customers + i, tables, saddle); };
  const int steps = std::min(size, kMostSteps);
  tabulate(f, steps, n - t > kSmoothFrom, value);
  for (int i = 0; i < steps; ++i) out[i] = (customers + i) * std::exp(value[i + 1] - value[i]);
  far_over_customers(n + steps, t, size - steps, out + steps);
}

}  // namespace countwise
