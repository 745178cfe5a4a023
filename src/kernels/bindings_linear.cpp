// Bindings: hierarchical linear smoothing.
#include "bindings.hpp"
#include "hls.hpp"

namespace countwise {

using namespace nb::literals;

void bind_linear(nb::module_& m) {
  m.def(
      "hls_objective",
      [](const nb::tuple& tree, In<double> counts, double prior, double penalty, In<double> x, Array<double> gradient) {
        const CountTreeArrays arrays = count_tree_arrays(tree);
        arrays.expect_cells(counts.shape(0));
        TreeRegression model({arrays.view(), counts.data(), prior});
        expect_size(x.shape(0), model.size(), "coefficients must be one per cell and one per node");
        expect_size(gradient.shape(0), model.size(), "the gradient must be one per coefficient");
        nb::gil_scoped_release release;
        model.set_penalty(penalty);
        return model.evaluate(x.data(), gradient.data());
      },
      "tree"_a, "counts"_a, "prior"_a, "penalty"_a, "x"_a, "gradient"_a.noconvert());

  m.def(
      "hls_losses",
      [](const nb::tuple& tree, In<double> counts, double prior, In<double> penalties,
         const std::optional<In<double>>& held_out, double tolerance, int max_iterations, Array<double> out) {
        const CountTreeArrays arrays = count_tree_arrays(tree);
        arrays.expect_cells(counts.shape(0));
        if (held_out) arrays.expect_cells(held_out->shape(0));
        expect_size(out.shape(0), penalties.shape(0), "losses must be one per penalty");
        nb::gil_scoped_release release;
        hls_losses({arrays.view(), counts.data(), prior}, penalties.data(), penalties.shape(0),
                   held_out ? held_out->data() : nullptr, {tolerance, max_iterations}, out.data());
      },
      "tree"_a, "counts"_a, "prior"_a, "penalties"_a, "held_out"_a.none(), "tolerance"_a, "max_iterations"_a,
      "out"_a.noconvert());

  m.def(
      "hls_fit",
      [](const nb::tuple& tree, In<double> counts, double prior, double penalty, double tolerance, int max_iterations,
         Array<double> cell_proba, Array<double> absent, Array<double> precision) {
        const CountTreeArrays arrays = count_tree_arrays(tree);
        arrays.expect_cells(counts.shape(0));
        arrays.expect_cells(cell_proba.shape(0));
        arrays.expect_nodes(absent.shape(0));
        arrays.expect_nodes(precision.shape(0));
        nb::gil_scoped_release release;
        return hls_fit({arrays.view(), counts.data(), prior}, penalty, {tolerance, max_iterations},
                       {cell_proba.data(), absent.data(), precision.data()});
      },
      "tree"_a, "counts"_a, "prior"_a, "penalty"_a, "tolerance"_a, "max_iterations"_a, "cell_proba"_a.noconvert(),
      "absent"_a.noconvert(), "precision"_a.noconvert());
}

}  // namespace countwise
