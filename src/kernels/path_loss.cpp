#include "path_loss.hpp"

#include <algorithm>
#include <cmath>

#include "left_out.hpp"
#include "vector_math.hpp"

namespace countwise {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 19;  // of estimates: they are needed twice, and stay in the cache

CW_CLONES void logs(const double* p, size_t size, double* out) {
  for (size_t i = 0; i < size; ++i) out[i] = -log_of(1 / p[i]);
}

constexpr int64_t kNowhere = -1;
constexpr double kSilent = -1;      // in place of a probability
constexpr double kRounding = 1e-9;  // of a count

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
  // Codes ascend, so that one has at most `code` others before it, and just as many where none is absent: near the root
  // that is the rule.
  static int64_t find(const int32_t* sorted, int64_t begin, int64_t end, uint32_t code) {
    const int32_t wanted = static_cast<int32_t>(code);
    const int64_t last = begin + static_cast<int64_t>(code);
    if (last < end && sorted[last] == wanted) return last;
    end = std::min(end, last);
    const int32_t* at = std::lower_bound(sorted + begin, sorted + end, wanted);
    return at != sorted + end && *at == wanted ? at - sorted : kNowhere;
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
      weights_(rows.n_rows, 1.0),
      left_out_(rows.n_rows, 1.0) {
  const double a = root_concentration, share = a / static_cast<double>(n_classes());
  double total = 0;
  for (double count : class_counts_) total += count;
  for (size_t row = 0; row < n_rows_; ++row) {
    target_[row] = code_at(rows.target, row);
    if (rows.weights) weights_[row] = rows.weights[row];
    if (rows.left_out) left_out_[row] = rows.left_out[row];
    const double left = left_out_[row];
    for (size_t c = 0; c < n_classes(); ++c) {
      const double count = std::max(0.0, class_counts_[c] - (c == target_[row] ? left : 0.0));
      log_prior_.push_back(std::log((count + share) / (total - left + a)));
    }
  }
}

// Walks one row through a term: counts of all classes on its path, then the row is taken out of its own class's.
class PathLoss::Walk {
 public:
  Walk(const PathTerm& term, const PathRows& rows, size_t n_classes, double root_concentration)
      : term_(term),
        rows_(rows),
        walker_(term.tree),
        n_classes_(n_classes),
        depth_(term.parents.size() + 1),
        root_(root_concentration),
        total_(node_totals(term.tree)) {}

  // Appends to `levels` what is left without the row; returns the probability of its value at the root. A value that no
  // other row has is one that was never met, once the row is out: nothing is appended, and the answer is kSilent.
  double run(size_t row, uint32_t y, double left_out, std::vector<Level>& levels) {
    const uint32_t value = code_at(rows_.columns[term_.child], row);
    const int64_t cell = walker_.cell(0, value);
    const double n = cell == kNowhere ? 0.0 : term_.tree.cell_count[cell];
    const double left = walk(row, value, y, left_out, at_root(n, 0.0), levels);
    if (n - left > kRounding) return at_root(n, left);
    for (Level& level : levels)
      while (!level.at.empty() && level.at.back() >= row * n_classes_)
        level.at.pop_back(), level.n.pop_back(), level.total.pop_back();
    return kSilent;
  }

 private:
  struct Own {
    int64_t node;
    double n, concentration;  // rows of the value, and the pull to its estimate above
  };

  static std::vector<double> node_totals(const ContextTreeView& tree) {
    std::vector<double> total(static_cast<size_t>(tree.level_ptr[tree.n_levels]), 0.0);
    for (size_t node = 0; node < total.size(); ++node)
      for (int64_t cell = tree.cell_ptr[node]; cell < tree.cell_ptr[node + 1]; ++cell)
        total[node] += tree.cell_count[cell];
    return total;
  }

  double at_root(double n, double left) const {
    return (std::max(0.0, n - left) + root_ / static_cast<double>(term_.child_arity)) /
           (std::max(0.0, total_[0] - left) + root_);
  }

  // The share of the row that the root loses.
  double walk(size_t row, uint32_t value, uint32_t y, double left_out, double p, std::vector<Level>& levels) {
    bool counted = true;  // a row with a code that was never counted is in none of this tree's counts
    for (uint32_t parent : term_.parents) counted &= code_at(rows_.columns[parent], row) < rows_.columns[parent].arity;
    const double left = counted ? left_out : 0.0;
    own_.clear();
    for (uint32_t c = 0; c < n_classes_; ++c) {
      int64_t node = walker_.child(0, c);
      for (size_t level = 0; level < depth_ && node != kNowhere; ++level) {
        const int64_t cell = walker_.cell(node, value);
        const double n = cell == kNowhere ? 0.0 : term_.tree.cell_count[cell], total = total_[node];
        if (c == y) {
          const double a = term_.concentration[level + 1];
          own_.push_back({node, n, a * p});
          if (total <= left) break;  // the row is alone here, and so it is below
          p = (n + a * p) / (total + a);
        } else {
          push(levels[level], row * n_classes_ + c, n, total);
        }
        if (level + 1 < depth_) node = walker_.child(node, code_at(rows_.columns[term_.parents[level]], row));
      }
    }
    return take_out(row * n_classes_ + y, left, levels);
  }

  static void push(Level& level, size_t at, double n, double total) {
    level.at.push_back(static_cast<uint32_t>(at));
    level.n.push_back(n);
    level.total.push_back(total);
  }

  double take_out(size_t at, double left, std::vector<Level>& levels) const {
    for (size_t level = own_.size(); level-- > 0;) {
      const auto [node, n, concentration] = own_[level];
      const double total = std::max(0.0, total_[node] - left);
      if (total > 0) insert(levels[level], at, std::max(0.0, n - left), total);
      left = lost_above(concentration, n, left);
    }
    return left;
  }

  // Other classes of the row may stand behind it already.
  static void insert(Level& level, size_t at, double n, double total) {
    push(level, at, n, total);
    for (size_t i = level.at.size() - 1; i > 0 && level.at[i - 1] > at; --i) {
      std::swap(level.at[i - 1], level.at[i]);
      std::swap(level.n[i - 1], level.n[i]);
      std::swap(level.total[i - 1], level.total[i]);
    }
  }

  const PathTerm& term_;
  const PathRows& rows_;
  const Walker walker_;
  const size_t n_classes_, depth_;
  const double root_;
  const std::vector<double> total_;  // [node]
  std::vector<Own> own_;
};

void PathLoss::add_term(size_t position, const PathTerm& term, const PathRows& rows) {
  Walk walk(term, rows, n_classes(), root_concentration_);
  Paths paths;
  paths.levels.resize(term.parents.size() + 1);
  paths.root.assign(n_rows_, 1.0);
  paths.speaks.assign(n_rows_, 0);
  for (size_t row = 0; row < n_rows_; ++row) {
    if (code_at(rows.columns[term.child], row) >= term.child_arity) continue;
    const double root = walk.run(row, target_[row], left_out_[row], paths.levels);
    if (root == kSilent) continue;
    paths.speaks[row] = 1;
    paths.root[row] = root;
  }
  for (Level& level : paths.levels) level.at.shrink_to_fit(), level.n.shrink_to_fit(), level.total.shrink_to_fit();
  terms_.at(position) = std::move(paths);
}

// One term for some rows at a time: estimates down the paths, and the gradient back up.
class PathLoss::Block {
 public:
  Block(const Paths& paths, const double* strength, size_t width) : paths_(paths), strength_(strength), width_(width) {}

  // log_p[row][class] of the rows [begin, end); 0 where the term says nothing.
  void descend(size_t begin, size_t end, double* log_p) {
    base_ = begin * width_;
    p_.resize((end - begin) * width_);
    for (size_t row = begin; row < end; ++row) std::fill_n(&p_[(row - begin) * width_], width_, paths_.root[row]);
    range_.resize(paths_.levels.size());
    steps_.clear();
    for (size_t l = 0; l < paths_.levels.size(); ++l) {
      const Level& level = paths_.levels[l];
      range_[l] = {first(level, begin), first(level, end)};
      const double a = strength_[l + 1];
      for (size_t e = range_[l].begin; e < range_[l].end; ++e) {
        double& p = p_[level.at[e] - base_];
        const double scale = 1 / (level.total[e] + a), above = p;
        p = (level.n[e] + a * above) * scale;
        steps_.push_back({above - p, a * scale});
      }
    }
    logs(p_.data(), p_.size(), log_p);
    for (size_t row = begin; row < end; ++row)
      if (!paths_.speaks[row]) std::fill_n(log_p + (row - begin) * width_, width_, 0.0);
  }

  // Adds to the derivatives by the log strengths, given those by the log probabilities. A row to which the term says
  // nothing has the same p for all classes, and derivatives that sum to 0.
  void climb(const double* d_log_p, double* d_strength) {
    for (size_t i = 0; i < p_.size(); ++i) p_[i] = d_log_p[i] / p_[i];
    size_t step = steps_.size();
    for (size_t l = paths_.levels.size(); l-- > 0;) {
      const Level& level = paths_.levels[l];
      double sum = 0;
      for (size_t e = range_[l].end; e-- > range_[l].begin;) {
        double& g = p_[level.at[e] - base_];
        g *= steps_[--step].share_above;
        sum += g * steps_[step].rise;
      }
      d_strength[l + 1] += sum;
    }
  }

 private:
  struct Range {
    size_t begin, end;
  };
  struct Step {
    double rise, share_above;  // the estimate above minus the new one; its weight in the new one
  };

  size_t first(const Level& level, size_t row) const {
    return std::lower_bound(level.at.begin(), level.at.end(), row * width_) - level.at.begin();
  }

  const Paths& paths_;
  const double* strength_;  // [level]
  const size_t width_;
  size_t base_ = 0;
  std::vector<double> p_;  // [row][class]
  std::vector<Range> range_;
  std::vector<Step> steps_;
};

double PathLoss::block_loss(size_t begin, size_t end, const PathParameters& at, const PathGradient& gradient) const {
  const size_t width = n_classes(), size = (end - begin) * width;
  std::vector<Block> blocks;
  std::vector<double> log_p(n_terms() * size), score(&log_prior_[begin * width], &log_prior_[begin * width] + size),
      g(size);
  for (size_t i = 0; i < size; ++i) score[i] += at.bias[i % width];
  blocks.reserve(n_terms());
  for (size_t t = 0; t < n_terms(); ++t) {
    blocks.emplace_back(terms_[t], at.strength + t * n_levels_, width).descend(begin, end, &log_p[t * size]);
    for (size_t i = 0; i < size; ++i) score[i] += at.weight[t] * log_p[t * size + i];
  }
  double loss = 0;
  for (size_t row = begin; row < end; ++row) loss += normalise(row, &score[(row - begin) * width], gradient.bias);
  for (size_t t = 0; t < n_terms(); ++t) {
    double sum = 0;
    for (size_t i = 0; i < size; ++i) {
      sum += score[i] * log_p[t * size + i];
      g[i] = at.weight[t] * score[i];
    }
    gradient.weight[t] += sum;
    blocks[t].climb(g.data(), gradient.strength + t * n_levels_);
  }
  return loss;
}

// The loss of one row; its scores become derivatives of the loss.
double PathLoss::normalise(size_t row, double* score, double* bias) const {
  const uint32_t y = target_[row];
  const size_t width = n_classes();
  const double weight = weights_[row], top = *std::max_element(score, score + width), own = score[y];
  double sum = 0;
  for (size_t c = 0; c < width; ++c) sum += score[c] = std::exp(score[c] - top);
  for (size_t c = 0; c < width; ++c) {
    score[c] = weight * (score[c] / sum - (c == y ? 1.0 : 0.0));
    bias[c] += score[c];
  }
  return weight * (top + std::log(sum) - own);
}

void PathLoss::group_sums(const double* strength, const std::vector<uint32_t>& group, size_t n_groups, int n_threads,
                          double* out) const {
  constexpr size_t kRows = 256;
  const size_t width = n_classes(), n_blocks = (n_rows_ + kRows - 1) / kRows;
  std::fill_n(out, n_groups * n_rows_ * width, 0.0);
  parallel_for(n_blocks, n_threads, [&](size_t block) {
    const size_t begin = block * kRows, end = std::min(n_rows_, begin + kRows), size = (end - begin) * width;
    std::vector<double> log_p(size);
    for (size_t t = 0; t < n_terms(); ++t) {
      Block(terms_[t], strength + t * n_levels_, width).descend(begin, end, log_p.data());
      double* sums = out + (group[t] * n_rows_ + begin) * width;
      for (size_t i = 0; i < size; ++i) sums[i] += log_p[i];
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
    for (size_t b = n_blocks * share / n_shares; b < n_blocks * (share + 1) / n_shares; ++b)
      own[size - 1] += block_loss(b * rows, std::min(n_rows_, (b + 1) * rows), at, part);
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
