// Bindings: searches for parents.
#include "bindings.hpp"
#include "parents.hpp"

namespace countwise {

using namespace nb::literals;

namespace {

nb::list as_lists(const ParentLists& parents) {
  nb::list out;
  for (const auto& of : parents) out.append(nb::cast(of));
  return out;
}

// The rows as Python passes them: codes, arity, target, n_classes, weights and left_out (or None).
struct RowArrays {
  explicit RowArrays(const nb::tuple& t)
      : codes(nb::cast<std::vector<AnyColumn>>(t[0])),
        target(nb::cast<AnyColumn>(t[2])),
        weights(nb::cast<std::optional<In<double>>>(t[4])),
        left_out(nb::cast<std::optional<In<double>>>(t[5])),
        columns(columns_of(codes, nb::cast<std::vector<uint32_t>>(t[1]), target.shape(0))),
        rows{columns,
             column_of(target, 0),
             nb::cast<uint32_t>(t[3]),
             weights_of(weights, target.shape(0)),
             weights_of(left_out, target.shape(0)),
             target.shape(0)} {}
  std::vector<AnyColumn> codes;
  AnyColumn target;
  std::optional<In<double>> weights, left_out;
  std::vector<Column> columns;
  SearchRows rows;
};

}  // namespace

void bind_search(nb::module_& m) {
  m.def(
      "gain_parents",
      [](const nb::tuple& rows, const std::vector<uint32_t>& order, uint32_t n_parents, uint32_t n_candidates) {
        const RowArrays arrays(rows);
        ParentLists found;
        {
          nb::gil_scoped_release release;
          found = gain_parents(arrays.rows, {order, n_parents, n_candidates});
        }
        return as_lists(found);
      },
      "rows"_a, "order"_a, "n_parents"_a, "n_candidates"_a);
  m.def(
      "class_parents",
      [](const nb::tuple& rows, const std::vector<uint32_t>& order, uint32_t n_parents, uint32_t n_candidates,
         const std::vector<uint32_t>& sequence, const std::vector<uint32_t>& scored, uint32_t n_later,
         double least_score) {
        expect_size(sequence.size(), order.size() * n_parents, "one sequence of attributes per round is needed");
        const RowArrays arrays(rows);
        ParentLists found;
        {
          nb::gil_scoped_release release;
          found =
              class_parents(arrays.rows, {order, n_parents, n_candidates}, {sequence, scored, n_later, least_score});
        }
        return as_lists(found);
      },
      "rows"_a, "order"_a, "n_parents"_a, "n_candidates"_a, "sequence"_a, "scored"_a, "n_later"_a, "least_score"_a);
}

}  // namespace countwise
