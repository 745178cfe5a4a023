// Bindings: HDP by sampling, Stirling numbers.
#include "bindings.hpp"

namespace countwise {

void bind_sampling(nb::module_&) {}

}  // namespace countwise
