// The hierarchical Multinomial-Dirichlet model of paper 003 by variational inference: along a count tree.
#pragma once

#include "dirichlet_table.hpp"

namespace countwise {

struct DirichletOptions {
  double s;       // strength: theta_y ~ Dirichlet(s kappa)
  double weight;  // kappa ~ Dirichlet(weight, weight, ...); down a tree: Dirichlet(weight * arity * kappa above)
  bool learn;     // maximise the bound over s and weight too, within a factor of 10^4
  int max_iterations;
};

// Where the estimates go: per cell the probability; per node the factor for a value without a cell, and the weight of a
// Dirichlet distribution that is as uncertain as the estimate (same trace of the covariance, Lemma 2).
struct DirichletOut {
  double* cell_proba;
  double* absent;
  double* precision;
};

// What was learned: of the one table, or of the root's. The values without a row share z ~ Beta(unseen, seen) of kappa;
// the others share the rest as Dirichlet(tau k).
struct DirichletFacts {
  double s, weight, tau, seen, unseen, bound;
  int iterations;
};

// One table: its columns are the leaves, which share kappa (all `arity` values, written to `base`). Every node's
// estimate is (n + s kappa) / (N + s).
DirichletFacts dirichlet_flat(const CountTreeView& tree, DirichletOptions options, double* base,
                              const DirichletOut& out);

// One table for each inner node, from the root down: its columns are the children, its prior the node above.
// An inner node's estimate is its kappa, a leaf's (n + s kappa_parent) / (N + s).
DirichletFacts dirichlet_tree(const CountTreeView& tree, DirichletOptions options, const DirichletOut& out);

// The table of dirichlet_flat, for checks of its bound and derivatives.
DirichletTable flat_table(const CountTreeView& tree);

}  // namespace countwise
