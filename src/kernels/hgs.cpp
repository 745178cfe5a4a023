#include "hgs.hpp"

#include <algorithm>
#include <cmath>

namespace countwise {

namespace {

std::vector<char> leaves(const CountTreeView& tree) {
  std::vector<char> leaf(tree.n_nodes, 1);
  for (size_t node = 1; node < tree.n_nodes; ++node) leaf[tree.parent[node]] = 0;
  return leaf;
}

std::vector<double> totals(const CountTreeView& tree) {
  std::vector<double> total(tree.n_nodes, 0.0);
  for (size_t node = 0; node < tree.n_nodes; ++node)
    for (int64_t c = tree.cell_ptr[node]; c < tree.cell_ptr[node + 1]; ++c) total[node] += tree.cell_count[c];
  return total;
}

}  // namespace

HgsLoss::HgsLoss(const HgsModel& model)
    : tree_(model.tree),
      uniform_(model.uniform),
      squared_(model.squared),
      leaf_(leaves(tree_)),
      live_(tree_.n_nodes, 1),
      link_(tree_.n_cells()),
      total_(totals(tree_)) {
  for (auto* cells : {&without_, &mixed_, &slope_, &own_, &cross_}) cells->resize(tree_.n_cells());
  for (auto* nodes : {&weight_, &weights_, &drag_, &rest_}) nodes->resize(tree_.n_nodes);
  link_cells(tree_, link_.data());
  for (size_t node = 0; node < tree_.n_nodes; ++node) {
    if (!leaf_[node]) inner_.push_back(static_cast<int32_t>(node));
    live_[node] = node == 0 || total_[node] > 1;
    const double more = node ? 0.0 : uniform_, each = more / static_cast<double>(tree_.arity);
    for (int64_t c = tree_.cell_ptr[node]; c < tree_.cell_ptr[node + 1]; ++c) {
      const double count = tree_.cell_count[c], left = std::max(count - 1, 0.0) + each;
      without_[c] = live_[node] ? left : 0.0;
      if (!leaf_[node] && live_[node]) without_[c] /= total_[node] - std::min(count, 1.0) + more;
    }
  }
}

double HgsLoss::evaluate(const double* weight, double* gradient, double* curvature) {
  for (size_t i = 0; i < inner_.size(); ++i) weight_[inner_[i]] = weight[i];
  std::fill(slope_.begin(), slope_.end(), 0.0);
  std::fill(own_.begin(), own_.end(), 0.0);
  std::fill(cross_.begin(), cross_.end(), 0.0);
  std::fill(drag_.begin(), drag_.end(), 0.0);
  std::fill(rest_.begin(), rest_.end(), 0.0);
  double loss = 0;
  for (size_t node = 0; node < tree_.n_nodes; ++node) {
    if (leaf_[node]) {
      if (node) loss += leaf_loss(node);  // a leaf at the root has no weights: its loss is the same for all
      continue;
    }
    const double a = live_[node] ? weight_[node] : 0.0;
    weights_[node] = (node ? weights_[tree_.parent[node]] : 0.0) + a;
    for (int64_t c = tree_.cell_ptr[node]; c < tree_.cell_ptr[node + 1]; ++c)
      mixed_[c] = (node ? mixed_[link_[c]] : 0.0) + a * without_[c];
  }
  for (size_t node = tree_.n_nodes; node-- > 1;) pass_up(node);
  for (size_t i = 0; i < inner_.size(); ++i) {
    const size_t node = static_cast<size_t>(inner_[i]);
    gradient[i] = drag_[node], curvature[i] = rest_[node];
    for (int64_t c = tree_.cell_ptr[node]; c < tree_.cell_ptr[node + 1]; ++c) {
      gradient[i] += without_[c] * slope_[c];
      curvature[i] += without_[c] * (without_[c] * own_[c] - 2 * cross_[c]);
    }
    if (!live_[node]) gradient[i] = curvature[i] = 0;
    curvature[i] = std::max(curvature[i], 0.0);  // a sum of squares but for rounding
  }
  return loss;
}

// The loss of a leaf's rows and its slopes: by what is mixed in (a cell's) and by the sum of weights (the node's).
double HgsLoss::leaf_loss(size_t leaf) {
  const double above = weights_[tree_.parent[leaf]];
  double loss = 0;
  for (int64_t c = tree_.cell_ptr[leaf]; c < tree_.cell_ptr[leaf + 1]; ++c) {
    const double n = tree_.cell_count[c];
    const double rows = live_[leaf] ? total_[leaf] - std::min(n, 1.0) : 0.0;
    const double scale = 1 / (rows + above), p = (without_[c] + mixed_[link_[c]]) * scale;
    const double slope = squared_ ? -2 * n * (1 - p) * scale : -n * scale / p;
    const double bend = squared_ ? 2 * n * scale * scale : n * scale * scale / (p * p);
    loss += squared_ ? n * (1 - p) * (1 - p) : -n * std::log(p);
    slope_[c] = slope;
    own_[c] = bend;
    cross_[c] = bend * p;
    drag_[leaf] -= slope * p;
    rest_[leaf] += bend * p * p;
  }
  return loss;
}

void HgsLoss::pass_up(size_t node) {
  for (int64_t c = tree_.cell_ptr[node]; c < tree_.cell_ptr[node + 1]; ++c) {
    slope_[link_[c]] += slope_[c];
    own_[link_[c]] += own_[c];
    cross_[link_[c]] += cross_[c];
  }
  drag_[tree_.parent[node]] += drag_[node];
  rest_[tree_.parent[node]] += rest_[node];
}

void hgs_centres(const CountTreeView& tree, const HgsChance& chance, double* out) {
  const std::vector<char> leaf = leaves(tree);
  const std::vector<double> total = totals(tree);
  std::vector<double> below(tree.n_nodes, 0.0), gain(tree.n_nodes, 0.0), children(tree.n_nodes, 0.0);
  for (size_t node = tree.n_nodes; node-- > 0;) {
    const int64_t begin = tree.cell_ptr[node], end = tree.cell_ptr[node + 1];
    double loss = 0;
    for (int64_t c = begin; c < end; ++c) loss -= tree.cell_count[c] * std::log(tree.cell_count[c] / total[node]);
    out[node] = 0;
    if (!leaf[node]) {
      const double values = static_cast<double>(end - begin);
      const double by_chance = chance.chance[node] + chance.freedom * (children[node] - 1) * (values - 1);
      below[node] = std::max(below[node] + loss - gain[node] - by_chance, 0.0);
      const double part = loss > 0 ? std::min(below[node] / loss, 1.0) : 0.0;
      out[node] = part > 0 ? std::clamp((1 - part) / part, chance.least, chance.most) : chance.most;
    }
    if (!node) break;
    const int32_t parent = tree.parent[node];
    below[parent] += below[node], gain[parent] += loss, ++children[parent];
  }
}

namespace {

// The penalised loss in z = (log weight - log centre) / spread.
class Problem {
 public:
  Problem(const HgsModel& model, double spread, const double* centre)
      : loss_(model), spread_(spread), centre_(loss_.size()), weight_(loss_.size()), curvature_(loss_.size()) {
    for (size_t i = 0; i < centre_.size(); ++i) centre_[i] = centre[loss_.inner(i)];
  }

  double evaluate(const double* z, double* gradient) {
    double squares = 0;
    for (size_t i = 0; i < centre_.size(); ++i) {
      weight_[i] = centre_[i] * std::exp(spread_ * z[i]);
      squares += z[i] * z[i];
    }
    const double value = loss_.evaluate(weight_.data(), gradient, curvature_.data()) + 0.5 * squares;
    for (size_t i = 0; i < centre_.size(); ++i) {
      const double by_log = weight_[i] * spread_;
      gradient[i] = gradient[i] * by_log + z[i];
      curvature_[i] = curvature_[i] * by_log * by_log + 1;
    }
    return value;
  }

  void precondition(double* v) const {
    for (size_t i = 0; i < curvature_.size(); ++i) v[i] /= curvature_[i];
  }

  void write(double* weight) const {
    for (size_t i = 0; i < weight_.size(); ++i) weight[loss_.inner(i)] = weight_[i];
  }

  size_t size() const { return centre_.size(); }

 private:
  HgsLoss loss_;
  double spread_;
  std::vector<double> centre_, weight_, curvature_;
};

}  // namespace

double hgs_fit(const HgsModel& model, double spread, const LbfgsOptions& options, double* weight) {
  Problem problem(model, spread, weight);
  std::vector<double> z(problem.size(), 0.0);
  const double value = minimise(problem, z, options);  // evaluates last where it ends
  problem.write(weight);
  return value;
}

void hgs_smooth(const HgsModel& model, const double* weight, const ShrunkOut& out) {
  const CountTreeView& tree = model.tree;
  const std::vector<char> leaf = leaves(tree);
  const std::vector<double> total = totals(tree);
  // With m_j the mixture of j and its ancestors, a leaf is (n + A m_parent) / (N + A) and an inner node's own mixture
  // (a_j f_j + A m_parent) / (a_j + A), A the sum of weights above: shrinkage of a_j f_j in place of counts.
  std::vector<double> above(tree.n_nodes), strength(tree.n_nodes);
  for (size_t node = 0; node < tree.n_nodes; ++node) {
    const int32_t parent = tree.parent[node];
    const double rows = total[node] + (node ? 0.0 : model.uniform), scale = leaf[node] ? 1.0 : weight[node] / rows;
    above[node] = node ? above[parent] + weight[parent] : 0.0;
    strength[node] = node ? above[node] : model.uniform * scale;
    for (int64_t c = tree.cell_ptr[node]; c < tree.cell_ptr[node + 1]; ++c)
      out.cell_proba[c] = tree.cell_count[c] * scale;
  }
  shrink(tree, out.cell_proba, {strength.data(), nullptr}, out);
  for (size_t node = 0; node < tree.n_nodes; ++node)
    out.precision[node] = above[node] + (leaf[node] ? total[node] + (node ? 0.0 : model.uniform) : weight[node]);
}

}  // namespace countwise
