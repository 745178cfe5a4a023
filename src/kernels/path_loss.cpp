#include "path_loss.hpp"

#include <algorithm>
#include <cmath>

#include "vector_math.hpp"

namespace countwise {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 19;  // of estimates: they are needed twice, and stay in the cache

// One step down for all rows and classes of a block: p = (n + a above) / (N + a), q = a / (N + a).
CW_CLONES void step_down(const double* n, const double* total, const double* above, double a, size_t size, double* p,
                         double* q) {
  for (size_t i = 0; i < size; ++i) {
    const double scale = 1 / (total[i] + a);
    p[i] = (n[i] + a * above[i]) * scale;
    q[i] = a * scale;
  }
}

CW_CLONES void logs(const double* p, size_t size, double* out) {
  for (size_t i = 0; i < size; ++i) out[i] = -log_of(1 / p[i]);
}

// One step up: g *= q; returns the sum of g (above - p), in four sums that do not wait for each other.
CW_CLONES double step_up(const double* p, const double* q, const double* above, size_t size, double* g) {
  double sum[4] = {0, 0, 0, 0};
  size_t i = 0;
  for (; i + 4 <= size; i += 4)
    for (size_t j = 0; j < 4; ++j) {
      g[i + j] *= q[i + j];
      sum[j] += g[i + j] * (above[i + j] - p[i + j]);
    }
  for (; i < size; ++i) {
    g[i] *= q[i];
    sum[0] += g[i] * (above[i] - p[i]);
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

constexpr int64_t kNowhere = -1;

// Looks for a row in a context tree, one class after the other.
class Walker {
 public:
  explicit Walker(const ContextTreeView& tree) : tree_(tree), first_child_(first_children(tree)) {}

  int64_t child(int64_t node, uint32_t code) const {
    return find(tree_.branch, first_child_[node], first_child_[node + 1], code);
  }
  int64_t cell(int64_t node, uint32_t value) const {
    return find(tree_.cell_value, tree_.cell_ptr[node], tree_.cell_ptr[node + 1], value);
  }

 private:
  static int64_t find(const int32_t* sorted, int64_t begin, int64_t end, uint32_t code) {
    const int32_t* at = std::lower_bound(sorted + begin, sorted + end, static_cast<int32_t>(code));
    return at != sorted + end && *at == static_cast<int32_t>(code) ? at - sorted : kNowhere;
  }

  const ContextTreeView& tree_;
  const std::vector<int32_t> first_child_;
};

}  // namespace

PathLoss::PathLoss(std::vector<double> class_counts, double root_concentration, size_t n_terms, size_t n_levels,
                   const PathRows& rows)
    : class_counts_(std::move(class_counts)),
      root_concentration_(root_concentration),
      n_levels_(n_levels),
      n_rows_(rows.n_rows),
      terms_(n_terms),
      target_(rows.n_rows),
      weights_(rows.n_rows, 1.0) {
  const double a = root_concentration, share = a / static_cast<double>(n_classes());
  double total = 0;
  for (double count : class_counts_) total += count;
  for (size_t row = 0; row < n_rows_; ++row) {
    target_[row] = code_at(rows.target, row);
    if (rows.weights) weights_[row] = rows.weights[row];
    const double left = std::min(weights_[row], 1.0);
    for (size_t c = 0; c < n_classes(); ++c) {
      const double count = std::max(0.0, class_counts_[c] - (c == target_[row] ? left : 0.0));
      log_prior_.push_back(std::log((count + share) / (total - left + a)));
    }
  }
}

void PathLoss::add_term(size_t position, const PathTerm& term, const PathRows& rows) {
  const size_t depth = term.parents.size() + 1, width = n_classes();
  const Walker walker(term.tree);
  Paths paths;
  paths.n_levels = depth + 1;
  paths.n.assign(depth * n_rows_ * width, 0.0);
  paths.total.assign(depth * n_rows_ * width, 0.0);
  paths.root.assign(n_rows_, 1.0);
  paths.speaks.assign(n_rows_, 0);
  std::vector<int64_t> own_cell(depth);
  for (size_t row = 0; row < n_rows_; ++row) {
    const uint32_t value = code_at(rows.columns[term.child], row), y = target_[row];
    if (value >= term.child_arity) continue;
    paths.speaks[row] = 1;
    size_t own_depth = 0;
    for (uint32_t c = 0; c < width; ++c) {
      int64_t node = walker.child(0, c);
      for (size_t level = 0; level < depth && node != kNowhere; ++level) {
        const size_t at = (level * n_rows_ + row) * width + c;
        const int64_t cell = walker.cell(node, value);
        paths.total[at] = term.total[node];
        if (cell != kNowhere) paths.n[at] = term.tree.cell_count[cell];
        if (c == y) own_cell[level] = cell, own_depth = level + 1;
        if (level + 1 < depth) node = walker.child(node, code_at(rows.columns[term.parents[level]], row));
      }
    }
    // A row whose walk ends early holds a code that was never counted: it is in none of this tree's counts.
    double left = own_depth == depth ? std::min(weights_[row], 1.0) : 0.0;
    for (size_t level = own_depth; level-- > 0;) {
      const size_t at = (level * n_rows_ + row) * width + y;
      paths.n[at] = std::max(0.0, paths.n[at] - left);
      paths.total[at] = std::max(0.0, paths.total[at] - left);
      if (own_cell[level] != kNowhere) left *= term.pass_up[own_cell[level]];
    }
    const int64_t root = walker.cell(0, value);
    const double a = root_concentration_, count = root == kNowhere ? 0.0 : term.tree.cell_count[root];
    paths.root[row] = (std::max(0.0, count - left) + a / static_cast<double>(term.child_arity)) /
                      (std::max(0.0, term.total[0] - left) + a);
  }
  terms_.at(position) = std::move(paths);
}

// Some rows at a time: estimates down every path, scores, then the gradient back up.
class PathLoss::Block {
 public:
  Block(const PathLoss& model, const PathParameters& at, size_t rows)
      : model_(model),
        at_(at),
        width_(model.n_classes()),
        stride_(rows * width_),
        p_(model.n_terms() * model.n_levels_ * stride_),
        q_(p_.size()),
        log_p_(model.n_terms() * stride_),
        score_(stride_),
        g_(stride_) {}

  double add(size_t begin, size_t end, const PathGradient& gradient) {
    const size_t size = (end - begin) * width_;
    std::copy_n(&model_.log_prior_[begin * width_], size, score_.data());
    for (size_t i = 0; i < size; ++i) score_[i] += at_.bias[i % width_];
    for (size_t t = 0; t < model_.n_terms(); ++t) descend(t, begin, end);
    double loss = 0;
    for (size_t row = begin; row < end; ++row) loss += normalise(row, &score_[(row - begin) * width_], gradient.bias);
    for (size_t t = 0; t < model_.n_terms(); ++t) climb(t, size, gradient);
    return loss;
  }

 private:
  double* p(size_t t, size_t level) { return &p_[(t * model_.n_levels_ + level) * stride_]; }
  double* q(size_t t, size_t level) { return &q_[(t * model_.n_levels_ + level) * stride_]; }

  void descend(size_t t, size_t begin, size_t end) {
    const Paths& paths = model_.terms_[t];
    const size_t size = (end - begin) * width_;
    for (size_t row = begin; row < end; ++row) std::fill_n(p(t, 0) + (row - begin) * width_, width_, paths.root[row]);
    for (size_t level = 1; level < paths.n_levels; ++level) {
      const size_t at = ((level - 1) * model_.n_rows_ + begin) * width_;
      step_down(&paths.n[at], &paths.total[at], p(t, level - 1), at_.strength[t * model_.n_levels_ + level], size,
                p(t, level), q(t, level));
    }
    double* log_p = &log_p_[t * stride_];
    logs(p(t, paths.n_levels - 1), size, log_p);
    for (size_t row = begin; row < end; ++row)
      if (!paths.speaks[row]) std::fill_n(log_p + (row - begin) * width_, width_, 0.0);
    for (size_t i = 0; i < size; ++i) score_[i] += at_.weight[t] * log_p[i];
  }

  // The loss of one row; its scores become derivatives of the loss.
  double normalise(size_t row, double* score, double* bias) const {
    const uint32_t y = model_.target_[row];
    const double weight = model_.weights_[row], top = *std::max_element(score, score + width_), own = score[y];
    double sum = 0;
    for (size_t c = 0; c < width_; ++c) sum += score[c] = std::exp(score[c] - top);
    for (size_t c = 0; c < width_; ++c) {
      score[c] = weight * (score[c] / sum - (c == y ? 1.0 : 0.0));
      bias[c] += score[c];
    }
    return weight * (top + std::log(sum) - own);
  }

  // A row to which the term says nothing has the same p for all classes, and derivatives that sum to 0.
  void climb(size_t t, size_t size, const PathGradient& gradient) {
    const Paths& paths = model_.terms_[t];
    const double *last = p(t, paths.n_levels - 1), *log_p = &log_p_[t * stride_];
    double sum = 0;
    for (size_t i = 0; i < size; ++i) {
      sum += score_[i] * log_p[i];
      g_[i] = at_.weight[t] * score_[i] / last[i];
    }
    gradient.weight[t] += sum;
    for (size_t level = paths.n_levels; level-- > 1;)
      gradient.strength[t * model_.n_levels_ + level] +=
          step_up(p(t, level), q(t, level), p(t, level - 1), size, g_.data());
  }

  const PathLoss& model_;
  const PathParameters& at_;
  const size_t width_, stride_;
  std::vector<double> p_, q_, log_p_;  // [term][level][row][class]
  std::vector<double> score_, g_;      // [row][class]
};

void PathLoss::group_sums(const double* strength, const std::vector<uint32_t>& group, size_t n_groups, int n_threads,
                          double* out) const {
  constexpr size_t kRows = 256;
  const size_t width = n_classes(), n_blocks = (n_rows_ + kRows - 1) / kRows;
  std::fill_n(out, n_groups * n_rows_ * width, 0.0);
  parallel_for(n_blocks, n_threads, [&](size_t block) {
    const size_t begin = block * kRows, end = std::min(n_rows_, begin + kRows), size = (end - begin) * width;
    std::vector<double> p(size), q(size);
    for (size_t t = 0; t < n_terms(); ++t) {
      const Paths& paths = terms_[t];
      for (size_t row = begin; row < end; ++row) std::fill_n(&p[(row - begin) * width], width, paths.root[row]);
      for (size_t level = 1; level < paths.n_levels; ++level) {
        const size_t at = ((level - 1) * n_rows_ + begin) * width;
        step_down(&paths.n[at], &paths.total[at], p.data(), strength[t * n_levels_ + level], size, p.data(), q.data());
      }
      logs(p.data(), size, q.data());
      double* sums = out + (group[t] * n_rows_ + begin) * width;
      for (size_t row = begin; row < end; ++row)
        if (paths.speaks[row])
          for (size_t i = (row - begin) * width; i < (row - begin + 1) * width; ++i) sums[i] += q[i];
    }
  });
}

double PathLoss::evaluate(const PathParameters& at, int n_threads, const PathGradient& gradient) const {
  // Shares do not depend on the number of threads, so that sums don't either.
  const size_t row_bytes = std::max<size_t>(1, n_terms() * n_levels_ * n_classes()) * 2 * sizeof(double);
  const size_t rows = std::clamp<size_t>(kBlockBytes / row_bytes, 4, 1024), n_blocks = (n_rows_ + rows - 1) / rows;
  const size_t n_shares = std::min<size_t>(n_blocks, 64), n_strengths = n_terms() * n_levels_;
  const size_t size = n_strengths + n_terms() + n_classes() + 1;
  std::vector<double> sums(n_shares * size, 0.0);
  parallel_for(n_shares, n_threads, [&](size_t share) {
    double* own = &sums[share * size];
    const PathGradient part{own, own + n_strengths, own + n_strengths + n_terms()};
    Block block(*this, at, rows);
    for (size_t b = n_blocks * share / n_shares; b < n_blocks * (share + 1) / n_shares; ++b)
      own[size - 1] += block.add(b * rows, std::min(n_rows_, (b + 1) * rows), part);
  });
  double loss = 0;
  for (size_t share = 0; share < n_shares; ++share) {
    const double* own = &sums[share * size];
    for (size_t i = 0; i < n_strengths; ++i) gradient.strength[i] += own[i];
    for (size_t i = 0; i < n_terms(); ++i) gradient.weight[i] += own[n_strengths + i];
    for (size_t i = 0; i < n_classes(); ++i) gradient.bias[i] += own[n_strengths + n_terms() + i];
    loss += own[size - 1];
  }
  return loss;
}

}  // namespace countwise
