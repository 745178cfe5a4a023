// One table of the hierarchical Multinomial-Dirichlet model: columns of counts that share a base distribution.
#pragma once

#include <vector>

#include "count_tree.hpp"

namespace countwise {

// Equal counts, and how often they occur.
struct Run {
  double n, times;
};

// The bound at a point and its derivatives in kappa and u = log tau. The Hessian in kappa is diagonal.
struct DirichletDerivatives {
  double bound = 0, noise = 0;  // noise: what rounding may have done to the bound
  double g_u = 0, h_u = 0;
  std::vector<double> g, h, cross;  // in kappa; g up to a constant, which the constraint sum kappa = 1 takes away
};

// Gradient and Hessian of the bound in (log s, log weight).
struct HyperDerivatives {
  double g[2] = {0, 0}, h[2][2] = {{0, 0}, {0, 0}};
};

// The values are those that some column has; what the others get is not the table's business (see dirichlet.cpp).
class DirichletTable {
 public:
  // `share` of each value: alpha_0 = weight * share.
  explicit DirichletTable(std::vector<double> share) : share_(std::move(share)) {}

  // A column's cells, by the value's number. A column without rows must not be added: it says nothing, and
  // the model without it is the same, but the bound would pay for its theta being independent of kappa.
  void add_cell(size_t value, double count) { cells_.push_back({value, totals_.size(), count}); }
  void end_column();

  // To be called when all cells are there: equal counts become runs, kappa and tau start at the moments.
  void start(double s, double weight);

  // Maximises the bound over kappa and tau from where they are; returns the Newton steps taken. Each step raises it.
  int solve(double s, double weight, int max_iterations);

  DirichletDerivatives derivatives(double s, double weight, const std::vector<double>& kappa, double tau) const {
    return derivatives(s, prior(weight), kappa, tau);
  }

  // Of the bound in (log s, log weight): at fixed kappa and tau, or (`profiled`, at the optimum) following it.
  HyperDerivatives hyper_derivatives(double s, double weight, bool profiled) const;

  // How the likelihood of alpha = a kappa grows with log a: the draws from kappa that a Polya urn would expect.
  double draws(double a) const;

  const std::vector<double>& kappa() const { return kappa_; }
  const std::vector<double>& share() const { return share_; }
  double tau() const { return tau_; }
  double bound() const { return bound_; }

  struct Point {
    std::vector<double> kappa;
    double tau, bound;
  };
  Point point() const { return {kappa_, tau_, bound_}; }
  void move_to(const Point& point);

 private:
  struct Cell {
    size_t value, column;
    double count;
  };
  // alpha_0, and what the bound has of it alone.
  struct Prior {
    std::vector<double> a0;
    double s0, constant;
  };
  Prior prior(double weight) const;
  DirichletDerivatives derivatives(double s, const Prior& prior, const std::vector<double>& kappa, double tau) const;

  std::vector<double> share_;
  std::vector<Cell> cells_;  // until start()
  std::vector<double> totals_;
  std::vector<Run> runs_, columns_;
  std::vector<size_t> run_ptr_;  // the runs of value x are run_ptr_[x] .. run_ptr_[x + 1]
  double n_columns_ = 0;
  std::vector<double> kappa_;
  double tau_ = 1, bound_ = 0;
};

}  // namespace countwise
