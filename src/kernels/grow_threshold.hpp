// Where the threshold of a number may lie, given the classes of a node's rows.
#pragma once

#include "grow_column.hpp"

namespace countwise {

constexpr size_t kLikelyThresholds = 16;  // quantiles that stand for a posterior
// Chosen on development sets (docs/design.md). Frequencies that were fitted to the classes say too much for them:
constexpr double kThresholdEvidence = 0.5;  // of their log-likelihood
// What is below a node was grown for its threshold; one far away would want another tree:
constexpr double kThresholdReach = 0.2;  // mean distance, as a part of the node's rows, before the classes are seen

// Quantiles of the threshold's posterior, each as likely as the others. By a threshold the classes are as likely as by
// their frequencies on its two sides, 2^-cost; before, it is the less likely the more rows are between it and the
// `chosen` one, and impossible where a side has less than `min_leaf`. From the chosen one outwards none is more
// likely than the one before. Two codes for each, ascending: low and high, see GrownTree. Nothing where all are the
// same. The rows are those of `scratch.entries` with a known value.
template <class Count>
std::vector<int32_t> likely_thresholds(const EntropyScore<Count>& score, uint32_t n_classes, uint32_t n_values,
                                       double min_leaf, int32_t chosen, ColumnScratch<Count>& scratch);

}  // namespace countwise
