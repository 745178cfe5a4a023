#include "tree_evidence.hpp"

#include <algorithm>
#include <cmath>

#include "left_out.hpp"

namespace countwise {
namespace {

constexpr size_t kRows = 256;       // of a task
constexpr double kRounding = 1e-9;  // of a count
constexpr double kLeast = 1e-300;   // of a probability: products of many small shares come to 0

// One row after the other: its path, what leaves each node of it, and the estimates without that.
class Leaver {
 public:
  Leaver(const TreeHdp& hdp, const std::vector<double>& total, double factor)
      : tree_(hdp.tree), hdp_(hdp), total_(total), factor_(factor) {}

  void run(int32_t node, uint32_t y, double left, double* p) {
    find_path(node, y);
    estimate_own();
    for (size_t level = path_.size(); level-- > 0;) {
      Step& step = path_[level];
      step.left = std::min(left, step.n);
      if (level > 0) left = lost_above(step.concentration * path_[level - 1].estimate, step.n, step.left);
    }
    mix(y, p);
  }

 private:
  struct Step {
    int32_t node;
    double n, total, concentration;  // rows or tables of the row's class, of all
    double estimate, left;           // of the row's class, as fitted; what it takes with it
  };

  void find_path(int32_t node, uint32_t y) {
    path_.clear();
    for (; node >= 0; node = tree_.parent[node]) {
      const double a = node == 0 ? hdp_.root_concentration : hdp_.strength.of(node);
      path_.push_back({node, count_of(node, y), total_[node], a, 0, 0});
    }
    std::reverse(path_.begin(), path_.end());
  }

  double count_of(int32_t node, uint32_t y) const {
    const int32_t *begin = tree_.cell_value + tree_.cell_ptr[node], *end = tree_.cell_value + tree_.cell_ptr[node + 1];
    const int32_t* at = std::lower_bound(begin, end, static_cast<int32_t>(y));
    return at != end && *at == static_cast<int32_t>(y) ? hdp_.counts[at - tree_.cell_value] : 0.0;
  }

  void estimate_own() {
    double above = 1.0 / static_cast<double>(tree_.arity);
    for (Step& step : path_)
      above = step.estimate = (step.n + step.concentration * above) / (step.total + step.concentration);
  }

  // The estimate without the row, all classes at once: p_l = (n_l + a_l p_(l - 1)) / (N_l + a_l), written out as a sum
  // over the levels, so that only classes with a cell are touched. The row's own class is summed apart: what is left of
  // its counts is mostly 0, and must be.
  void mix(uint32_t y, double* p) const {
    size_t n_levels = 1;  // a node that holds no other row is gone, with all below it
    while (n_levels < path_.size() && path_[n_levels].total - path_[n_levels].left > kRounding) ++n_levels;
    std::fill_n(p, tree_.arity, 0.0);
    double own = 0, weight = 1;  // of what stands above
    for (size_t level = n_levels; level-- > 0;) {
      const Step& step = path_[level];
      const double a = step.node == 0 ? step.concentration : factor_ * step.concentration;
      const double scale = weight / (std::max(0.0, step.total - step.left) + a);
      for (int64_t cell = tree_.cell_ptr[step.node]; cell < tree_.cell_ptr[step.node + 1]; ++cell)
        p[tree_.cell_value[cell]] += hdp_.counts[cell] * scale;
      own += (step.n - step.left) * scale;
      weight = a * scale;
    }
    p[y] = own;
    for (size_t v = 0; v < tree_.arity; ++v) p[v] += weight / static_cast<double>(tree_.arity);
  }

  const CountTreeView& tree_;
  const TreeHdp& hdp_;
  const std::vector<double>& total_;  // [node]
  const double factor_;
  std::vector<Step> path_;
};

}  // namespace

void left_out_log_proba(const TreeHdp& hdp, double factor, const LeavingRows& rows, int n_threads, double* out) {
  const CountTreeView& tree = hdp.tree;
  const size_t width = tree.arity, n_blocks = (rows.n_rows + kRows - 1) / kRows;
  std::vector<double> total(tree.n_nodes, 0.0);
  for (size_t node = 0; node < tree.n_nodes; ++node)
    for (int64_t cell = tree.cell_ptr[node]; cell < tree.cell_ptr[node + 1]; ++cell) total[node] += hdp.counts[cell];
  parallel_for(n_blocks, n_threads, [&](size_t block) {
    Leaver leaver(hdp, total, factor);
    for (size_t row = block * kRows; row < std::min(rows.n_rows, (block + 1) * kRows); ++row) {
      double* p = out + row * width;
      leaver.run(rows.node[row], code_at(rows.target, row), rows.left[row], p);
      for (size_t v = 0; v < width; ++v) p[v] = std::log(std::max(p[v], kLeast));
    }
  });
}

}  // namespace countwise
