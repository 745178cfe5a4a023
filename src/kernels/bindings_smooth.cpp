// Bindings: shrinkage, HDP by variational inference.
#include <nanobind/stl/pair.h>

#include "bindings.hpp"
#include "hdp_vb.hpp"

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
        shrink(arrays.view(), counts.data(), {strength.data(), nullptr},
               {cell_proba.data(), absent.data(), precision.data()});
      },
      "tree"_a, "counts"_a, "strength"_a, "cell_proba"_a.noconvert(), "absent"_a.noconvert(),
      "precision"_a.noconvert());
  m.def(
      "hdp_vb",
      [](const nb::tuple& tree, In<int32_t> group, std::pair<double, double> prior, double root_concentration,
         Array<double> counts, Array<double> concentration) {
        const CountTreeArrays arrays = count_tree_arrays(tree);
        arrays.expect_nodes(group.shape(0));
        arrays.expect_cells(counts.shape(0));
        const HdpModel model{group.data(), concentration.shape(0), prior.first, prior.second, root_concentration};
        nb::gil_scoped_release release;
        return hdp_vb(arrays.view(), model, counts.data(), concentration.data());
      },
      "tree"_a, "group"_a, "prior"_a, "root_concentration"_a, "counts"_a.noconvert(), "concentration"_a.noconvert());
  m.def(
      "hdp_vb_smooth",
      [](const nb::tuple& tree, In<int32_t> group, std::pair<double, double> prior, double root_concentration,
         size_t n_groups, Array<double> cell_proba, Array<double> absent, Array<double> precision) {
        const CountTreeArrays arrays = count_tree_arrays(tree);
        arrays.expect_nodes(group.shape(0));
        arrays.expect_cells(cell_proba.shape(0));
        arrays.expect_nodes(absent.shape(0));
        arrays.expect_nodes(precision.shape(0));
        std::vector<double> concentration(n_groups);
        const HdpModel model{group.data(), n_groups, prior.first, prior.second, root_concentration};
        nb::gil_scoped_release release;
        hdp_vb(arrays.view(), model, cell_proba.data(), concentration.data());
        shrink(arrays.view(), cell_proba.data(), {concentration.data(), group.data()},
               {cell_proba.data(), absent.data(), precision.data()});
      },
      "tree"_a, "group"_a, "prior"_a, "root_concentration"_a, "n_groups"_a, "cell_proba"_a.noconvert(),
      "absent"_a.noconvert(), "precision"_a.noconvert());
}

}  // namespace countwise
