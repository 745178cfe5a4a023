#include "softmax_fit.hpp"

#include <algorithm>
#include <cmath>

#include "lbfgs.hpp"

namespace countwise {
namespace {

constexpr double kColdest = -7, kHottest = 3;  // of the log temperature
constexpr int kNewtonSteps = 20;
constexpr double kDecrement = 1e-3;  // Newton's method stops below, in nats of all rows together
constexpr LbfgsOptions kWeightOptions{1e-2, 30};
constexpr size_t kBlockBytes = size_t{1} << 18;  // of terms: a block of rows is read twice, and stays in the cache

// The loss of one row; its scores become weight * (p - 1[y]).
double row_loss(const JudgedRows& rows, size_t row, double* score) {
  const size_t width = rows.n_classes;
  const uint32_t y = rows.target[row];
  const double top = *std::max_element(score, score + width), own = score[y] - top, weight = rows.weights[row];
  double sum = 0;
  for (size_t c = 0; c < width; ++c) sum += score[c] = std::exp(score[c] - top);
  for (size_t c = 0; c < width; ++c) score[c] *= weight / sum;
  score[y] -= weight;
  return weight * (std::log(sum) - own);
}

// Solves A x = b for a symmetric positive definite A (n x n, row by row), in place of b; A becomes its factor.
void solve(std::vector<double>& a, std::vector<double>& b) {
  const size_t n = b.size();
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
}

// Temperature and biases: position 0 is the log temperature, then the classes.
class TemperatureFit {
 public:
  TemperatureFit(const JudgedRows& rows, const double* offset, const double* evidence, const FitPriors& priors)
      : rows_(rows), offset_(offset), evidence_(evidence), priors_(priors), residual_(rows.n_rows * rows.n_classes) {}

  double evaluate(const std::vector<double>& x) {
    const size_t width = rows_.n_classes;
    const double t = std::exp(x[0]);
    double loss = 0.5 * square((x[0] - priors_.temperature_mean) / priors_.temperature_sd);
    for (size_t c = 0; c < width; ++c) loss += 0.5 * square(x[1 + c] / priors_.bias_sd);
    for (size_t row = 0; row < rows_.n_rows; ++row) {
      double* score = &residual_[row * width];
      for (size_t c = 0; c < width; ++c)
        score[c] = offset_[row * width + c] + x[1 + c] + t * evidence_[row * width + c];
      loss += row_loss(rows_, row, score);
    }
    return loss;
  }

  // Minus the gradient at the point evaluated last becomes Newton's step; returns twice the fall that it promises. Of
  // the second derivative by the log temperature only the part is kept that cannot be negative.
  double newton_step(const std::vector<double>& x, std::vector<double>& step) {
    const size_t width = rows_.n_classes, n = 1 + width;
    const double t = std::exp(x[0]);
    std::vector<double> gradient(n), hessian(n * n, 0.0);
    gradient[0] = (x[0] - priors_.temperature_mean) / square(priors_.temperature_sd);
    hessian[0] = 1 / square(priors_.temperature_sd);
    for (size_t c = 0; c < width; ++c) {
      gradient[1 + c] = x[1 + c] / square(priors_.bias_sd);
      hessian[(1 + c) * n + 1 + c] = 1 / square(priors_.bias_sd);
    }
    std::vector<double> p(width), slope(width);
    for (size_t row = 0; row < rows_.n_rows; ++row) {
      const double *residual = &residual_[row * width], weight = rows_.weights[row];
      double mean = 0, moment = 0;
      for (size_t c = 0; c < width; ++c) {
        slope[c] = t * evidence_[row * width + c];
        p[c] = residual[c] / weight + (c == rows_.target[row] ? 1.0 : 0.0);
        gradient[0] += residual[c] * slope[c];
        gradient[1 + c] += residual[c];
        mean += p[c] * slope[c];
        moment += p[c] * slope[c] * slope[c];
      }
      hessian[0] += weight * (moment - mean * mean);
      for (size_t c = 0; c < width; ++c) {
        double* line = &hessian[(1 + c) * n];
        line[0] += weight * p[c] * (slope[c] - mean);
        line[1 + c] += weight * p[c];
        for (size_t d = 0; d <= c; ++d) line[1 + d] -= weight * p[c] * p[d];
      }
    }
    for (size_t i = 0; i < n; ++i) step[i] = -gradient[i];
    solve(hessian, step);
    double promised = 0;
    for (size_t i = 0; i < n; ++i) promised -= gradient[i] * step[i];
    return promised;
  }

 private:
  static double square(double x) { return x * x; }

  const JudgedRows& rows_;
  const double *offset_, *evidence_;
  const FitPriors& priors_;
  std::vector<double> residual_;  // weight * (p - 1[y]) at the point evaluated last
};

// Weights and biases in units of their priors, which makes the problem round: own changes of the terms, common changes
// of the groups, biases.
class WeightFit {
 public:
  WeightFit(const JudgedRows& rows, const double* offset, const JudgedTerms& terms, const FitPriors& priors,
            int n_threads)
      : rows_(rows), offset_(offset), terms_(terms), priors_(priors), n_threads_(n_threads), weight_(terms.n_terms) {
    const size_t row_bytes = std::max<size_t>(1, terms.n_terms) * rows.n_classes * sizeof(double);
    block_rows_ = std::clamp<size_t>(kBlockBytes / row_bytes, 8, 256);
    n_blocks_ = (rows.n_rows + block_rows_ - 1) / block_rows_;
    n_shares_ = std::min<size_t>(n_blocks_, 64);
    curvature_.assign(size(), 1.0);
    add_curvature();
  }

  size_t size() const { return terms_.n_terms + terms_.n_groups + rows_.n_classes; }

  // The weights and biases that x stands for.
  void read(const double* x, double* weight, double* bias) const {
    const double* common = x + terms_.n_terms;
    for (size_t j = 0; j < terms_.n_terms; ++j) weight[j] = 1 + priors_.weight_sd * (x[j] + common[terms_.group[j]]);
    for (size_t c = 0; c < rows_.n_classes; ++c) bias[c] = priors_.bias_sd * common[terms_.n_groups + c];
  }

  double evaluate(const double* x, double* gradient) {
    const size_t n_terms = terms_.n_terms, width = rows_.n_classes;
    std::vector<double> bias(width);
    read(x, weight_.data(), bias.data());
    // Shares do not depend on the number of threads, so that sums don't either.
    const size_t length = n_terms + width + 1;
    std::vector<double> sums(n_shares_ * length, 0.0);
    for_shares([&](size_t share, size_t begin, size_t end, std::vector<double>& score) {
      double* own = &sums[share * length];
      start(begin, end, bias.data(), score);
      for (size_t row = begin; row < end; ++row) own[length - 1] += row_loss(rows_, row, &score[(row - begin) * width]);
      for (size_t j = 0; j < n_terms; ++j) own[j] += dot(term(j, begin), score.data(), (end - begin) * width);
      for (size_t i = 0; i < (end - begin) * width; ++i) own[n_terms + i % width] += score[i];
    });
    double loss = 0;
    std::fill_n(gradient, size(), 0.0);
    for (size_t share = 0; share < n_shares_; ++share) {
      const double* own = &sums[share * length];
      for (size_t j = 0; j < n_terms; ++j) gradient[j] += priors_.weight_sd * own[j];
      for (size_t c = 0; c < width; ++c) gradient[n_terms + terms_.n_groups + c] += priors_.bias_sd * own[n_terms + c];
      loss += own[length - 1];
    }
    for (size_t j = 0; j < n_terms; ++j) gradient[n_terms + terms_.group[j]] += gradient[j];
    for (size_t i = 0; i < size(); ++i) {
      gradient[i] += x[i];
      loss += 0.5 * x[i] * x[i];
    }
    return loss;
  }

  void precondition(double* v) const {
    for (size_t i = 0; i < curvature_.size(); ++i) v[i] /= curvature_[i];
  }

 private:
  const double* term(size_t j, size_t row) const { return terms_.values + (j * rows_.n_rows + row) * rows_.n_classes; }

  CW_CLONES static void add(double* sum, const double* values, double factor, size_t size) {
    for (size_t i = 0; i < size; ++i) sum[i] += factor * values[i];
  }

  CW_CLONES static double dot(const double* a, const double* b, size_t size) {
    double sum[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= size; i += 4)
      for (size_t j = 0; j < 4; ++j) sum[j] += a[i + j] * b[i + j];
    for (; i < size; ++i) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }

  // The scores of some rows.
  void start(size_t begin, size_t end, const double* bias, std::vector<double>& score) const {
    const size_t width = rows_.n_classes, size = (end - begin) * width;
    score.assign(offset_ + begin * width, offset_ + end * width);
    if (bias)
      for (size_t i = 0; i < size; ++i) score[i] += bias[i % width];
    for (size_t j = 0; j < terms_.n_terms; ++j) add(score.data(), term(j, begin), bias ? weight_[j] : 1.0, size);
  }

  // The diagonal of the Hessian at weights of 1, of what terms and biases add to.
  void add_curvature() {
    const size_t n_terms = terms_.n_terms, width = rows_.n_classes, length = n_terms + width;
    std::vector<double> sums(n_shares_ * length, 0.0);
    for_shares([&](size_t share, size_t begin, size_t end, std::vector<double>& score) {
      double* own = &sums[share * length];
      start(begin, end, nullptr, score);
      for (size_t row = begin; row < end; ++row) {
        double* p = &score[(row - begin) * width];
        row_loss(rows_, row, p);
        p[rows_.target[row]] += rows_.weights[row];
        for (size_t c = 0; c < width; ++c) own[n_terms + c] += p[c] * (1 - p[c] / rows_.weights[row]);
        for (size_t j = 0; j < n_terms; ++j) {
          const double* z = term(j, row);
          double mean = 0, moment = 0;
          for (size_t c = 0; c < width; ++c) mean += p[c] * z[c], moment += p[c] * z[c] * z[c];
          own[j] += moment - mean * mean / rows_.weights[row];
        }
      }
    });
    const double by_term = priors_.weight_sd * priors_.weight_sd, by_class = priors_.bias_sd * priors_.bias_sd;
    for (size_t share = 0; share < n_shares_; ++share) {
      const double* own = &sums[share * length];
      for (size_t j = 0; j < n_terms; ++j) {
        curvature_[j] += by_term * own[j];
        curvature_[n_terms + terms_.group[j]] += by_term * own[j];
      }
      for (size_t c = 0; c < width; ++c) curvature_[n_terms + terms_.n_groups + c] += by_class * own[n_terms + c];
    }
  }

  template <class F>
  void for_shares(F&& f) const {
    parallel_for(n_shares_, n_threads_, [&](size_t share) {
      std::vector<double> score;
      for (size_t b = n_blocks_ * share / n_shares_; b < n_blocks_ * (share + 1) / n_shares_; ++b)
        f(share, b * block_rows_, std::min(rows_.n_rows, (b + 1) * block_rows_), score);
    });
  }

  const JudgedRows& rows_;
  const double* offset_;
  const JudgedTerms& terms_;
  const FitPriors& priors_;
  const int n_threads_;
  size_t block_rows_, n_blocks_, n_shares_;
  std::vector<double> weight_, curvature_;
};

}  // namespace

double fit_temperature(const JudgedRows& rows, const double* offset, const double* evidence, const FitPriors& priors,
                       double& log_t, double* bias) {
  TemperatureFit fit(rows, offset, evidence, priors);
  std::vector<double> x{log_t}, step(1 + rows.n_classes), next(step.size());
  x.insert(x.end(), bias, bias + rows.n_classes);
  double value = fit.evaluate(x);
  for (int iteration = 0; iteration < kNewtonSteps; ++iteration) {
    const double promised = fit.newton_step(x, step);
    double share = 1, next_value;
    for (;; share *= 0.5) {
      for (size_t i = 0; i < x.size(); ++i) next[i] = x[i] + share * step[i];
      next[0] = std::clamp(next[0], kColdest, kHottest);
      next_value = fit.evaluate(next);
      if (next_value <= value - 1e-4 * share * promised || share < 1e-3) break;
    }
    if (!(next_value <= value)) break;  // only rounding is left, or nothing that is a number
    x = next;
    value = next_value;
    if (promised < kDecrement) break;
  }
  log_t = x[0];
  std::copy(x.begin() + 1, x.end(), bias);
  return value;
}

double fit_weights(const JudgedRows& rows, const double* offset, const JudgedTerms& terms, const FitPriors& priors,
                   int n_threads, double* weight, double* bias) {
  WeightFit fit(rows, offset, terms, priors, n_threads);
  std::vector<double> x(fit.size(), 0.0);
  const double value = minimise(fit, x, kWeightOptions);
  fit.read(x.data(), weight, bias);
  return value;
}

}  // namespace countwise
