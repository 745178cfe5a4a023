#include "hdp_vb.hpp"

#include <algorithm>
#include <cmath>

#include "tables.hpp"

namespace countwise {
namespace {

constexpr double kLongestStep = 2.0;               // in log concentration
constexpr double kTolerance = 0.02;                // of the probabilities
constexpr double kSlowest = 0.25, kFastest = 3.0;  // of what damped() finds
constexpr int kMaxSweeps = 20;
constexpr size_t kBlock = 256;  // cells whose numbers stay in the first-level cache
constexpr size_t kSlopes = 8;   // one block in so many is enough for the slope of a long run

class Fit {
 public:
  Fit(const CountTreeView& tree, const HdpModel& model, double* concentration)
      : tree_(tree), model_(model), alpha_(concentration) {
    prepare();
  }

  int run() {
    pull_.assign(alpha_, alpha_ + model_.n_groups);
    newton_.assign(model_.n_groups, 0.0), moved_ = newton_;
    for (size_t i = 0; i < n_inner_; ++i) n_[i] = tree_.cell_count[active_cell_[i]];
    add_totals();
    down();
    int sweep = 0;
    for (bool moving = tree_.n_nodes > 1; moving && sweep < kMaxSweeps; ++sweep) {
      up();
      moving = move_concentrations();
      if (moving) down();
    }
    return sweep;
  }

  void counts(double* out) const {
    std::copy(tree_.cell_count, tree_.cell_count + tree_.n_cells(), out);
    for (size_t i = 0; i < n_.size(); ++i) out[active_cell_[i]] = n_[i];
  }

 private:
  // A cell of at most one row sends it up whatever the concentrations: only the others, the active cells, are
  // swept. The parent of an active cell is active too. What leaves hold, and what the other cells send up, is the
  // same in every sweep.
  void prepare() {
    has_children_.assign(tree_.n_nodes, 0);
    for (size_t node = 1; node < tree_.n_nodes; ++node) has_children_[tree_.parent[node]] = 1;
    size_t n_active = 0;
    for (size_t c = 0; c < tree_.n_cells(); ++c) n_active += tree_.cell_count[c] > 1;
    active_cell_.reserve(n_active), parent_.reserve(n_active), n_.reserve(n_active);
    fixed_tables_.assign(model_.n_groups, 0.0);
    totals_ptr_.assign(model_.n_groups + 1, 0), moving_ptr_ = totals_ptr_;
    group_end_.assign(model_.n_groups, 0);
    node_ptr_.assign(tree_.n_nodes + 1, 0);
    std::vector<int32_t> slot(tree_.arity, -1);  // of each value: its active cell in the parent at hand
    std::vector<double> histogram;
    int32_t loaded = -1;
    bool live = true;  // whether the parent at hand has active cells
    for (size_t node = 0; node < tree_.n_nodes; ++node) {
      const int32_t parent = tree_.parent[node];
      if (parent != loaded) {
        loaded = parent;
        live = node_ptr_[parent] < node_ptr_[parent + 1];
        if (live) load_parent(parent, slot);
      }
      live ? add_node(node, slot, histogram) : add_quiet_node(node, histogram);
      if (node + 1 == tree_.n_nodes || model_.group[node + 1] != model_.group[node]) end_group(node, histogram);
    }
    fixed_.assign(n_.begin(), n_.begin() + n_inner_);
    phi_.resize(n_inner_), g_.resize(n_inner_), x_.assign(n_inner_, 1.0);
    total_.resize(moving_.size()), weight_.resize(moving_.size()), node_g_.resize(moving_.size());
  }

  void load_parent(int32_t parent, std::vector<int32_t>& slot) const {
    int32_t active = static_cast<int32_t>(node_ptr_[parent]);
    for (int64_t c = tree_.cell_ptr[parent]; c < tree_.cell_ptr[parent + 1]; ++c)
      slot[tree_.cell_value[c]] = tree_.cell_count[c] > 1 ? active++ : -1;
  }

  void add_node(size_t node, const std::vector<int32_t>& slot, std::vector<double>& histogram) {
    const bool inner = has_children_[node];
    double all = 0, fixed = 0;
    for (int64_t c = tree_.cell_ptr[node]; c < tree_.cell_ptr[node + 1]; ++c) {
      const double count = tree_.cell_count[c];
      const int32_t above = slot[tree_.cell_value[c]];
      all += count;
      if (count > 1) {
        active_cell_.push_back(static_cast<int32_t>(c));
        parent_.push_back(above);
        n_.push_back(inner ? 0.0 : count);
      } else {
        fixed += count;
        if (above >= 0) n_[above] += count;
      }
    }
    if (node > 0) fixed_tables_[model_.group[node]] += fixed;
    const bool active = static_cast<int64_t>(n_.size()) > node_ptr_[node];
    node_ptr_[node + 1] = static_cast<int64_t>(n_.size());
    if (inner) n_inner_ = n_.size();
    add_total(node, all, fixed, inner && active, histogram);
  }

  // Below a node without active cells there are none.
  void add_quiet_node(size_t node, std::vector<double>& histogram) {
    double all = 0;
    for (int64_t c = tree_.cell_ptr[node]; c < tree_.cell_ptr[node + 1]; ++c) all += tree_.cell_count[c];
    fixed_tables_[model_.group[node]] += all;
    node_ptr_[node + 1] = node_ptr_[node];
    add_total(node, all, all, false, histogram);
  }

  // The total of an inner node moves with the tables below; of the others, equal ones of a group are joined.
  void add_total(size_t node, double all, double fixed, bool moves, std::vector<double>& histogram) {
    constexpr double kHistogram = 4096;
    if (moves) {
      moving_.push_back({static_cast<int32_t>(node_ptr_[node]), static_cast<int32_t>(node_ptr_[node + 1])});
      fixed_total_.push_back(fixed);
    } else if (all < kHistogram && all == static_cast<double>(static_cast<size_t>(all))) {
      const auto whole = static_cast<size_t>(all);
      if (histogram.size() <= whole) histogram.resize(whole + 1, 0.0);
      ++histogram[whole];
    } else {
      push_total(all, 1.0);
    }
  }

  void end_group(size_t last, std::vector<double>& histogram) {
    for (size_t value = 1; value < histogram.size(); ++value)
      if (histogram[value] > 0) push_total(static_cast<double>(value), histogram[value]);
    histogram.clear();
    const size_t group = static_cast<size_t>(model_.group[last]);
    group_end_[group] = static_cast<int64_t>(last) + 1;
    totals_ptr_[group + 1] = fixed_value_.size();
    moving_ptr_[group + 1] = moving_.size();
  }

  void push_total(double value, double nodes) {
    fixed_value_.push_back(value);
    fixed_nodes_.push_back(nodes);
  }

  // Tables of every active cell, from the leaves to the root, added up in the cells above.
  void up() {
    std::copy(fixed_.begin(), fixed_.end(), n_.begin());
    tables_ = fixed_tables_;
    slope_.assign(model_.n_groups, 0.0);
    for (size_t level = tree_.n_levels; level-- > 1;)
      for (int64_t begin = tree_.level_ptr[level]; begin < tree_.level_ptr[level + 1];) {
        const int32_t group = model_.group[begin];  // a run of nodes of one group
        const int64_t end = std::min(tree_.level_ptr[level + 1], group_end_[group]);
        up_run(group, static_cast<size_t>(node_ptr_[begin]), static_cast<size_t>(node_ptr_[end]));
        begin = end;
      }
  }

  void up_run(int32_t group, size_t begin, size_t end) {
    const double pull = pull_[group];
    const Tables sums = add_tables(
        begin, end, [&](size_t i) { return pull * g_[parent_[i]]; }, n_, nullptr,
        [&](size_t i, double t) { n_[parent_[i]] += t; });
    tables_[group] += sums.tables;
    slope_[group] += sums.slope;
  }

  struct Tables {
    double tables = 0, slope = 0;
  };
  static void nothing(size_t, double) {}

  // Tables of n[i] customers at concentration c(i), handed to use(i, t); their sum, each `times` over, and its
  // derivative by log c.
  template <class C, class Use>
  static Tables add_tables(size_t begin, size_t end, C c, const std::vector<double>& n,
                           const std::vector<double>* times, Use use) {
    double concentration[kBlock], t[kBlock], dt[kBlock];
    Tables all, sloped;
    const size_t n_blocks = (end - begin) / kBlock, every = times ? 1 : std::clamp<size_t>(n_blocks / 2, 1, kSlopes);
    for (size_t start = begin, block = 0; start < end; start += kBlock, ++block) {
      const size_t size = std::min(kBlock, end - start);
      for (size_t i = 0; i < size; ++i) concentration[i] = c(start + i);
      expected_tables(concentration, &n[start], size, t);
      const bool with_slope = block % every == 0;
      if (with_slope) table_slopes(concentration, &n[start], t, size, dt);
      double sum = 0, slope = 0;
      for (size_t i = 0; i < size; ++i) {
        const double weight = times ? (*times)[start + i] : 1.0;
        use(start + i, t[i]);
        sum += weight * t[i];
        if (with_slope) slope += weight * dt[i];
      }
      all.tables += sum;
      if (with_slope) sloped.tables += sum, sloped.slope += slope;
    }
    if (sloped.tables > 0) all.slope = sloped.slope * (all.tables / sloped.tables);
    return all;
  }

  void add_totals() {
    for (size_t m = 0; m < moving_.size(); ++m) {
      total_[m] = fixed_total_[m];
      for (int32_t i = moving_[m].begin; i < moving_[m].end; ++i) total_[m] += n_[i];
    }
  }

  // One Newton step in the logarithm of each concentration; true while any moves.
  bool move_concentrations() {
    add_totals();
    bool moving = false;
    for (size_t g = 1; g < model_.n_groups; ++g) {
      const double before = alpha_[g], tables = model_.shape + tables_[g];
      if (tables <= 0) continue;  // no rows, no prior: nothing to learn from
      alpha_[g] = std::clamp(before * std::exp(damped(g, newton_step(g, tables))), kLeast, kMost);
      pull_[g] = alpha_[g] * std::max(tables - 0.5, 0.5 * tables) / tables;  // about exp E log alpha
      moved_[g] = std::log(alpha_[g] / before);
      moving = moving || std::fabs(moved_[g]) * influence(g) >= kTolerance;
    }
    return moving;
  }

  // How far a row's probability moves with the logarithm of the concentration, about: p = (n + a q) / (N + a) moves by
  // a N / (N + a)^2 times p - q, and a context is away from its parent by sqrt(1 / N + 1 / a), in units of its spread.
  double influence(size_t g) const {
    double moves = 0, rows = 0;
    const double a = alpha_[g];
    const auto add = [&](double total, double nodes) {
      moves += nodes * total * std::sqrt(a * total / ((total + a) * (total + a) * (total + a)));
      rows += nodes * total;
    };
    for (size_t i = totals_ptr_[g]; i < totals_ptr_[g + 1]; ++i) add(fixed_value_[i], fixed_nodes_[i]);
    for (size_t i = moving_ptr_[g]; i < moving_ptr_[g + 1]; ++i) add(total_[i], 1.0);
    return rows > 0 ? moves / rows : 0.0;
  }

  // Newton's step takes the other concentrations and the tables as given, and they answer: it goes too far or not far
  // enough by a factor that the step before has shown.
  double damped(size_t g, double step) {
    const double moved = moved_[g], answer = moved != 0 ? (newton_[g] - step) / moved : 0.0;
    newton_[g] = step;
    if (std::fabs(moved) >= 1 || answer <= 0) return step;
    return std::clamp(step / std::clamp(answer, kSlowest, kFastest), -kLongestStep, kLongestStep);
  }

  // The optimum has tables = alpha (rate + sum_j psi(alpha + N_j) - psi(alpha)) =: expected.
  double newton_step(size_t g, double tables) {
    const double alpha = alpha_[g];
    const auto same = [&](size_t) { return alpha; };
    double expected = alpha * model_.rate, slope = expected;
    const Tables fixed = add_tables(totals_ptr_[g], totals_ptr_[g + 1], same, fixed_value_, &fixed_nodes_, nothing);
    const Tables moving = add_tables(moving_ptr_[g], moving_ptr_[g + 1], same, total_, nullptr, nothing);
    expected += fixed.tables + moving.tables;
    slope += fixed.slope + moving.slope;
    const double gradient = tables - expected, curvature = slope_[g] - slope;
    const double fixed_point = std::log(tables / expected);
    double step = 4 * fixed_point;
    if (curvature < 0) {
      step = -gradient / curvature;
      if (step * fixed_point < 0) step = fixed_point;
    }
    return std::clamp(step, -kLongestStep, kLongestStep);
  }

  // Estimates of the inner nodes, from the root to the leaves, and g, about exp E log of them.
  void down() {
    const double even = 1.0 / static_cast<double>(tree_.arity);
    for (size_t g = 0; g < model_.n_groups; ++g) {
      const double alpha = alpha_[g];
      for (size_t m = moving_ptr_[g]; m < moving_ptr_[g + 1]; ++m) {
        weight_[m] = total_[m] + alpha;
        const double scale = 1 / weight_[m];
        for (int32_t i = moving_[m].begin; i < moving_[m].end; ++i) {
          x_[i] = n_[i] + alpha * (parent_[i] < 0 ? even : phi_[parent_[i]]);
          phi_[i] = x_[i] * scale;
        }
      }
    }
    exp_digamma(x_.data(), n_inner_, g_.data());
    exp_digamma(weight_.data(), weight_.size(), node_g_.data());
    for (size_t m = 0; m < moving_.size(); ++m) {
      const double scale = 1 / node_g_[m];
      for (int32_t i = moving_[m].begin; i < moving_[m].end; ++i) g_[i] *= scale;
    }
  }

  const CountTreeView& tree_;
  const HdpModel& model_;
  double* alpha_;
  std::vector<double> pull_, newton_, moved_, tables_, slope_, fixed_tables_;  // per group
  std::vector<int64_t> group_end_;
  // Per active cell, in the order of the nodes; those before n_inner_ may belong to inner nodes.
  std::vector<int32_t> active_cell_, parent_;
  std::vector<double> n_;
  std::vector<double> fixed_, phi_, x_, g_;
  size_t n_inner_ = 0;
  // Per node.
  std::vector<uint8_t> has_children_;
  std::vector<int64_t> node_ptr_;  // its active cells
  // Inner nodes with active cells, by group, and the totals of the others.
  struct Run {
    int32_t begin, end;  // active cells
  };
  std::vector<Run> moving_;
  std::vector<double> fixed_total_, total_, weight_, node_g_;
  std::vector<double> fixed_value_, fixed_nodes_;  // equal totals of a group that never change, and how many
  std::vector<size_t> totals_ptr_, moving_ptr_;
};

}  // namespace

int hdp_vb(const CountTreeView& tree, const HdpModel& model, double* counts, double* concentration) {
  std::fill(concentration, concentration + model.n_groups, kStart);
  concentration[0] = model.root_concentration;
  Fit fit(tree, model, concentration);
  const int sweeps = fit.run();
  fit.counts(counts);
  return sweeps;
}

}  // namespace countwise
