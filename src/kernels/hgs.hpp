// Hierarchical gradient smoothing: every leaf mixed with all its ancestors at once, their weights by leave-one-out.
#pragma once

#include <vector>

#include "count_tree.hpp"
#include "lbfgs.hpp"

namespace countwise {

struct HgsModel {
  CountTreeView tree;
  double uniform;  // rows, spread evenly over the values, that the root's frequencies have besides: no value has none
  bool squared;    // (1 - p)^2 in place of -log p
};

// The loss of all rows, each left out of its own estimate, as a function of a weight for every inner node:
//   p[k] = (n_l[k] + sum over ancestors j of a_j f_j[k]) / (N_l + sum of a_j),   f_j[k] = n_j[k] / N_j.
// A row is left out of its leaf and of every ancestor; what holds no other row is gone without it, as it would be if
// the rest were counted. A cell of less than one row loses all of it. Two sweeps, O(cells).
class HgsLoss {
 public:
  explicit HgsLoss(const HgsModel& model);

  // Inner nodes of more than one row, ascending; the weights of others do not matter to any row that is left out.
  size_t size() const { return inner_.size(); }
  size_t node(size_t i) const { return inner_[i].node; }
  double n_rows() const { return total_[0]; }
  // Weights, gradient and curvature of these nodes. The curvature is a stand-in for the Hessian's diagonal that is
  // never negative: rows' own squared slopes, or those of p for squared loss.
  double evaluate(const double* weight, double* gradient, double* curvature);

 private:
  struct Inner {
    size_t node;
    int32_t parent;         // in inner_
    size_t begin, end;      // its cells
    size_t leaf, leaf_end;  // the cells of its children that are leaves
  };
  struct LeafCell {
    int32_t above;             // the cell of the same value in the leaf's parent
    double count, left, rows;  // its rows; those but one; all rows of the leaf but one
  };

  void add_leaf(const CountTreeView& tree, size_t node, Inner& parent, const int32_t* above);
  void add_inner(const CountTreeView& tree, size_t node, int32_t parent, const int32_t* above);
  double row_losses(size_t i);
  double add_rows(size_t i, int32_t cell, double count, double p, double scale);

  double uniform_;
  bool squared_;
  std::vector<double> total_;  // rows of all nodes
  std::vector<Inner> inner_;
  std::vector<LeafCell> leaf_cells_;
  // By cell of an inner node.
  std::vector<int32_t> link_;        // the cell of the same value one node up
  std::vector<double> without_;      // frequency without a row of this value
  std::vector<double> alone_;        // rows below that are alone in their nodes: left out, this node answers
  std::vector<double> mixed_;        // weighted frequencies of the node and its ancestors
  std::vector<double> slope_;        // of the loss by what is mixed in
  std::vector<double> own_, cross_;  // parts of the curvature: f^2 own - 2 f cross + rest
  // By inner node.
  std::vector<double> weights_, drag_, rest_;  // sum of weights; slope of the loss by it; part of the curvature
};

// The loss and its gradient for a weight of every node; those of leaves are not used, and 0 in the gradient.
double hgs_loss(const HgsModel& model, const double* weight, double* gradient);

// out[j], j inner: where the weight of j is expected before any row is left out; leaves 0. A split
// lowers the summed log loss of its rows by G nats, of which chance[j] + freedom * (children - 1) * (values - 1) are
// taken to be chance. With V the sum of what is left in j and below (nodes where that is negative count as unsplit) and
// H the rows' log loss at j, R = V / H is the part that the tree below truly explains. With o = (1 - R) / R, least ..
// most, the weight is o_j sqrt(o_root): where the whole tree explains nearly all, its small nodes are believed more
// too.
struct HgsChance {
  const double* chance;
  double freedom, least, most;
};
void hgs_centres(const CountTreeView& tree, const HgsChance& chance, double* out);

// Weights of the least loss + sum over inner nodes of (log weight - log centre)^2 / (2 spread^2), from `weight` = the
// centres; returns that minimum.
double hgs_fit(const HgsModel& model, double spread, const LbfgsOptions& options, double* weight);

// The estimates. An inner node answers for a child without rows: the weighted frequencies of itself and its ancestors.
// Precision: rows and weights that an estimate is made of.
void hgs_smooth(const HgsModel& model, const double* weight, const ShrunkOut& out);

}  // namespace countwise
