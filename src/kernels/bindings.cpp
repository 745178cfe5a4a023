// The one file that knows Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "mdlp.hpp"

namespace nb = nanobind;

namespace {

using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ints = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using NewDoubles = nb::ndarray<nb::numpy, double, nb::ndim<1>>;

// Runs `fill(column, cuts)` without the GIL and hands the cuts over to NumPy.
template <class Fill>
NewDoubles column_cuts(const Doubles& values, const Ints& classes, const std::optional<Doubles>& weights,
                       int32_t n_classes, Fill fill) {
  const size_t n = values.shape(0);
  if (classes.shape(0) != n || (weights && weights->shape(0) != n)) {
    throw std::invalid_argument("values, classes and weights differ in length");
  }
  const countwise::LabelledColumn column{values.data(), classes.data(), weights ? weights->data() : nullptr,
                                         static_cast<int64_t>(n), n_classes};
  auto cuts = std::make_unique<std::vector<double>>();
  {
    nb::gil_scoped_release release;
    fill(column, *cuts);
  }
  auto* kept = cuts.release();
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return NewDoubles(kept->data(), {kept->size()}, owner);
}

void bind_discretise(nb::module_& m) {
  using nb::literals::operator""_a;
  m.def(
      "mdlp_cuts",
      [](Doubles values, Ints classes, std::optional<Doubles> weights, int32_t n_classes) {
        return column_cuts(values, classes, weights, n_classes, countwise::mdlp_cuts);
      },
      "values"_a, "classes"_a, "weights"_a.none(), "n_classes"_a);
  m.def(
      "tree_cuts",
      [](Doubles values, Ints classes, std::optional<Doubles> weights, int32_t n_classes, int32_t max_depth,
         double min_weight, bool prune) {
        const countwise::TreeLimits limits{max_depth, min_weight, prune};
        return column_cuts(values, classes, weights, n_classes, [&](const auto& column, auto& cuts) {
          countwise::tree_cuts(column, limits, cuts);
        });
      },
      "values"_a, "classes"_a, "weights"_a.none(), "n_classes"_a, "max_depth"_a, "min_weight"_a, "prune"_a);
}

}  // namespace

NB_MODULE(_kernels, m) { bind_discretise(m); }
