// Hierarchical linear smoothing: multinomial logistic regression with ridge-penalised coefficients on a tree's nodes.
#pragma once

#include <vector>

#include "count_tree.hpp"
#include "lbfgs.hpp"

namespace countwise {

// What is fitted. Only the counts of leaves are read; a cell may count 0.
struct HlsData {
  CountTreeView tree;
  const double* counts;
  double prior;  // rows, spread evenly over the values, that the root sees besides: they keep it finite
};

// A coefficient for every cell, then one for every node that all its values without a cell share. The predictor of a
// value at a node is the sum of its coefficients from the root, the probabilities are its softmax:
//   p_j[k] = p_parent[k] exp(x_jk) / Z_j,
// which a value without a cell takes no time for. Minimised is
//   - sum over leaves of n log p - prior * mean over values of log p_root + penalty / 2 * sum of squares,
// the coefficients of the root not penalised, a shared one as often as it has values. Everything is O(cells).
//
// Its Hessian at a node is diag(d) - d d' / sum(d), d = N p at a leaf. Eliminating a node below an edge of ridge
// penalty keeps that form, with a = penalty d / (penalty + d) in the place of d. Only the sum over siblings does not:
// there the d of the siblings are added and the form is kept. This pooled Hessian is solved exactly, in two sweeps; it
// preconditions the fit and says what a row's absence, or a new row, would change.
class TreeRegression {
 public:
  explicit TreeRegression(const HlsData& data);

  size_t size() const { return n_cells_ + tree_.n_nodes; }
  double n_rows() const;              // of all leaves
  std::vector<double> start() const;  // every node as the root, the root at its frequencies
  void set_penalty(double penalty) { penalty_ = penalty; }

  // Value and gradient (by a sweep down and one up), and the pooled Hessian, which the functions below use.
  double evaluate(const double* x, double* gradient);
  void precondition(double* v);

  // The sum of -log p over all rows, each left out of the fit: exactly at its leaf, by the pooled Hessian elsewhere.
  double leave_one_out();
  // The sum of -log p over other rows, counted in the leaves' cells.
  double held_out(const double* counts) const;
  // The estimates; precision from the Laplace approximation: p (1 - p) over the variance, both summed over the values.
  void write(const ShrunkOut& out);

 private:
  double descend(size_t node, const double* x);
  void ascend(size_t node, const double* x, double* gradient);
  double common(size_t node, const double* t, double rest_t) const;
  void settle(double* v);
  void look_down();
  double leaf_loss(size_t leaf) const;
  double ridge(size_t node) const { return node ? penalty_ : 0.0; }
  double rest_ridge(size_t node) const { return ridge(node) * rest_values_[node]; }

  CountTreeView tree_;
  const double* counts_;
  double prior_, penalty_ = 1;
  size_t n_cells_;
  std::vector<int32_t> link_;  // the cell of the same value one node up
  std::vector<char> leaf_;
  std::vector<double> total_, rest_values_;  // rows of a leaf; values without a cell
  // By cell.
  std::vector<double> proba_, log_proba_;
  std::vector<double> below_, above_;  // information from the node's own rows (d) and from the rest of the tree
  std::vector<double> scratch_;
  // By node: its absent values.
  std::vector<double> absent_, rest_, uncovered_;  // factor on the parent's probability; all of it here, at the parent
  std::vector<double> reach_, known_;              // rows, and information, below per probability of an absent value
  std::vector<double> rest_below_, rest_above_;
  // By node: all values.
  std::vector<double> passed_, informed_;  // sum of a; sum of below and above
  std::vector<double> spread_;             // scratch
};

// out[i] = the loss of penalties[i] (strongest first, since each fit starts from the one before): of the rows in
// `held_out`, or, if that is null, of each row left out of its own fit. These are taken to rise for good once they have
// risen twice: the rest is infinite.
void hls_losses(const HlsData& data, const double* penalties, size_t n_penalties, const double* held_out,
                const LbfgsOptions& options, double* out);

// The estimates of one penalty; returns what is minimised.
double hls_fit(const HlsData& data, double penalty, const LbfgsOptions& options, const ShrunkOut& out);

}  // namespace countwise
