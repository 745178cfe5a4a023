// Bindings: hierarchical linear smoothing.
#include "bindings.hpp"

namespace countwise {

void bind_linear(nb::module_&) {}

}  // namespace countwise
