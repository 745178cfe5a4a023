// Random cut points of one numeric column: each drawn in proportion to what it saves by the MDLP criterion.
#pragma once

#include <cstdint>
#include <vector>

#include "value_blocks.hpp"

namespace countwise {

// Paper 004, Algorithm 11. Writes ascending cuts; the seed decides among those that are possible.
void random_mdlp_cuts(const LabelledColumn& column, uint64_t seed, std::vector<double>& out);

}  // namespace countwise
