// Bindings: shrinkage, HDP by variational inference.
#include "bindings.hpp"

namespace countwise {

using namespace nb::literals;

void bind_smoothing(nb::module_& m) {
  m.def(
      "shrink",
      [](const nb::tuple& tree, In<double> counts, In<double> strength, Array<double> cell_proba, Array<double> absent,
         Array<double> precision) {
        const CountTreeArrays arrays = count_tree_arrays(tree);
        arrays.expect_cells(counts.shape(0));
        arrays.expect_cells(cell_proba.shape(0));
        arrays.expect_nodes(strength.shape(0));
        arrays.expect_nodes(absent.shape(0));
        arrays.expect_nodes(precision.shape(0));
        nb::gil_scoped_release release;
        shrink(arrays.view(), counts.data(), strength.data(), {cell_proba.data(), absent.data(), precision.data()});
      },
      "tree"_a, "counts"_a, "strength"_a, "cell_proba"_a.noconvert(), "absent"_a.noconvert(),
      "precision"_a.noconvert());
}

}  // namespace countwise
