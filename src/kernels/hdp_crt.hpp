// The uncollapsed sampler of the hierarchical Dirichlet process, by Chinese-restaurant tables.
#pragma once

#include "hdp_chain.hpp"

namespace countwise {

// Draws the inner nodes' distributions from the root down, then all tables from the leaves up.
void hdp_crt(const CountTreeView& tree, const HdpModel& model, const HdpRun& run, const HdpOut& out);

// The tables of n >= 1 customers under concentration c: the sum over i < n of Bernoulli(c / (c + i)) variables.
int32_t draw_tables(int32_t n, double c, Random& random);

}  // namespace countwise
