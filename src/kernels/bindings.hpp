// What the binding files share: arrays in and out of Python, checked for size, and one entry point per file.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "context.hpp"
#include "count_tree.hpp"

namespace nb = nanobind;

namespace countwise {

template <class T>
using Array = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using In = Array<const T>;
using AnyColumn = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;

template <class T>
nb::object to_numpy(std::vector<T>&& values) {
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  T* data = owner->data();
  const size_t size = owner->size();
  nb::capsule capsule(owner.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, capsule));
}

inline Column column_of(const AnyColumn& array, uint32_t arity) {
  const auto type = array.dtype();
  if (type.code != static_cast<uint8_t>(nb::dlpack::dtype_code::UInt) || type.bits > 32 ||
      (array.shape(0) > 1 && array.stride(0) != 1))
    throw std::invalid_argument("codes must be contiguous uint8, uint16 or uint32");
  return Column{array.data(), type.bits / 8, arity};
}

inline std::vector<Column> columns_of(const std::vector<AnyColumn>& arrays, const std::vector<uint32_t>& arity,
                                      size_t n_rows) {
  if (arrays.size() != arity.size()) throw std::invalid_argument("one arity per column is needed");
  std::vector<Column> columns;
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].shape(0) != n_rows) throw std::invalid_argument("columns differ in length");
    columns.push_back(column_of(arrays[i], arity[i]));
  }
  return columns;
}

inline const double* weights_of(const std::optional<In<double>>& weights, size_t n_rows) {
  if (!weights) return nullptr;
  if (weights->shape(0) != n_rows) throw std::invalid_argument("weights differ in length from the rows");
  return weights->data();
}

inline void expect_size(size_t actual, size_t expected, const char* what) {
  if (actual != expected) throw std::invalid_argument(what);
}

// A tree's arrays as Python passes them: parent, branch, level_ptr, cell_ptr, cell_value.
struct TreeArrays {
  In<int32_t> parent, branch;
  In<int64_t> level_ptr, cell_ptr;
  In<int32_t> cell_value;
  ContextTreeView view(const double* cell_count) const {
    return {parent.data(),     branch.data(), level_ptr.data(),      cell_ptr.data(),
            cell_value.data(), cell_count,    level_ptr.shape(0) - 1};
  }
};

inline TreeArrays tree_arrays(const nb::tuple& t) {
  return {nb::cast<In<int32_t>>(t[0]), nb::cast<In<int32_t>>(t[1]), nb::cast<In<int64_t>>(t[2]),
          nb::cast<In<int64_t>>(t[3]), nb::cast<In<int32_t>>(t[4])};
}

inline nb::tuple hand_over(ContextTree&& tree) {
  return nb::make_tuple(to_numpy(std::move(tree.parent)), to_numpy(std::move(tree.branch)),
                        to_numpy(std::move(tree.level_ptr)), to_numpy(std::move(tree.cell_ptr)),
                        to_numpy(std::move(tree.cell_value)), to_numpy(std::move(tree.cell_count)));
}

// A count tree as Python passes it: parent, level_ptr, cell_ptr, cell_value, cell_count, arity.
struct CountTreeArrays {
  In<int32_t> parent;
  In<int64_t> level_ptr, cell_ptr;
  In<int32_t> cell_value;
  In<double> cell_count;
  size_t arity;
  CountTreeView view() const {
    return {parent.data(),     level_ptr.data(), cell_ptr.data(),        cell_value.data(),
            cell_count.data(), parent.shape(0),  level_ptr.shape(0) - 1, arity};
  }
  void expect_cells(size_t size) const {
    expect_size(size, cell_value.shape(0), "an array must have one entry per cell");
  }
  void expect_nodes(size_t size) const { expect_size(size, parent.shape(0), "an array must have one entry per node"); }
};

inline CountTreeArrays count_tree_arrays(const nb::tuple& t) {
  return {nb::cast<In<int32_t>>(t[0]), nb::cast<In<int64_t>>(t[1]), nb::cast<In<int64_t>>(t[2]),
          nb::cast<In<int32_t>>(t[3]), nb::cast<In<double>>(t[4]),  nb::cast<size_t>(t[5])};
}

// One for each further file of bindings.
void bind_smoothing(nb::module_& m);           // bindings_smooth.cpp: shrinkage, HDP by variational inference
void bind_sampling(nb::module_& m);            // bindings_sample.cpp: HDP by sampling, Stirling numbers
void bind_dirichlet(nb::module_& m);           // bindings_dirichlet.cpp: the hierarchical Multinomial-Dirichlet model
void bind_linear(nb::module_& m);              // bindings_linear.cpp: hierarchical linear smoothing
void bind_gradient_smoothing(nb::module_& m);  // bindings_hgs.cpp: hierarchical gradient smoothing
void bind_tuning(nb::module_& m);              // bindings_tune.cpp: leave-one-out log loss along paths
void bind_search(nb::module_& m);              // bindings_search.cpp: searches for parents
void bind_growth(nb::module_& m);              // bindings_grow.cpp: growth of classification trees, rows to their nodes

}  // namespace countwise
