#include "dirichlet_table.hpp"

#include <algorithm>
#include <cmath>

#include "gamma_terms.hpp"

namespace countwise {
namespace {

constexpr double kTolerance = 1e-6;  // of kappa and tau, relative; the last step of Newton's method squares it
constexpr double kRounding = 1e-14;  // of the bound, relative to the sum of its terms
constexpr double kToBoundary = 0.9;  // of the way to kappa_x = 0 that a step may go
constexpr double kSteepest = 2;      // greatest step of log tau

Rising rising_sum(const Run* run, const Run* end, double a) {
  Rising sum{0, 0, 0};
  for (; run != end; ++run) {
    const Rising r = rising(a, run->n);
    sum.value += run->times * r.value;
    sum.d1 += run->times * r.d1;
    sum.d2 += run->times * r.d2;
  }
  return sum;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t x = 0; x < a.size(); ++x) sum += a[x] * b[x];
  return sum;
}

// The inverse of the Hessian in (kappa, u) where sum kappa is held: diagonal in kappa, with one border for u. It is
// made negative definite where it is not, so that steps go uphill.
class Curvature {
 public:
  Curvature(const DirichletDerivatives& at, const std::vector<double>& kappa) : cross_(at.cross), inverse_(at.h) {
    for (size_t x = 0; x < kappa.size(); ++x) {
      const double least = 1e-6 / (kappa[x] * kappa[x]);
      inverse_[x] = -1 / std::max(at.h[x] < 0 ? -at.h[x] : at.h[x], least);
      sum_ += inverse_[x];
    }
    projected_ = project(cross_);
    schur_ = at.h_u - dot(cross_, projected_);
    joint_ = schur_ < 0;
    if (!joint_) {  // tau by itself
      schur_ = -std::max(std::abs(at.h_u), std::abs(at.g_u));
      std::fill(cross_.begin(), cross_.end(), 0.0);
      std::fill(projected_.begin(), projected_.end(), 0.0);
    }
  }

  // v with its constant part taken out: what is left of a gradient under the constraint.
  std::vector<double> centred(const std::vector<double>& v) const {
    const double mean = dot(inverse_, v) / sum_;
    std::vector<double> out(v);
    for (double& value : out) value -= mean;
    return out;
  }

  // (kappa, u) = inverse Hessian times (v, m).
  std::vector<double> solve(const std::vector<double>& v, double m, double& u) const {
    std::vector<double> out = project(v);
    u = schur_ == 0 ? 0.0 : (m - dot(cross_, out)) / schur_;
    for (size_t x = 0; x < out.size(); ++x) out[x] -= u * projected_[x];
    return out;
  }

 private:
  std::vector<double> project(const std::vector<double>& v) const {
    std::vector<double> out = centred(v);
    for (size_t x = 0; x < out.size(); ++x) out[x] *= inverse_[x];
    return out;
  }

  std::vector<double> cross_, inverse_, projected_;
  double sum_ = 0, schur_ = 0;
  bool joint_ = true;
};

}  // namespace

void DirichletTable::end_column() {
  double total = 0;
  for (size_t c = cells_.size(); c-- > 0 && cells_[c].column == totals_.size();) total += cells_[c].count;
  totals_.push_back(total);
}

void DirichletTable::start(double s, double weight) {
  n_columns_ = static_cast<double>(totals_.size());
  kappa_.assign(share_.size(), 0.0);
  for (size_t x = 0; x < share_.size(); ++x) kappa_[x] = weight * share_[x];
  // A column's frequencies measure kappa with the weight n (1 + s) / (n + s): their variance is
  // kappa (1 - kappa) (n + s) / (n (1 + s)).
  for (const Cell& cell : cells_) kappa_[cell.value] += cell.count * (1 + s) / (totals_[cell.column] + s);
  tau_ = 0;
  for (double k : kappa_) tau_ += k;
  for (double& k : kappa_) k /= tau_;

  // Sorted, so that sums do not depend on the order of the columns.
  std::sort(cells_.begin(), cells_.end(),
            [](const Cell& a, const Cell& b) { return a.value != b.value ? a.value < b.value : a.count < b.count; });
  run_ptr_.assign(share_.size() + 1, 0);
  for (size_t c = 0; c < cells_.size(); ++c) {
    if (c && cells_[c].value == cells_[c - 1].value && cells_[c].count == cells_[c - 1].count) {
      ++runs_.back().times;
    } else {
      runs_.push_back({cells_[c].count, 1});
      ++run_ptr_[cells_[c].value + 1];
    }
  }
  for (size_t x = 0; x < share_.size(); ++x) run_ptr_[x + 1] += run_ptr_[x];
  std::sort(totals_.begin(), totals_.end());
  for (double total : totals_) {
    if (columns_.empty() || columns_.back().n != total) columns_.push_back({total, 0});
    ++columns_.back().times;
  }
  cells_ = {};
  totals_ = {};
}

DirichletTable::Prior DirichletTable::prior(double weight) const {
  Prior prior{share_, 0, 0};
  for (double& a0 : prior.a0) {
    a0 *= weight;
    prior.s0 += a0;
    const GammaTerms terms = gamma_terms(a0);
    prior.constant -= terms.w - a0 * terms.e;
  }
  const GammaTerms terms = gamma_terms(prior.s0);
  prior.constant += terms.w - prior.s0 * terms.e;
  return prior;
}

// The bound of appendix B.1 with nu at its optimum n + s kappa (eq. 14), where the terms in nu add up to the likelihood
// of the counts given alpha = s kappa. The rest is written in GammaTerms of t = tau kappa: log kappa - psi(t) +
// psi(tau) is e(t) - e(tau), the entropy of Dirichlet(t) is a sum of w. The derivatives are those of B.3.1 and B.3.2
// for that form, with the second derivative of the likelihood and the cross term of kappa and tau besides.
DirichletDerivatives DirichletTable::derivatives(double s, const Prior& prior, const std::vector<double>& kappa,
                                                 double tau) const {
  const size_t size = kappa.size();
  const double n = n_columns_, loss = n * s * (static_cast<double>(size) - 1) / tau;
  DirichletDerivatives at;
  at.g.resize(size);
  at.h.resize(size);
  at.cross.resize(size);
  const GammaTerms all = gamma_terms(tau);
  const double columns = rising_sum(columns_.data(), columns_.data() + columns_.size(), s).value;
  at.bound = prior.constant - columns - all.w - loss;
  at.noise = std::abs(prior.constant) + std::abs(columns) + loss;
  at.g_u = loss;
  at.h_u = -loss;
  for (size_t x = 0; x < size; ++x) {
    const double k = kappa[x], t = tau * k, a0 = prior.a0[x], free = s * k - 1;
    const GammaTerms here = gamma_terms(t);
    const Rising data = rising_sum(runs_.data() + run_ptr_[x], runs_.data() + run_ptr_[x + 1], s * k);
    const double b = a0 - t - n * free, excess = here.e - all.e, slope = here.q1 - all.q1;
    const double belief = a0 * (std::log(k * prior.s0 / a0) - excess);
    at.bound += data.value + n * free * excess + here.w + belief;
    at.noise += std::abs(data.value) + std::abs(n * free * excess) + std::abs(belief);
    at.g[x] = s * data.d1 + n * s * here.e + (a0 + here.q1 * b) / k;
    at.h[x] = s * s * data.d2 + ((here.q2 * b - a0) / k - here.q1 * (tau + 2 * n * s)) / k;
    at.cross[x] = (here.q1 + here.q2) * b / k - slope * (tau + n * s);
    at.g_u += slope * b;
    at.h_u += (here.q1 + here.q2 - all.q1 - all.q2) * b - slope * t;
  }
  at.noise *= kRounding;
  return at;
}

int DirichletTable::solve(double s, double weight, int max_iterations) {
  const Prior prior = this->prior(weight);
  DirichletDerivatives at = derivatives(s, prior, kappa_, tau_);
  bound_ = at.bound;
  if (kappa_.size() < 2) return 0;
  std::vector<double> next(kappa_.size());
  double last_size = 0.1;
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    const Curvature curvature(at, kappa_);
    double du;
    const std::vector<double> g = curvature.centred(at.g);
    std::vector<double> dk = curvature.solve(at.g, at.g_u, du);  // minus the step, until the next lines
    du = -du;
    double step = std::min(1.0, kSteepest / std::max(std::abs(du), 1e-300)), size = std::abs(du);
    for (size_t x = 0; x < dk.size(); ++x) {
      dk[x] = -dk[x];
      if (dk[x] < 0) step = std::min(step, kToBoundary * kappa_[x] / -dk[x]);
      size = std::max(size, std::abs(dk[x]) / kappa_[x]);
    }
    const double gain = dot(g, dk) + at.g_u * du;
    // A gain that rounding hides cannot be measured. The gradient is more exact than the bound, so that steps are
    // taken on trust as long as they shrink.
    const bool hidden = !(gain > at.noise);
    if (hidden && size > 0.5 * last_size) return iteration;
    last_size = size;
    for (;; step /= 2) {
      double sum = 0;
      for (size_t x = 0; x < dk.size(); ++x) sum += next[x] = kappa_[x] + step * dk[x];
      for (double& k : next) k /= sum;
      const double tau = tau_ * std::exp(step * du);
      DirichletDerivatives there = derivatives(s, prior, next, tau);
      if (hidden || there.bound >= bound_ + 1e-4 * step * gain) {
        kappa_ = next;
        tau_ = tau;
        at = std::move(there);
        bound_ = at.bound;
        break;
      }
      if (step * gain < at.noise) return iteration;
    }
    if (size <= kTolerance) return iteration + 1;
  }
  return max_iterations;
}

double DirichletTable::draws(double a) const {
  double sum = 0;
  for (size_t x = 0; x < kappa_.size(); ++x) {
    const double ax = a * kappa_[x];
    sum += ax * rising_sum(runs_.data() + run_ptr_[x], runs_.data() + run_ptr_[x + 1], ax).d1;
  }
  return sum;
}

void DirichletTable::move_to(const Point& point) {
  kappa_ = point.kappa;
  tau_ = point.tau;
  bound_ = point.bound;
}

HyperDerivatives DirichletTable::hyper_derivatives(double s, double weight, bool profiled) const {
  const size_t size = kappa_.size();
  HyperDerivatives out;
  if (size < 2) return out;
  const Prior prior = this->prior(weight);
  const double n = n_columns_, loss = n * s * (static_cast<double>(size) - 1) / tau_;
  const GammaTerms all = gamma_terms(tau_), total = gamma_terms(prior.s0);
  const Rising columns = rising_sum(columns_.data(), columns_.data() + columns_.size(), s);
  std::vector<double> cross[2] = {std::vector<double>(size), std::vector<double>(size)};
  double cross_u[2] = {loss, 0};
  out.g[0] = -s * columns.d1 - loss;
  out.g[1] = -prior.s0 * total.e;
  out.h[0][0] = -s * s * columns.d2;
  out.h[1][1] = prior.s0 * total.q1;
  for (size_t x = 0; x < size; ++x) {
    const double k = kappa_[x], a = s * k, a0 = prior.a0[x];
    const GammaTerms here = gamma_terms(tau_ * k), base = gamma_terms(a0);
    const Rising data = rising_sum(runs_.data() + run_ptr_[x], runs_.data() + run_ptr_[x + 1], a);
    const double excess = here.e - all.e, slope = here.q1 - all.q1;
    out.g[0] += a * data.d1 + n * a * excess;
    out.g[1] += a0 * (std::log(k * prior.s0 / a0) - excess + base.e);
    out.h[0][0] += a * a * data.d2;
    out.h[1][1] -= a0 * base.q1;
    cross[0][x] = s * (data.d1 + a * data.d2 + n * (here.e - here.q1));
    cross[1][x] = a0 * (1 + here.q1) / k;
    cross_u[0] -= n * a * slope;
    cross_u[1] += a0 * slope;
  }
  for (int i = 0; i < 2; ++i) out.h[i][i] += out.g[i];
  if (!profiled) return out;
  const Curvature curvature(derivatives(s, prior, kappa_, tau_), kappa_);
  for (int j = 0; j < 2; ++j) {
    double u;
    const std::vector<double> moved = curvature.solve(cross[j], cross_u[j], u);
    for (int i = 0; i < 2; ++i) out.h[i][j] -= dot(cross[i], moved) + cross_u[i] * u;
  }
  return out;
}

}  // namespace countwise
