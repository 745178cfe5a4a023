// Losses of many nested models at once, with each row left out of its own prediction.
#pragma once

#include "lookup.hpp"

namespace countwise {

enum class Loss { kSquared = 0, kZeroOne = 1, kLog = 2 };

// Losses are summed as whole numbers of 2^-32, so that sums do not depend on the order of the rows.
constexpr double kLossUnit = 4294967296.0;

// The rows to score: codes, classes, weights (or null), and how to judge a prediction. A row that is left out loses
// one_row[its class], or all of its weight if that is null. Weights are multiplied by `scale`, a power of two that
// keeps the sum of all losses within 62 bits.
struct LossRows {
  const std::vector<Column>& columns;
  Column target;
  const double* weights;
  const double* one_row;
  Loss loss;
  double scale;
};

// Counts of the terms in the order in which attributes enter the model.
class LeaveOneOut {
 public:
  // m: the strength of the m-estimate; n_levels = 1 + the largest number of parents.
  LeaveOneOut(std::vector<double> class_counts, uint32_t n_levels, double m, size_t n_terms)
      : n_classes_(static_cast<uint32_t>(class_counts.size())),
        n_levels_(n_levels),
        m_(m),
        class_counts_(std::move(class_counts)),
        terms_(n_terms),
        root_counts_(n_terms) {}

  void set(size_t position, Term term, std::vector<double> root_counts) {
    terms_.at(position) = std::move(term);
    root_counts_.at(position) = std::move(root_counts);
  }

  // out[a][k] += the loss, in units, of the model of the first a attributes with at most k parents each, with
  // each row left out of all counts. The loss of a row of weight w counts w times.
  void losses(const LossRows& rows, size_t n_rows, int n_threads, int64_t* out) const;
  size_t n_terms() const { return terms_.size(); }
  size_t n_classes() const { return n_classes_; }
  uint32_t n_levels() const { return n_levels_; }

 private:
  class Share;
  void share_losses(const LossRows& rows, size_t begin, size_t end, int64_t* out) const;

  uint32_t n_classes_, n_levels_;
  double m_;
  std::vector<double> class_counts_;
  std::vector<Term> terms_;
  std::vector<std::vector<double>> root_counts_;  // per term, of each value
};

}  // namespace countwise
