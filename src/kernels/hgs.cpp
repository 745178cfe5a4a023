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

HgsLoss::HgsLoss(const HgsModel& model) : uniform_(model.uniform), squared_(model.squared), total_(totals(model.tree)) {
  const CountTreeView& tree = model.tree;
  const std::vector<char> leaf = leaves(tree);
  // Of every cell: the cell of its value in the nearest node, itself or above it, that is kept; of every node: that
  // node.
  std::vector<int32_t> place(tree.n_cells()), above(tree.n_cells()), kept(tree.n_nodes, -1);
  link_cells(tree, above.data());
  for (size_t node = 0; node < tree.n_nodes; ++node) {
    const int64_t begin = tree.cell_ptr[node], end = tree.cell_ptr[node + 1];
    const int32_t parent = node ? kept[tree.parent[node]] : -1;
    for (int64_t c = begin; node && c < end; ++c) place[c] = above[c] = place[above[c]];
    kept[node] = parent;
    if (leaf[node]) {
      if (node) add_leaf(tree, node, inner_[parent], above.data());
    } else if (node == 0 || total_[node] > 1) {
      kept[node] = static_cast<int32_t>(inner_.size());
      for (int64_t c = begin; c < end; ++c)
        place[c] = static_cast<int32_t>(without_.size()) + static_cast<int32_t>(c - begin);
      add_inner(tree, node, parent, above.data());
    }
  }
  for (auto* cells : {&mixed_, &slope_, &own_, &cross_}) cells->resize(without_.size());
  for (auto* nodes : {&weights_, &drag_, &rest_}) nodes->resize(inner_.size());
}

// Rows that are alone in a leaf have no leaf without themselves: the node above answers.
void HgsLoss::add_leaf(const CountTreeView& tree, size_t node, Inner& parent, const int32_t* above) {
  const int64_t begin = tree.cell_ptr[node], end = tree.cell_ptr[node + 1];
  if (total_[node] <= 1) {
    for (int64_t c = begin; c < end; ++c) alone_[above[c]] += tree.cell_count[c];
    return;
  }
  if (parent.leaf == parent.leaf_end) parent.leaf = leaf_cells_.size();
  for (int64_t c = begin; c < end; ++c) {
    const double count = tree.cell_count[c];
    leaf_cells_.push_back({above[c], count, std::max(count - 1, 0.0), total_[node] - std::min(count, 1.0)});
  }
  parent.leaf_end = leaf_cells_.size();  // siblings are adjacent: none of another node comes between
}

void HgsLoss::add_inner(const CountTreeView& tree, size_t node, int32_t parent, const int32_t* above) {
  const double more = node ? 0.0 : uniform_, each = more / static_cast<double>(tree.arity);
  const size_t begin = without_.size();
  for (int64_t c = tree.cell_ptr[node]; c < tree.cell_ptr[node + 1]; ++c) {
    const double count = tree.cell_count[c];
    link_.push_back(node ? above[c] : -1);
    without_.push_back((std::max(count - 1, 0.0) + each) / (total_[node] - std::min(count, 1.0) + more));
  }
  alone_.resize(without_.size());
  inner_.push_back({node, parent, begin, without_.size(), 0, 0});
}

double HgsLoss::evaluate(const double* weight, double* gradient, double* curvature) {
  for (auto* sums : {&slope_, &own_, &cross_, &drag_, &rest_}) std::fill(sums->begin(), sums->end(), 0.0);
  double loss = 0;
  for (size_t i = 0; i < inner_.size(); ++i) {
    const Inner& own = inner_[i];
    weights_[i] = weight[i] + (i ? weights_[own.parent] : 0.0);
    for (size_t c = own.begin; c < own.end; ++c) mixed_[c] = weight[i] * without_[c] + (i ? mixed_[link_[c]] : 0.0);
    loss += row_losses(i);
  }
  for (size_t i = inner_.size(); i-- > 0;) {
    const Inner& own = inner_[i];
    gradient[i] = drag_[i], curvature[i] = rest_[i];
    for (size_t c = own.begin; c < own.end; ++c) {
      gradient[i] += without_[c] * slope_[c];
      curvature[i] += without_[c] * (without_[c] * own_[c] - 2 * cross_[c]);
      if (i == 0) continue;
      slope_[link_[c]] += slope_[c];
      own_[link_[c]] += own_[c];
      cross_[link_[c]] += cross_[c];
    }
    curvature[i] = std::max(curvature[i], 0.0);  // a sum of squares but for rounding
    if (i == 0) continue;
    drag_[own.parent] += drag_[i];
    rest_[own.parent] += rest_[i];
  }
  return loss;
}

// Of the rows in leaves right below an inner node, and of those that it answers for.
double HgsLoss::row_losses(size_t i) {
  const Inner& own = inner_[i];
  const double above = weights_[i], scale = 1 / above;
  double loss = 0;
  for (size_t c = own.begin; c < own.end; ++c)
    if (alone_[c] > 0) loss += add_rows(i, static_cast<int32_t>(c), alone_[c], mixed_[c] * scale, scale);
  for (size_t l = own.leaf; l < own.leaf_end; ++l) {
    const LeafCell& cell = leaf_cells_[l];
    const double leaf_scale = 1 / (cell.rows + above);
    loss += add_rows(i, cell.above, cell.count, (cell.left + mixed_[cell.above]) * leaf_scale, leaf_scale);
  }
  return loss;
}

// The loss of rows of probability p; its slopes by what is mixed in (a cell's) and by the sum of weights (the node's).
double HgsLoss::add_rows(size_t i, int32_t cell, double count, double p, double scale) {
  const double slope = squared_ ? -2 * count * (1 - p) * scale : -count * scale / p;
  const double bend = squared_ ? 2 * count * scale * scale : -slope * scale / p;
  slope_[cell] += slope;
  own_[cell] += bend;
  cross_[cell] += bend * p;
  drag_[i] -= slope * p;
  rest_[i] += bend * p * p;
  return squared_ ? count * (1 - p) * (1 - p) : -count * std::log(p);
}

double hgs_loss(const HgsModel& model, const double* weight, double* gradient) {
  HgsLoss loss(model);
  std::vector<double> own(loss.size()), slope(loss.size()), curvature(loss.size());
  for (size_t i = 0; i < own.size(); ++i) own[i] = weight[loss.node(i)];
  const double value = loss.evaluate(own.data(), slope.data(), curvature.data());
  std::fill(gradient, gradient + model.tree.n_nodes, 0.0);
  for (size_t i = 0; i < own.size(); ++i) gradient[loss.node(i)] = slope[i];
  return value;
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
  const double whole = std::sqrt(out[0]);
  for (size_t node = 0; node < tree.n_nodes; ++node) out[node] *= whole;
}

namespace {

// The penalised loss in z = (log weight - log centre) / spread.
class Problem {
 public:
  Problem(const HgsModel& model, double spread, const double* centre)
      : loss_(model), spread_(spread), centre_(loss_.size()), weight_(loss_.size()), curvature_(loss_.size()) {
    for (size_t i = 0; i < centre_.size(); ++i) centre_[i] = centre[loss_.node(i)];
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
    for (size_t i = 0; i < weight_.size(); ++i) weight[loss_.node(i)] = weight_[i];
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
