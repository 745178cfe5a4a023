// A hierarchical Dirichlet process fitted to a count tree, without sampling.
#pragma once

#include "hdp.hpp"

namespace countwise {

// counts[cell]: raw at leaves, above them the expected number of tables below; concentration[group]. Returns the
// number of sweeps.
int hdp_vb(const CountTreeView& tree, const HdpModel& model, double* counts, double* concentration);

}  // namespace countwise
