// The collapsed Gibbs sampler of the hierarchical Dirichlet process.
#pragma once

#include "hdp_chain.hpp"

namespace countwise {

// All node distributions are integrated out; the chain runs over tables and concentrations (paper 000, section 4.4).
void hdp_gibbs(const CountTreeView& tree, const HdpModel& model, const HdpRun& run, const HdpOut& out);

}  // namespace countwise
