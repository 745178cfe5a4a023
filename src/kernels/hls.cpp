#include "hls.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace countwise {

namespace {

constexpr double kNothing = 1e-10;  // a share of the whole that may be rounding: means over it say nothing

// What is left of information behind an edge of this ridge penalty: the two in series.
CW_INLINE double through(double ridge, double information) {
  return information > 0 ? ridge * information / (ridge + information) : 0.0;
}

// -log of a value's probability p after `out` of the N rows at its node, all of that value, are gone. Its log odds z
// are known otherwise with information h, in balance with the rows before: the root of
//   N p - out - (N - out) s(z) - h (z - z_0) = 0,   s(z) = 1 / (1 + exp(-z)).
double without_row(double p, double total, double out, double h) {
  const double start = std::log(p / (1 - p)), left = std::max(total - out, 0.0);
  double low = start - out * (1 - p) / h, high = start, z = start;
  for (int i = 0; i < 30; ++i) {
    const double s = 1 / (1 + std::exp(-z)), excess = total * p - out - left * s - h * (z - start);
    (excess > 0 ? low : high) = z;
    double next = z + excess / (left * s * (1 - s) + h);
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (std::fabs(next - z) < 1e-6) break;
    z = next;
  }
  return z < -30 ? -z : std::log1p(std::exp(-z));
}

}  // namespace

TreeRegression::TreeRegression(const HlsData& data)
    : tree_(data.tree),
      counts_(data.counts),
      prior_(data.prior),
      n_cells_(tree_.n_cells()),
      link_(n_cells_),
      leaf_(tree_.n_nodes, 1),
      total_(tree_.n_nodes),
      rest_values_(tree_.n_nodes) {
  for (auto* cells : {&proba_, &log_proba_, &below_, &above_, &scratch_}) cells->resize(n_cells_);
  for (auto* nodes :
       {&absent_, &rest_, &reach_, &rest_below_, &rest_above_, &passed_, &informed_, &uncovered_, &known_, &spread_})
    nodes->resize(tree_.n_nodes);
  link_cells(tree_, link_.data());
  for (size_t node = 1; node < tree_.n_nodes; ++node) leaf_[tree_.parent[node]] = 0;
  for (size_t node = tree_.n_nodes; node-- > 0;) {
    const int64_t begin = tree_.cell_ptr[node], end = tree_.cell_ptr[node + 1];
    rest_values_[node] = static_cast<double>(tree_.arity) - static_cast<double>(end - begin);
    if (leaf_[node])
      for (int64_t c = begin; c < end; ++c) total_[node] += counts_[c];
  }
}

double TreeRegression::n_rows() const { return std::accumulate(total_.begin(), total_.end(), 0.0); }

std::vector<double> TreeRegression::start() const {
  std::vector<double> x(size()), counts(n_cells_);
  for (size_t node = tree_.n_nodes; node-- > 0;)
    for (int64_t c = tree_.cell_ptr[node]; c < tree_.cell_ptr[node + 1]; ++c) {
      if (leaf_[node]) counts[c] = counts_[c];
      if (node) counts[link_[c]] += counts[c];
    }
  const double each = prior_ / static_cast<double>(tree_.arity);
  for (int64_t c = 0; c < tree_.cell_ptr[1]; ++c) x[c] = std::log(counts[c] / each + 1);
  return x;
}

double TreeRegression::evaluate(const double* x, double* gradient) {
  double value = 0;
  for (size_t node = 0; node < tree_.n_nodes; ++node) value += descend(node, x);
  std::fill(gradient, gradient + n_cells_, 0.0);
  std::fill(below_.begin(), below_.end(), 0.0);
  std::copy(total_.begin(), total_.end(), reach_.begin());
  std::copy(total_.begin(), total_.end(), known_.begin());
  for (size_t node = tree_.n_nodes; node-- > 0;) ascend(node, x, gradient);
  return value;
}

// The estimates of a node whose parent has its own; returns the node's part of the value.
double TreeRegression::descend(size_t node, const double* x) {
  const int64_t begin = tree_.cell_ptr[node], end = tree_.cell_ptr[node + 1];
  const double each = 1.0 / static_cast<double>(tree_.arity), m = rest_values_[node], shared = x[n_cells_ + node];
  double top = shared, covered = 0, sum = 0, squares = m * shared * shared;
  for (int64_t c = begin; c < end; ++c) top = std::max(top, x[c]);
  for (int64_t c = begin; c < end; ++c) {
    const double base = node ? proba_[link_[c]] : each;
    proba_[c] = base * std::exp(x[c] - top);
    covered += base;
    sum += proba_[c];
    squares += x[c] * x[c];
  }
  const double uncovered = m > 0 ? (node ? std::max(0.0, 1 - covered) : m * each) : 0.0;
  const double factor = std::exp(shared - top);
  sum += factor * uncovered;
  const double scale = 1 / sum, log_sum = std::log(sum) + top, log_each = std::log(each);
  absent_[node] = factor * scale;
  uncovered_[node] = uncovered;
  rest_[node] = absent_[node] * uncovered;
  double log_likelihood = 0, log_prior = 0;
  for (int64_t c = begin; c < end; ++c) {
    proba_[c] *= scale;
    log_proba_[c] = (node ? log_proba_[link_[c]] : log_each) + x[c] - log_sum;
    log_likelihood += counts_[c] * log_proba_[c];
    log_prior += log_proba_[c];
  }
  log_prior += m * (log_each + shared - log_sum);
  return 0.5 * ridge(node) * squares - (leaf_[node] ? log_likelihood : 0.0) - (node ? 0.0 : prior_ * each * log_prior);
}

// The gradient and the information of a node whose children have added theirs. Children without a cell for a value
// expect `reach` times its probability here; `reach` counts all children, so those with a cell take it back. `known` is
// the same for information.
void TreeRegression::ascend(size_t node, const double* x, double* gradient) {
  const int64_t begin = tree_.cell_ptr[node], end = tree_.cell_ptr[node + 1];
  const double each = 1.0 / static_cast<double>(tree_.arity), m = rest_values_[node];
  const double reach = reach_[node], known = known_[node], lambda = ridge(node), rest_lambda = rest_ridge(node);
  const double rest_below = known * rest_[node], back = m > 0 ? reach * absent_[node] : 0.0;
  const double known_back = m > 0 ? known * absent_[node] * rest_lambda / (rest_lambda + rest_below) : 0.0;
  rest_below_[node] = rest_below;
  gradient[n_cells_ + node] = reach * rest_[node] + rest_lambda * x[n_cells_ + node];
  if (!node) gradient[n_cells_] += prior_ * (rest_[0] - each * m);
  double passed = m > 0 ? through(rest_lambda, rest_below) : 0.0;
  for (int64_t c = begin; c < end; ++c) {
    below_[c] = std::max(below_[c] + known * proba_[c], 0.0);
    gradient[c] += reach * proba_[c] - (leaf_[node] ? counts_[c] : 0.0);
    if (node) {
      const double a = through(lambda, below_[c]);
      gradient[link_[c]] += gradient[c] - back * proba_[link_[c]];
      below_[link_[c]] += a - known_back * proba_[link_[c]];
      passed += a;
      gradient[c] += lambda * x[c];
    } else {
      gradient[c] += prior_ * (proba_[c] - each);
    }
  }
  passed_[node] = passed;
  if (!node) return;
  reach_[tree_.parent[node]] += back;
  known_[tree_.parent[node]] += known_back;
}

// (ridge + diag(d) - d d' / sum(d))^-1 t = (t + d theta) / (ridge + d); this is theta. t of the cells is in `t`.
double TreeRegression::common(size_t node, const double* t, double rest_t) const {
  double sum = rest_below_[node] > 0 ? rest_t * rest_below_[node] / (rest_ridge(node) + rest_below_[node]) : 0.0;
  for (int64_t c = tree_.cell_ptr[node]; c < tree_.cell_ptr[node + 1]; ++c)
    sum += t[c] * below_[c] / (penalty_ + below_[c]);
  return passed_[node] > 0 ? sum / passed_[node] : 0.0;
}

// Solves P z = v for the pooled Hessian P: from the leaves up, what a node pulls its parent to; down, where it ends.
// The predictor of a node's absent values is their mean; the parent's mean over them is that over all less that of
// cells.
void TreeRegression::precondition(double* v) {
  double *pull = scratch_.data(), *rest_v = v + n_cells_;
  std::fill(scratch_.begin(), scratch_.end(), 0.0);
  std::fill(spread_.begin(), spread_.end(), 0.0);
  for (size_t node = tree_.n_nodes; node-- > 0;) {
    const int64_t begin = tree_.cell_ptr[node], end = tree_.cell_ptr[node + 1];
    const double rest_t = rest_v[node] + spread_[node] * rest_[node];
    for (int64_t c = begin; c < end; ++c) pull[c] += v[c] + spread_[node] * proba_[c];
    if (!node) {
      rest_v[0] = rest_t;
      break;
    }
    const double theta = common(node, pull, rest_t);
    double share = 0;
    if (uncovered_[node] > kNothing) {
      const double d = rest_below_[node], lambda = rest_ridge(node);
      share = (lambda * (rest_t + d * theta) / (lambda + d) - rest_v[node]) / uncovered_[node];
    }
    for (int64_t c = begin; c < end; ++c) {
      const double y = (pull[c] + below_[c] * theta) / (penalty_ + below_[c]);
      pull[link_[c]] += penalty_ * y - v[c] - share * proba_[link_[c]];
      v[c] = pull[c];
    }
    rest_v[node] = rest_t;
    spread_[tree_.parent[node]] += share;
  }
  settle(v);
}

// The way down: v holds what pulls each coefficient, and becomes the solution; `spread` is now the mean predictor.
void TreeRegression::settle(double* v) {
  double *predictor = scratch_.data(), *rest_v = v + n_cells_;
  // The root has no ridge, and a common shift of its predictors changes nothing: diag(d) alone is its pseudo-inverse.
  double mean = 0;
  for (int64_t c = 0; c < tree_.cell_ptr[1]; ++c) {
    predictor[c] = v[c] = predictor[c] / (below_[c] + prior_ * proba_[c]);
    mean += proba_[c] * predictor[c];
  }
  rest_v[0] = rest_[0] > 0 ? rest_v[0] / (rest_below_[0] + prior_ * rest_[0]) : 0.0;
  spread_[0] = mean + rest_[0] * rest_v[0];
  for (size_t node = 1; node < tree_.n_nodes; ++node) {
    const int64_t begin = tree_.cell_ptr[node], end = tree_.cell_ptr[node + 1];
    const double m = rest_values_[node], d = rest_below_[node];
    double covered = 0, rest_base = 0, rest_t = 0, rest_predictor = 0;
    for (int64_t c = begin; c < end; ++c) {
      covered += proba_[link_[c]] * predictor[link_[c]];
      v[c] += penalty_ * predictor[link_[c]];
    }
    if (uncovered_[node] > kNothing) rest_base = (spread_[tree_.parent[node]] - covered) / uncovered_[node];
    if (m > 0) rest_t = rest_v[node] + rest_ridge(node) * rest_base;
    const double theta = common(node, v, rest_t);
    if (m > 0) rest_predictor = (rest_t + d * theta) / (rest_ridge(node) + d);
    mean = rest_[node] * rest_predictor;
    for (int64_t c = begin; c < end; ++c) {
      predictor[c] = (v[c] + below_[c] * theta) / (penalty_ + below_[c]);
      mean += proba_[c] * predictor[c];
      v[c] = predictor[c] - predictor[link_[c]];
    }
    rest_v[node] = m > 0 ? rest_predictor - rest_base : 0.0;
    spread_[node] = mean;
  }
}

// Information about every node from the rest of the tree; `informed` sums both kinds over all values of a node.
void TreeRegression::look_down() {
  for (size_t node = 0; node < tree_.n_nodes; ++node) {
    const int64_t begin = tree_.cell_ptr[node], end = tree_.cell_ptr[node + 1];
    double informed = 0, covered = 0;
    for (int64_t c = begin; c < end; ++c) {
      if (node) {
        const double parent = above_[link_[c]] + below_[link_[c]];
        above_[c] = through(penalty_, std::max(parent - through(penalty_, below_[c]), kNothing * parent));
        covered += parent;
      } else {
        above_[c] = prior_ * proba_[c];
      }
      informed += above_[c] + below_[c];
    }
    rest_above_[node] = prior_ * rest_[0];
    if (node) {
      const double parent = informed_[tree_.parent[node]], own = through(rest_ridge(node), rest_below_[node]);
      rest_above_[node] = through(rest_ridge(node), std::max(parent - covered - own, kNothing * parent));
    }
    informed_[node] = informed + rest_above_[node] + rest_below_[node];
  }
}

// With c = (N - 1) p + b, b the information from above, one Newton step without a row of value k is
//   delta_v = (kappa p_v - [v = k]) / c_v,   kappa = (b_k / c_k) / sum_v (p_v b_v / c_v),
// up to a shift. It says what information there is about the log odds of k from above; without_row() does the rest.
double TreeRegression::leaf_loss(size_t leaf) const {
  const double others = std::max(total_[leaf] - 1, 0.0);
  double free = 0, mean = 0;
  const auto add = [&](double p, double above) {
    const double c = others * p + above;
    free += p * above / c;
    mean += p * p / c;
  };
  const int64_t begin = tree_.cell_ptr[leaf], end = tree_.cell_ptr[leaf + 1];
  for (int64_t c = begin; c < end; ++c) add(proba_[c], above_[c]);
  if (rest_[leaf] > 0) add(rest_[leaf], rest_above_[leaf]);
  double loss = 0;
  for (int64_t c = begin; c < end; ++c) {
    const double p = proba_[c], q = 1 - p, information = others * p + above_[c];
    if (!(counts_[c] > 0) || !(q > 0)) continue;
    const double kappa = above_[c] / (information * free);
    const double step = (1 - kappa * p) / information + kappa * (mean - p * p / information) / q;
    const double above = std::max(q / step - others * p * q, 1e-9);
    loss += counts_[c] * without_row(p, total_[leaf], std::min(1.0, counts_[c]), above);
  }
  return loss;
}

double TreeRegression::leave_one_out() {
  look_down();
  double loss = 0;
  for (size_t node = 0; node < tree_.n_nodes; ++node)
    if (leaf_[node]) loss += leaf_loss(node);
  return loss;
}

double TreeRegression::held_out(const double* counts) const {
  double loss = 0;
  for (size_t node = 0; node < tree_.n_nodes; ++node)
    if (leaf_[node])
      for (int64_t c = tree_.cell_ptr[node]; c < tree_.cell_ptr[node + 1]; ++c) loss -= counts[c] * log_proba_[c];
  return loss;
}

void TreeRegression::write(const ShrunkOut& out) {
  look_down();
  std::copy(proba_.begin(), proba_.end(), out.cell_proba);
  std::copy(absent_.begin(), absent_.end(), out.absent);
  for (size_t node = 0; node < tree_.n_nodes; ++node) {
    // Given information c the variance of p_k is p_k^2 ((1 - 2 p_k) / c_k + sum_v p_v^2 / c_v): p_k (1 - p_k) / sum(c)
    // if c is as p.
    double squares = 0, spread = 0, skew = 0;
    const auto add = [&](double p, double information) {
      squares += p * p;
      spread += p * p / information;
      skew += p * p * p / information;
    };
    for (int64_t c = tree_.cell_ptr[node]; c < tree_.cell_ptr[node + 1]; ++c) add(proba_[c], above_[c] + below_[c]);
    if (rest_[node] > 0) add(rest_[node], rest_above_[node] + rest_below_[node]);
    const double shared = 1 - squares, variance = spread - 2 * skew + squares * spread;
    out.precision[node] = shared > 1e-9 && variance > 0 ? shared / variance : informed_[node];
  }
}

namespace {

// From far away Newton's steps are too long. So the penalty comes down from one that leaves all nodes near the root, by
// no more than a factor of ten at a time; each minimum is a start for the next.
double anneal(TreeRegression& model, double from, double to, const LbfgsOptions& options, std::vector<double>& x) {
  constexpr double kFactor = 10, kNear = 1;  // nats
  for (double penalty = from; penalty > kFactor * to; penalty /= kFactor) {
    model.set_penalty(penalty);
    minimise(model, x, {std::max(kNear, options.tolerance), options.max_iterations});
  }
  model.set_penalty(to);
  return minimise(model, x, options);
}

}  // namespace

void hls_losses(const HlsData& data, const double* penalties, size_t n_penalties, const double* held_out,
                const LbfgsOptions& options, double* out) {
  TreeRegression model(data);
  std::vector<double> x = model.start();
  double from = model.n_rows();
  for (size_t i = 0; i < n_penalties; ++i) {
    anneal(model, from, penalties[i], options, x);
    out[i] = held_out ? model.held_out(held_out) : model.leave_one_out();
    from = penalties[i];
    if (!held_out && i > 1 && out[i] > out[i - 1] && out[i - 1] > out[i - 2]) {
      std::fill(out + i + 1, out + n_penalties, std::numeric_limits<double>::infinity());
      break;
    }
  }
}

double hls_fit(const HlsData& data, double penalty, const LbfgsOptions& options, const ShrunkOut& out) {
  TreeRegression model(data);
  std::vector<double> x = model.start();
  const double value = anneal(model, model.n_rows(), penalty, options, x);
  model.write(out);
  return value;
}

}  // namespace countwise
