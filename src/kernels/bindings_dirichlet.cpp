// Bindings: the hierarchical Multinomial-Dirichlet model.
#include "bindings.hpp"

namespace countwise {

void bind_dirichlet(nb::module_&) {}

}  // namespace countwise
