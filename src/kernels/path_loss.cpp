#include "path_loss.hpp"

#include <cmath>

namespace countwise {
namespace {

constexpr size_t kRows = 512;  // of a share: fixed, so that sums do not depend on the number of threads

}  // namespace

void PathLoss::walk(size_t t, const std::vector<Column>& columns, size_t row) {
  const PathTerm& own = terms_[t];
  const Term& term = own.term;
  Paths& paths = paths_[t];
  const size_t n_levels = term.parents.size() + 1, base = row * n_levels, n_classes = class_counts_.size();
  const uint32_t value = code_at(columns[term.child], row), y = target_[row];
  paths.depth[row] = 0;
  if (value >= term.child_arity) return;
  uint32_t context = 0;
  size_t depth = 0;
  for (; depth < n_levels; ++depth) {
    if (depth > 0) context = term.levels[depth - 1].next.find(context, code_at(columns[term.parents[depth - 1]], row));
    if (context == kNone) break;
    paths.node[base + depth] = context;
    paths.entry[base + depth] = term.levels[depth].values.find(context, value);
  }
  paths.depth[row] = static_cast<uint32_t>(depth);
  // A row whose walk ends early holds a code that was never counted: it is in none of this tree's counts.
  double left = depth == n_levels ? std::min(weights_[row], 1.0) : 0.0;
  for (size_t level = depth; level-- > 0;) {
    paths.left_out[base + level] = left;
    const uint32_t entry = paths.entry[base + level];
    if (entry != kNone) left *= own.pass_up[level][entry * n_classes + y];
  }
  double total = 0;
  for (double count : own.root_counts) total += count;
  const double arity = static_cast<double>(term.child_arity);
  paths.root[row] = (std::max(0.0, own.root_counts[value] - left) + root_concentration_ / arity) /
                    (std::max(0.0, total - left) + root_concentration_);
}

void PathLoss::load(const std::vector<Column>& columns, const Column& target, const double* weights, size_t n_rows,
                    int n_threads) {
  target_.resize(n_rows);
  weights_.assign(n_rows, 1.0);
  for (size_t row = 0; row < n_rows; ++row) target_[row] = code_at(target, row);
  if (weights) std::copy(weights, weights + n_rows, weights_.begin());
  parallel_for(terms_.size(), n_threads, [&](size_t t) {
    const size_t n_levels = terms_[t].term.parents.size() + 1;
    Paths& paths = paths_[t];
    paths.node.assign(n_rows * n_levels, kNone);
    paths.entry.assign(n_rows * n_levels, kNone);
    paths.left_out.assign(n_rows * n_levels, 0.0);
    paths.depth.resize(n_rows);
    paths.root.resize(n_rows);
    for (size_t row = 0; row < n_rows; ++row) walk(t, columns, row);
  });
}

// The rows of a share, one after the other: estimates down every path, scores, then the gradient back up.
class PathLoss::Block {
 public:
  Block(const PathLoss& model, const PathParameters& at)
      : model_(model),
        at_(at),
        n_classes_(model.n_classes()),
        n_levels_(model.n_levels_),
        phi_(model.n_terms() * n_levels_ * n_classes_),
        pull_(phi_.size()),
        zero_(n_classes_, 0.0),
        score_(n_classes_),
        total_(0) {
    for (double count : model.class_counts_) total_ += count;
  }

  double add_row(size_t row, const PathGradient& gradient) {
    const uint32_t y = model_.target_[row];
    const double weight = model_.weights_[row], left = std::min(weight, 1.0), a0 = model_.root_concentration_;
    for (size_t c = 0; c < n_classes_; ++c) {
      const double count = std::max(0.0, model_.class_counts_[c] - (c == y ? left : 0.0));
      score_[c] = std::log((count + a0 / static_cast<double>(n_classes_)) / (total_ - left + a0)) + at_.bias[c];
    }
    for (size_t t = 0; t < model_.n_terms(); ++t) descend(t, row, y);
    const double top = *std::max_element(score_.begin(), score_.end()), own = score_[y];
    double sum = 0;
    for (double& s : score_) sum += s = std::exp(s - top);
    for (size_t c = 0; c < n_classes_; ++c) {
      score_[c] = weight * (score_[c] / sum - (c == y ? 1.0 : 0.0));  // now the derivative of the loss by the score
      gradient.bias[c] += score_[c];
    }
    for (size_t t = 0; t < model_.n_terms(); ++t) climb(t, row, gradient);
    return weight * (top + std::log(sum) - own);
  }

 private:
  double* phi(size_t t, size_t level) { return &phi_[(t * n_levels_ + level) * n_classes_]; }
  double* pull(size_t t, size_t level) { return &pull_[(t * n_levels_ + level) * n_classes_]; }

  // phi_l = (n_l + a_l phi_{l-1}) / (N_l + a_l), for all classes; a class without rows here keeps the estimate above.
  CW_INLINE void descend(size_t t, size_t row, uint32_t y) {
    const Term& term = model_.terms_[t].term;
    const Paths& paths = model_.paths_[t];
    const size_t base = row * (term.parents.size() + 1), depth = paths.depth[row];
    if (depth == 0) return;
    std::fill_n(phi(t, 0), n_classes_, paths.root[row]);
    for (size_t level = 1; level <= depth; ++level) {
      const TrieLevel& here = term.levels[level - 1];
      const uint32_t entry = paths.entry[base + level - 1];
      const double* n = entry == kNone ? zero_.data() : &here.entry[entry * n_classes_];
      const double* total = &here.node[paths.node[base + level - 1] * n_classes_];
      const double a = at_.strength[t * n_levels_ + level], left = paths.left_out[base + level - 1];
      const double *above = phi(t, level - 1), own_n = std::max(0.0, n[y] - left),
                   own_total = std::max(0.0, total[y] - left);
      double *p = phi(t, level), *q = pull(t, level);
      for (size_t c = 0; c < n_classes_; ++c) {
        const double scale = 1 / (total[c] + a);
        p[c] = (n[c] + a * above[c]) * scale;
        q[c] = a * scale;
      }
      p[y] = (own_n + a * above[y]) / (own_total + a);
      q[y] = a / (own_total + a);
    }
    const double* last = phi(t, depth);
    for (size_t c = 0; c < n_classes_; ++c) score_[c] += at_.weight[t] * std::log(last[c]);
  }

  CW_INLINE void climb(size_t t, size_t row, const PathGradient& gradient) {
    const size_t depth = model_.paths_[t].depth[row];
    if (depth == 0) return;
    for (size_t c = 0; c < n_classes_; ++c) {
      gradient.weight[t] += score_[c] * std::log(phi(t, depth)[c]);
      double g = at_.weight[t] * score_[c] / phi(t, depth)[c];
      for (size_t level = depth; level > 0; --level) {
        g *= pull(t, level)[c];
        gradient.strength[t * n_levels_ + level] += g * (phi(t, level - 1)[c] - phi(t, level)[c]);
      }
    }
  }

  const PathLoss& model_;
  const PathParameters& at_;
  const size_t n_classes_, n_levels_;
  std::vector<double> phi_, pull_;  // [term][level][class]: the estimate, and the weight of the one above in it
  std::vector<double> zero_, score_;
  double total_;
};

double PathLoss::evaluate(const PathParameters& at, int n_threads, const PathGradient& gradient) const {
  const size_t n_shares = (target_.size() + kRows - 1) / kRows, n_strengths = n_terms() * n_levels_;
  const size_t size = n_strengths + n_terms() + n_classes() + 1;
  std::vector<double> sums(n_shares * size, 0.0);
  parallel_for(n_shares, n_threads, [&](size_t share) {
    double* own = &sums[share * size];
    const PathGradient part{own, own + n_strengths, own + n_strengths + n_terms()};
    Block block(*this, at);
    for (size_t row = share * kRows; row < std::min(target_.size(), (share + 1) * kRows); ++row)
      own[size - 1] += block.add_row(row, part);
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
