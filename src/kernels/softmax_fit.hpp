// Small fits of the class log loss: scores that are linear in a few numbers, with normal priors around no change.
#pragma once

#include "common.hpp"

namespace countwise {

// What scores are judged by: the class and the weight of each row.
struct JudgedRows {
  const uint32_t* target;
  const double* weights;
  size_t n_rows, n_classes;
};

struct FitPriors {
  double temperature_mean, temperature_sd;  // of its logarithm
  double bias_sd, weight_sd;
};

// Scores offset + bias + t * evidence (rows x classes). Newton's method from log_t and bias[class], which it moves to
// the minimum; returns the loss with its prior.
double fit_temperature(const JudgedRows& rows, const double* offset, const double* evidence, const FitPriors& priors,
                       double& log_t, double* bias);

// Terms x rows x classes, each term in one of n_groups.
struct JudgedTerms {
  const double* values;
  const uint32_t* group;
  size_t n_terms, n_groups;
};

// Scores offset + bias + sum_j weight_j term_j; a weight is 1 + what is common to its group + its own, both with
// standard deviation weight_sd. Writes weight[term] and bias[class]; returns the loss with its prior.
double fit_weights(const JudgedRows& rows, const double* offset, const JudgedTerms& terms, const FitPriors& priors,
                   int n_threads, double* weight, double* bias);

}  // namespace countwise
