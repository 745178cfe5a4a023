// A hierarchical Dirichlet process fitted to a count tree, without sampling.
#pragma once

#include "count_tree.hpp"

namespace countwise {

// Nodes of one group share a concentration. Groups are runs of nodes: group[0] == 0 is the root alone, and group
// rises by 0 or 1 from one node to the next.
struct HdpModel {
  const int32_t* group;
  size_t n_groups;
  double prior_shape, prior_rate;  // of every concentration but the root's
  double root_concentration;
};

// counts[cell]: raw at leaves, above them the expected number of tables below; concentration[group]. Returns the
// number of sweeps.
int hdp_vb(const CountTreeView& tree, const HdpModel& model, double* counts, double* concentration);

}  // namespace countwise
