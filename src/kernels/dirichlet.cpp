#include "dirichlet.hpp"

#include <algorithm>
#include <cmath>

#include "gamma_terms.hpp"

namespace countwise {
namespace {

constexpr double kRange = 1e4;         // of s and weight, up and down from where they start
constexpr double kTolerance = 1e-6;    // of log s and log weight
constexpr double kSettled = 1e-9;      // of what the values without a row leave
constexpr double kLeastScale = 1e-12;  // reached only where the weights of all rows together are far below 1
constexpr int kRounds = 100;

// A table and the values that it has not seen. Dirichlet distributions stay so when values are merged: the unseen ones
// together have the share z of kappa, the seen ones the rest, split as k of the table, and the data say nothing on the
// split of z. Given k, the likelihood is convex in log(1 - z), so that its tangent bounds it by (1 - z)^T with
// T = table.draws(): z ~ Beta(unseen, seen + T), and the table's strength is s exp(E log(1 - z)).
struct Family {
  DirichletTable table;
  double seen_share, unseen_share;
  double scale = 1, seen = 0, unseen = 0;

  Family(std::vector<double> share, double unseen) : table(std::move(share)), seen_share(0), unseen_share(unseen) {
    for (double value : table.share()) seen_share += value;
  }

  void start(double s, double weight) {
    if (unseen_share > 0) scale = seen_share / (seen_share + unseen_share);
    table.start(s * scale, weight);
  }

  // Returns by how much the strength's factor moved.
  double update(double s, double weight) {
    seen = weight * seen_share + table.draws(s * scale);
    unseen = weight * unseen_share;
    if (unseen_share == 0) return 0;
    const double before = scale;
    scale = std::max(std::exp(-rising(seen, unseen).d1), kLeastScale);
    return std::abs(scale - before);
  }

  double mean_seen() const { return unseen > 0 ? seen / (seen + unseen) : 1.0; }
  double mean_unseen() const { return unseen > 0 ? unseen / (seen + unseen) : 0.0; }
};

struct Strengths {
  double s, weight;
};

int solve_all(std::vector<Family>& families, const Strengths& at, int max_iterations, double& bound) {
  int steps = 0;
  bound = 0;
  for (Family& family : families) {
    steps = std::max(steps, family.table.solve(at.s * family.scale, at.weight, max_iterations));
    bound += family.table.bound();
  }
  return steps;
}

// An uphill step in (log s, log weight): Newton's, or along each axis where the bound is not concave. `held` axes
// stand at the end of their range.
void hyper_step(const HyperDerivatives& at, const bool held[2], double step[2]) {
  const double* g = at.g;
  const double determinant = at.h[0][0] * at.h[1][1] - at.h[0][1] * at.h[1][0];
  if (!held[0] && !held[1] && at.h[0][0] < 0 && determinant > 0) {
    step[0] = (at.h[0][1] * g[1] - at.h[1][1] * g[0]) / determinant;
    step[1] = (at.h[1][0] * g[0] - at.h[0][0] * g[1]) / determinant;
  } else {
    for (int i = 0; i < 2; ++i) {
      const double curvature = std::max(std::abs(at.h[i][i]), 1e-3 * std::abs(g[i]));
      step[i] = held[i] || curvature == 0 ? 0 : g[i] / curvature;
    }
  }
  const double longest = std::max(std::abs(step[0]), std::abs(step[1]));
  if (longest > 1)
    for (int i = 0; i < 2; ++i) step[i] /= longest;
}

// Empirical Bayes: s and weight of all families at once, each family at its optimum for them. Never falls.
int learn_strengths(std::vector<Family>& families, const DirichletOptions& options, Strengths& at, double& bound) {
  const double first[2] = {std::log(options.s), std::log(options.weight)}, range = std::log(kRange);
  int steps = solve_all(families, at, options.max_iterations, bound);
  for (int iteration = 0; iteration < options.max_iterations; ++iteration) {
    HyperDerivatives sum;
    for (const Family& family : families) {
      const HyperDerivatives own = family.table.hyper_derivatives(at.s * family.scale, at.weight, true);
      for (int i = 0; i < 2; ++i) {
        sum.g[i] += own.g[i];
        for (int j = 0; j < 2; ++j) sum.h[i][j] += own.h[i][j];
      }
    }
    const double here[2] = {std::log(at.s), std::log(at.weight)};
    bool held[2];
    for (int i = 0; i < 2; ++i) held[i] = (sum.g[i] > 0 ? here[i] - first[i] : first[i] - here[i]) > range - 1e-9;
    double step[2];
    hyper_step(sum, held, step);
    if (std::max(std::abs(step[0]), std::abs(step[1])) < kTolerance) return steps;
    std::vector<DirichletTable::Point> points;
    for (const Family& family : families) points.push_back(family.table.point());
    for (double part = 1;; part /= 2) {
      double to[2];
      for (int i = 0; i < 2; ++i) to[i] = std::clamp(here[i] + part * step[i], first[i] - range, first[i] + range);
      const Strengths there{std::exp(to[0]), std::exp(to[1])};
      double moved;
      steps += solve_all(families, there, options.max_iterations, moved);
      if (moved > bound) {
        at = there;
        bound = moved;
        break;
      }
      for (size_t f = 0; f < families.size(); ++f) families[f].table.move_to(points[f]);
      if (part < 1e-4) return steps;
    }
  }
  return steps;
}

// All families share s and weight.
DirichletFacts solve_families(std::vector<Family>& families, const DirichletOptions& options) {
  Strengths at{options.s, options.weight};
  double bound = 0;
  int iterations = 0;
  for (Family& family : families) family.start(at.s, at.weight);
  for (int round = 0; round < kRounds; ++round) {
    iterations += options.learn ? learn_strengths(families, options, at, bound)
                                : solve_all(families, at, options.max_iterations, bound);
    double moved = 0;
    for (Family& family : families) moved = std::max(moved, family.update(at.s, at.weight));
    if (moved < kSettled) break;
  }
  const Family& one = families[0];
  return {at.s, at.weight, one.table.tau(), one.seen, one.unseen, bound, iterations};
}

// Sums over all values of kappa: of squares, and of variances. `spread` is that of the unseen values' split, squared.
struct Moments {
  double squares, variance;
};

Moments moments_of(const Family& family, double spread) {
  const double a = family.unseen, ev = family.mean_seen(), ez = family.mean_unseen(), tau = family.table.tau();
  const double vary = ev * ez / (a + family.seen + 1);
  Moments sum{ez * ez * spread, (vary + ez * ez) * (a * spread + 1) / (a + 1) - ez * ez * spread};
  for (double k : family.table.kappa()) {
    sum.squares += ev * ev * k * k;
    sum.variance += vary * k * k + (vary + ev * ev) * k * (1 - k) / (tau + 1);
  }
  return sum;
}

// The weight of a Dirichlet distribution whose covariance has the trace of Lemma 2, for a column of weight N + s.
double column_precision(double weight, double s, double diversity, double variance) {
  return diversity > 0 ? (weight + 1) / (1 + s * s * variance / (weight * diversity)) - 1 : weight;
}

// (n + s kappa) / (N + s) for the cells of a node; kappa by value in `base`.
void estimate_column(const CountTreeView& tree, size_t node, const double* base, double s, const Moments& kappa,
                     const DirichletOut& out) {
  double total = 0, seen = 0, squares = 0, diversity = 0;
  const int64_t begin = tree.cell_ptr[node], end = tree.cell_ptr[node + 1];
  for (int64_t c = begin; c < end; ++c) total += tree.cell_count[c];
  const double weight = total + s;
  for (int64_t c = begin; c < end; ++c) {
    const double k = base[tree.cell_value[c]], p = (tree.cell_count[c] + s * k) / weight;
    out.cell_proba[c] = p;
    diversity += p * (1 - p);
    seen += k;
    squares += k * k;
  }
  const double absent = s / weight;
  diversity += std::max(0.0, absent * (1 - seen) - absent * absent * std::max(0.0, kappa.squares - squares));
  out.absent[node] = absent;
  out.precision[node] = column_precision(weight, s, diversity, kappa.variance);
}

std::vector<int32_t> child_counts(const CountTreeView& tree) {
  std::vector<int32_t> counts(tree.n_nodes, 0);
  for (size_t node = 1; node < tree.n_nodes; ++node) ++counts[tree.parent[node]];
  return counts;
}

// Adds the cells of a node as a column; `slot` is a value's number in the table.
void add_column(const CountTreeView& tree, size_t node, const std::vector<uint32_t>& slot, DirichletTable& table) {
  for (int64_t c = tree.cell_ptr[node]; c < tree.cell_ptr[node + 1]; ++c)
    table.add_cell(slot[tree.cell_value[c]], tree.cell_count[c]);
  table.end_column();
}

void number_cells(const CountTreeView& tree, size_t node, std::vector<uint32_t>& slot) {
  for (int64_t c = tree.cell_ptr[node]; c < tree.cell_ptr[node + 1]; ++c)
    slot[tree.cell_value[c]] = static_cast<uint32_t>(c - tree.cell_ptr[node]);
}

// The table of the children of `node` (of the node itself if it has none); shares by the estimate above, in `base`.
Family family_of(const CountTreeView& tree, size_t node, size_t first_child, size_t n_children, const double* base,
                 std::vector<uint32_t>& slot) {
  const double arity = static_cast<double>(tree.arity);
  std::vector<double> share;
  double seen = 0;
  for (int64_t c = tree.cell_ptr[node]; c < tree.cell_ptr[node + 1]; ++c) {
    share.push_back(arity * base[tree.cell_value[c]]);
    seen += base[tree.cell_value[c]];
  }
  // What is left by subtraction has an error of rounding; the floor is above it.
  const double unseen = share.size() < tree.arity ? arity * std::max(1 - seen, 1e-14) : 0.0;
  Family family(std::move(share), unseen);
  number_cells(tree, node, slot);
  if (n_children == 0) add_column(tree, node, slot, family.table);
  for (size_t child = first_child; child < first_child + n_children; ++child)
    add_column(tree, child, slot, family.table);
  return family;
}

// Writes an inner node's kappa as its estimate; `base` is the estimate above and `squares` its sum of squares.
Moments estimate_inner(const CountTreeView& tree, size_t node, const Family& family, const double* base, double squares,
                       const DirichletOut& out) {
  const int64_t begin = tree.cell_ptr[node], end = tree.cell_ptr[node + 1];
  double total = 0;
  for (int64_t c = begin; c < end; ++c) {
    const double above = base[tree.cell_value[c]];
    squares -= above * above;
    total += tree.cell_count[c];
    out.cell_proba[c] = family.mean_seen() * family.table.kappa()[c - begin];
  }
  const double arity = static_cast<double>(tree.arity), mass = family.unseen_share / arity;
  const double n_unseen = arity - static_cast<double>(end - begin);
  const double spread = mass > 0 ? std::clamp(squares / (mass * mass), 1 / n_unseen, 1.0) : 1.0;
  out.absent[node] = mass > 0 ? family.mean_unseen() / mass : 1 / (1 + total);  // no value has the second one
  const Moments own = moments_of(family, spread);
  out.precision[node] = own.variance > 0 ? std::max((1 - own.squares) / own.variance - 1, 0.0) : family.seen;
  return own;
}

DirichletFacts without_rows(const CountTreeView& tree, const DirichletOptions& options, const DirichletOut& out) {
  const double s0 = options.weight * static_cast<double>(tree.arity);
  std::fill_n(out.absent, tree.n_nodes, 1.0);
  std::fill_n(out.precision, tree.n_nodes, s0);
  return {options.s, options.weight, s0, 0, s0, 0, 0};
}

Family flat_family(const CountTreeView& tree) {
  const double arity = static_cast<double>(tree.arity);
  const size_t seen = static_cast<size_t>(tree.cell_ptr[1]);
  Family family(std::vector<double>(seen, 1.0), arity - static_cast<double>(seen));
  std::vector<uint32_t> slot(tree.arity);
  number_cells(tree, 0, slot);
  const std::vector<int32_t> children = child_counts(tree);
  for (size_t node = 0; node < tree.n_nodes; ++node)
    if (children[node] == 0) add_column(tree, node, slot, family.table);
  return family;
}

// From the root down, level by level; the estimate above a node lies in `base_` by value while the node is done.
class TreeWalk {
 public:
  TreeWalk(const CountTreeView& tree, const DirichletOptions& options, const DirichletOut& out)
      : tree_(tree),
        options_(options),
        out_(out),
        n_children_(child_counts(tree)),
        kappa_(tree.n_nodes),
        base_(tree.arity, 1 / static_cast<double>(tree.arity)),
        slot_(tree.arity) {}

  DirichletFacts run() {
    size_t first_child = 1;
    for (size_t level = 0; level < tree_.n_levels; ++level) {
      const double above = strength_;
      const auto begin = static_cast<size_t>(tree_.level_ptr[level]),
                 end = static_cast<size_t>(tree_.level_ptr[level + 1]);
      for (size_t node = begin; node < end; ++node) {
        const auto n_children = static_cast<size_t>(n_children_[node]);
        load_above(node);
        if (n_children == 0 && node != 0) {
          estimate_column(tree_, node, base_.data(), above, kappa_[tree_.parent[node]], out_);
          continue;
        }
        nodes_.push_back(node);
        families_.push_back(family_of(tree_, node, first_child, n_children, base_.data(), slot_));
        first_child += n_children;
        if (!options_.learn) solve();  // tables are independent unless they share what is learned
      }
      solve();
    }
    if (n_children_[0] == 0) root_as_column();
    return facts_;
  }

 private:
  void load_above(size_t node) {
    const int32_t parent = tree_.parent[node];
    if (parent == loaded_) return;
    for (int64_t c = tree_.cell_ptr[parent]; c < tree_.cell_ptr[parent + 1]; ++c)
      base_[tree_.cell_value[c]] = out_.cell_proba[c];
    loaded_ = parent;
  }

  void solve() {
    if (families_.empty()) return;
    const DirichletFacts own = solve_families(families_, options_);
    const bool first = nodes_[0] == 0;
    facts_ = first ? own : facts_;
    if (!first) facts_.bound += own.bound;
    facts_.iterations = std::max(facts_.iterations, own.iterations);
    strength_ = own.s;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      load_above(nodes_[i]);
      const double squares =
          nodes_[i] == 0 ? 1 / static_cast<double>(tree_.arity) : kappa_[tree_.parent[nodes_[i]]].squares;
      kappa_[nodes_[i]] = estimate_inner(tree_, nodes_[i], families_[i], base_.data(), squares, out_);
    }
    nodes_.clear();
    families_.clear();
  }

  // A tree of one node: the estimate that the root has now is that of kappa.
  void root_as_column() {
    for (int64_t c = 0; c < tree_.cell_ptr[1]; ++c) base_[tree_.cell_value[c]] = out_.cell_proba[c];
    const double unseen = out_.absent[0];
    estimate_column(tree_, 0, base_.data(), strength_, kappa_[0], out_);
    out_.absent[0] *= unseen;
  }

  const CountTreeView& tree_;
  const DirichletOptions& options_;
  const DirichletOut& out_;
  const std::vector<int32_t> n_children_;
  std::vector<Moments> kappa_;
  std::vector<double> base_;
  std::vector<uint32_t> slot_;
  std::vector<size_t> nodes_;
  std::vector<Family> families_;
  int32_t loaded_ = -1;
  double strength_ = 0;
  DirichletFacts facts_{};
};

}  // namespace

DirichletTable flat_table(const CountTreeView& tree) { return flat_family(tree).table; }

DirichletFacts dirichlet_flat(const CountTreeView& tree, DirichletOptions options, double* base,
                              const DirichletOut& out) {
  std::fill_n(base, tree.arity, 1 / static_cast<double>(tree.arity));
  if (tree.n_cells() == 0) return without_rows(tree, options, out);
  std::vector<Family> families{flat_family(tree)};
  const DirichletFacts facts = solve_families(families, options);
  const Family& family = families[0];
  std::fill_n(base, tree.arity, family.unseen_share > 0 ? family.mean_unseen() / family.unseen_share : 0.0);
  for (int64_t c = 0; c < tree.cell_ptr[1]; ++c)
    base[tree.cell_value[c]] = family.mean_seen() * family.table.kappa()[c];
  const Moments kappa = moments_of(family, family.unseen_share > 0 ? 1 / family.unseen_share : 1.0);
  for (size_t node = 0; node < tree.n_nodes; ++node) estimate_column(tree, node, base, facts.s, kappa, out);
  return facts;
}

DirichletFacts dirichlet_tree(const CountTreeView& tree, DirichletOptions options, const DirichletOut& out) {
  if (tree.n_cells() == 0) return without_rows(tree, options, out);
  return TreeWalk(tree, options, out).run();
}

}  // namespace countwise
