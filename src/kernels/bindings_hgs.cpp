// Bindings: hierarchical gradient smoothing.
#include "bindings.hpp"
#include "hgs.hpp"

namespace countwise {

using namespace nb::literals;

void bind_gradient_smoothing(nb::module_& m) {
  m.def(
      "hgs_loss",
      [](const nb::tuple& tree, double uniform, bool squared, In<double> weight, Array<double> gradient) {
        const CountTreeArrays arrays = count_tree_arrays(tree);
        arrays.expect_nodes(weight.shape(0));
        arrays.expect_nodes(gradient.shape(0));
        nb::gil_scoped_release release;
        return hgs_loss({arrays.view(), uniform, squared}, weight.data(), gradient.data());
      },
      "tree"_a, "uniform"_a, "squared"_a, "weight"_a, "gradient"_a.noconvert());

  m.def(
      "hgs_centres",
      [](const nb::tuple& tree, In<double> chance, double freedom, double least, double most, Array<double> out) {
        const CountTreeArrays arrays = count_tree_arrays(tree);
        arrays.expect_nodes(chance.shape(0));
        arrays.expect_nodes(out.shape(0));
        nb::gil_scoped_release release;
        hgs_centres(arrays.view(), {chance.data(), freedom, least, most}, out.data());
      },
      "tree"_a, "chance"_a, "freedom"_a, "least"_a, "most"_a, "out"_a.noconvert());

  m.def(
      "hgs_fit",
      [](const nb::tuple& tree, double uniform, bool squared, double spread, double tolerance, int max_iterations,
         Array<double> weight) {
        const CountTreeArrays arrays = count_tree_arrays(tree);
        arrays.expect_nodes(weight.shape(0));
        nb::gil_scoped_release release;
        return hgs_fit({arrays.view(), uniform, squared}, spread, {tolerance, max_iterations}, weight.data());
      },
      "tree"_a, "uniform"_a, "squared"_a, "spread"_a, "tolerance"_a, "max_iterations"_a, "weight"_a.noconvert());

  m.def(
      "hgs_smooth",
      [](const nb::tuple& tree, double uniform, In<double> weight, Array<double> cell_proba, Array<double> absent,
         Array<double> precision) {
        const CountTreeArrays arrays = count_tree_arrays(tree);
        arrays.expect_cells(cell_proba.shape(0));
        for (const size_t size : {weight.shape(0), absent.shape(0), precision.shape(0)}) arrays.expect_nodes(size);
        nb::gil_scoped_release release;
        hgs_smooth({arrays.view(), uniform, false}, weight.data(),
                   {cell_proba.data(), absent.data(), precision.data()});
      },
      "tree"_a, "uniform"_a, "weight"_a, "cell_proba"_a.noconvert(), "absent"_a.noconvert(), "precision"_a.noconvert());
}

}  // namespace countwise
