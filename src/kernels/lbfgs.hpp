// Minimising a smooth convex function: L-BFGS with a preconditioner and a monotone line search.
#pragma once

#include <cmath>
#include <vector>

#include "common.hpp"

namespace countwise {

struct LbfgsOptions {
  double tolerance;    // stop when half the Newton decrement, an estimate of f - min f, is below
  int max_iterations;  // steps taken, not evaluations
};

namespace detail {

// Four sums side by side: one addition need not wait for the one before.
inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum[4] = {0, 0, 0, 0};
  size_t i = 0;
  for (; i + 4 <= a.size(); i += 4)
    for (size_t j = 0; j < 4; ++j) sum[j] += a[i + j] * b[i + j];
  for (; i < a.size(); ++i) sum[0] += a[i] * b[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

inline void add_scaled(std::vector<double>& a, double scale, const std::vector<double>& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += scale * b[i];
}

// The last steps and changes of the gradient, oldest overwritten first.
class Memory {
 public:
  Memory(size_t n, size_t pairs) : step_(pairs), change_(pairs), inverse_(pairs), alpha_(pairs) {
    for (size_t i = 0; i < pairs; ++i) step_[i].resize(n), change_[i].resize(n);
  }

  // A pair without curvature says nothing about the Hessian but rounding: it is not kept.
  void keep(double t, const std::vector<double>& direction, const std::vector<double>& before,
            const std::vector<double>& after) {
    std::vector<double>&s = step_[n_kept_ % step_.size()], &y = change_[n_kept_ % step_.size()];
    for (size_t i = 0; i < s.size(); ++i) s[i] = t * direction[i], y[i] = after[i] - before[i];
    const double curvature = dot(s, y);
    if (!(curvature > 1e-12 * std::sqrt(dot(s, s) * dot(y, y)))) return;
    inverse_[n_kept_ % step_.size()] = 1 / curvature;
    ++n_kept_;
  }

  // v <- H v by the two loops, H the inverse Hessian that the pairs make of the preconditioner.
  template <class Problem>
  void multiply(Problem& problem, std::vector<double>& v) {
    const size_t pairs = step_.size(), oldest = n_kept_ > pairs ? n_kept_ - pairs : 0;
    for (size_t i = n_kept_; i-- > oldest;) {
      alpha_[i % pairs] = inverse_[i % pairs] * dot(step_[i % pairs], v);
      add_scaled(v, -alpha_[i % pairs], change_[i % pairs]);
    }
    problem.precondition(v.data());
    for (size_t i = oldest; i < n_kept_; ++i)
      add_scaled(v, alpha_[i % pairs] - inverse_[i % pairs] * dot(change_[i % pairs], v), step_[i % pairs]);
  }

 private:
  std::vector<std::vector<double>> step_, change_;
  std::vector<double> inverse_, alpha_;
  size_t n_kept_ = 0;
};

// Where the cubic through two values and slopes is least, held between a tenth and a half of the step that failed.
inline double shorter(double t, double value, double slope, double value_t, double slope_t) {
  const double a = slope + slope_t - 3 * (value_t - value) / t, root = a * a - slope * slope_t;
  double next = 0.5 * t;
  if (root > 0) next = t - t * (slope_t + std::sqrt(root) - a) / (slope_t - slope + 2 * std::sqrt(root));
  return next > 0.1 * t ? (next < 0.5 * t ? next : 0.5 * t) : (next > 0 ? 0.1 * t : 0.5 * t);
}

}  // namespace detail

// Moves x to the minimum and returns the value there; the last call of evaluate() is at the x that is returned.
// Problem: double evaluate(const double* x, double* gradient), and void precondition(double* v), which multiplies v by
// an approximate inverse Hessian (symmetric, positive definite) at the point evaluated last. Values never rise by more
// than rounding: a step must lower the value by its share of the slope (Armijo) or, where the fall is lost in
// rounding, shorten the slope itself (Hager and Zhang 2005, the approximate Wolfe condition).
template <class Problem>
double minimise(Problem& problem, std::vector<double>& x, const LbfgsOptions& options) {
  constexpr size_t kPairs = 4;
  constexpr double kShare = 1e-4, kRounding = 1e-13, kShortest = 1e-12;
  const size_t n = x.size();
  std::vector<double> gradient(n), next_gradient(n), next(n), direction(n);
  detail::Memory memory(n, kPairs);
  double value = problem.evaluate(x.data(), gradient.data());
  for (int iteration = 0; iteration < options.max_iterations; ++iteration) {
    for (size_t i = 0; i < n; ++i) direction[i] = -gradient[i];
    memory.multiply(problem, direction);
    const double slope = detail::dot(gradient, direction);
    if (!(-0.5 * slope > options.tolerance)) return value;
    double t = 1, value_t = value;
    for (;;) {
      for (size_t i = 0; i < n; ++i) next[i] = x[i] + t * direction[i];
      value_t = problem.evaluate(next.data(), next_gradient.data());
      const double slope_t = detail::dot(next_gradient, direction);
      const bool falls = std::isfinite(value_t) && std::isfinite(slope_t) && value_t <= value + kShare * t * slope;
      const bool flat = value_t <= value + kRounding * (1 + std::fabs(value)) && std::fabs(slope_t) < -0.9 * slope;
      if (falls || flat) break;
      t = detail::shorter(t, value, slope, value_t, slope_t);
      if (t < kShortest) return problem.evaluate(x.data(), gradient.data());
    }
    memory.keep(t, direction, gradient, next_gradient);
    x.swap(next);
    gradient.swap(next_gradient);
    value = value_t;
  }
  return value;
}

}  // namespace countwise
