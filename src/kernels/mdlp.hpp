// Cut points of one numeric column by class entropy: MDLP, and decision-tree bins.
#pragma once

#include <cstdint>
#include <vector>

#include "value_blocks.hpp"

namespace countwise {

// Fayyad & Irani's recursive cuts, each accepted by the minimum description length criterion. Writes
// ascending cuts.
void mdlp_cuts(const LabelledColumn& column, std::vector<double>& out);

struct TreeLimits {
  int32_t max_depth;
  double min_weight;  // of each side of a cut
  bool prune;         // bottom-up, with the MDLP criterion: a cut stays if it or one below it passes
};

// The cuts of a binary entropy tree. Writes ascending cuts.
void tree_cuts(const LabelledColumn& column, const TreeLimits& limits, std::vector<double>& out);

}  // namespace countwise
