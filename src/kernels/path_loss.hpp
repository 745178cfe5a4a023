// The class log loss of a network with each row left out of its own prediction, and its gradient.
#pragma once

#include "context.hpp"

namespace countwise {

// One conditional distribution: a context tree with the counts of an HDP, and the concentration of each level as
// fitted. When a row leaves a cell of n, the level above loses c / (c + n - 1) of it, c = concentration * p_above: the
// chance that the cell's last row has a table of its own.
struct PathTerm {
  uint32_t child, child_arity;
  std::vector<uint32_t> parents;
  const ContextTreeView& tree;
  const double* concentration;  // [level]
};

// What is tuned. Level l of a term's tree is strength[term][l], l >= 1; level 0 is the root.
struct PathParameters {
  const double* strength;  // [term][level], n_levels each
  const double* weight;    // [term]: factor on its log probability
  const double* bias;      // [class]: added to the log prior
};

struct PathGradient {
  double* strength;  // by log strength, [term][level]
  double* weight;    // [term]
  double* bias;      // [class]
};

// The rows to judge by: codes, classes, weights, and what each loses of its weight when it is left out (null: all 1).
struct PathRows {
  const std::vector<Column>& columns;
  Column target;
  const double* weights;
  const double* left_out;
  size_t n_rows;
};

class PathLoss {
 public:
  // n_levels: of the deepest tree, the root included.
  PathLoss(std::vector<double> class_counts, double root_concentration, size_t n_terms, size_t n_levels,
           const PathRows& rows);

  // Walks the rows through one term, once. They must be among those that were counted. Terms have places of their own,
  // so that threads can add them at the same time.
  void add_term(size_t position, const PathTerm& term, const PathRows& rows);

  // The sum of weight * -log p(true class) over the rows, each left out of the counts; adds to `gradient`.
  double evaluate(const PathParameters& at, int n_threads, const PathGradient& gradient) const;

  // out[group][row][class] = the sum of the log probabilities of the terms of each group, without the rows themselves:
  // what the score is linear in once the strengths stand.
  void group_sums(const double* strength, const std::vector<uint32_t>& group, size_t n_groups, int n_threads,
                  double* out) const;

  size_t n_rows() const { return n_rows_; }
  const std::vector<double>& log_prior() const { return log_prior_; }
  size_t n_terms() const { return terms_.size(); }
  size_t n_levels() const { return n_levels_; }
  size_t n_classes() const { return class_counts_.size(); }

 private:
  // What a term's tree holds on the rows' paths, without the rows, level by level from 1 on: only where a class has
  // seen the context, as below that an estimate stays as it is.
  struct Level {
    std::vector<uint32_t> at;  // row * classes + class, ascending
    std::vector<double> n, total;
  };
  struct Paths {
    std::vector<Level> levels;
    std::vector<double> root;     // [row]: the probability at the root
    std::vector<uint8_t> speaks;  // [row]: 0 for a value that was never counted, or in this row alone
  };
  class Walk;
  class Block;

  double block_loss(size_t begin, size_t end, const PathParameters& at, const PathGradient& gradient) const;
  double normalise(size_t row, double* score, double* bias) const;

  std::vector<double> class_counts_;
  double root_concentration_;
  size_t n_levels_, n_rows_;
  std::vector<Paths> terms_;
  std::vector<uint32_t> target_;
  std::vector<double> weights_, left_out_, log_prior_;  // log_prior_[row][class], without the row
};

}  // namespace countwise
