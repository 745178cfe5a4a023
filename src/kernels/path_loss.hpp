// The class log loss of a network with each row left out of its own prediction, and its gradient.
#pragma once

#include "lookup.hpp"

namespace countwise {

// One conditional distribution: counts by context and value for all classes at once (term.levels), and what leaves the
// level above when a row leaves an entry, as a share: pass_up[level][entry][class].
struct PathTerm {
  Term term;
  std::vector<std::vector<double>> pass_up;
  std::vector<double> root_counts;  // per value, all classes together
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

class PathLoss {
 public:
  // n_levels: of the deepest tree, the root included.
  PathLoss(std::vector<double> class_counts, double root_concentration, size_t n_terms, size_t n_levels)
      : class_counts_(std::move(class_counts)),
        root_concentration_(root_concentration),
        n_levels_(n_levels),
        terms_(n_terms),
        paths_(n_terms) {}

  void set(size_t position, PathTerm term) { terms_.at(position) = std::move(term); }
  size_t n_terms() const { return terms_.size(); }
  size_t n_levels() const { return n_levels_; }
  size_t n_classes() const { return class_counts_.size(); }

  // Walks the rows to judge by, once, after all terms are set. They must be among those that were counted.
  void load(const std::vector<Column>& columns, const Column& target, const double* weights, size_t n_rows,
            int n_threads);

  // The sum of weight * -log p(true class) over the rows, each left out of the counts; adds to `gradient`.
  double evaluate(const PathParameters& at, int n_threads, const PathGradient& gradient) const;

 private:
  // Of one term, for every row and level of its trie: where the walk stands, and how much of the row's count is
  // there. Index 0 of left_out is the root.
  struct Paths {
    std::vector<uint32_t> node, entry, depth;  // depth: levels that the walk reached; 0: the term says nothing
    std::vector<double> left_out, root;        // root: the probability at the root, without the row
  };
  class Block;
  void walk(size_t t, const std::vector<Column>& columns, size_t row);

  std::vector<double> class_counts_;
  double root_concentration_;
  size_t n_levels_;
  std::vector<PathTerm> terms_;
  std::vector<Paths> paths_;
  std::vector<uint32_t> target_;
  std::vector<double> weights_;
};

}  // namespace countwise
