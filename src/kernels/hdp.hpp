// A hierarchical Dirichlet process over a count tree, however it is fitted.
#pragma once

#include "count_tree.hpp"

namespace countwise {

constexpr double kStart = 2.0, kLeast = 1e-3, kMost = 4000.0;  // of the concentrations that are learned

// Nodes of one group share a concentration. Groups are runs of nodes: group[0] == 0 is the root alone, and group
// rises by 0 or 1 from one node to the next. (The samplers take any numbering, and ignore the root's.)
struct HdpModel {
  const int32_t* group;
  size_t n_groups;
  double shape, rate;  // of the Gamma prior of every concentration but the root's, which is fixed
  double root_concentration;
};

}  // namespace countwise
