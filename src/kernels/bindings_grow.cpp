// Bindings: growth of classification trees, rows to their nodes, and counts of nodes.
#include "bindings.hpp"
#include "grow.hpp"
#include "grow_choice.hpp"
#include "sum_upwards.hpp"
#include "walk.hpp"

namespace countwise {

using namespace nb::literals;

namespace {

nb::tuple bind_grow_tree(const std::vector<AnyColumn>& codes, const std::vector<uint32_t>& arity,
                         const std::vector<uint32_t>& n_values, const AnyColumn& target, uint32_t n_classes,
                         const std::optional<In<double>>& weights, const std::vector<uint32_t>& n_known,
                         const nb::tuple& options, int n_threads) {
  const size_t n_rows = target.shape(0);
  const auto columns = columns_of(codes, arity, n_rows);
  expect_size(n_values.size(), columns.size(), "one n_values per column is needed");
  if (!n_known.empty()) expect_size(n_known.size(), columns.size(), "one n_known per column is needed");
  const GrowOptions own{static_cast<GrowCriterion>(nb::cast<int>(options[0])),
                        nb::cast<double>(options[1]),
                        nb::cast<uint32_t>(options[2]),
                        nb::cast<uint32_t>(options[3]),
                        nb::cast<uint64_t>(options[4]),
                        nb::cast<bool>(options[5]),
                        nb::cast<bool>(options[6]),
                        n_threads};
  const GrowRows rows{columns, n_values, column_of(target, n_classes), n_classes, weights_of(weights, n_rows),
                      n_rows,  n_known};
  GrownTree tree;
  {
    nb::gil_scoped_release release;
    tree = grow_tree(rows, own);
  }
  return nb::make_tuple(to_numpy(std::move(tree.parent)), to_numpy(std::move(tree.branch)),
                        to_numpy(std::move(tree.column)), to_numpy(std::move(tree.low)), to_numpy(std::move(tree.high)),
                        to_numpy(std::move(tree.level_ptr)), to_numpy(std::move(tree.cell_ptr)),
                        to_numpy(std::move(tree.cell_value)), to_numpy(std::move(tree.cell_count)),
                        to_numpy(std::move(tree.side_ptr)), to_numpy(std::move(tree.sides)));
}

nb::tuple bind_choose_splits(const std::vector<In<double>>& arrays, const std::vector<uint32_t>& arity,
                             const std::vector<uint32_t>& n_values, uint32_t n_classes, const nb::tuple& options,
                             Array<int32_t> column, Array<int32_t> low, Array<int32_t> high) {
  const size_t n_nodes = column.shape(0);
  expect_size(arity.size(), arrays.size(), "one arity per table is needed");
  expect_size(n_values.size(), arrays.size(), "one n_values per table is needed");
  expect_size(low.shape(0), n_nodes, "low differs in length from column");
  expect_size(high.shape(0), n_nodes, "high differs in length from column");
  std::vector<const double*> tables;
  for (size_t c = 0; c < arrays.size(); ++c) {
    expect_size(arrays[c].shape(0), n_nodes * arity[c] * n_classes, "a table must be nodes x codes x classes");
    tables.push_back(arrays[c].data());
  }
  const ChoiceOptions own{static_cast<GrowCriterion>(nb::cast<int>(options[0])), nb::cast<double>(options[1]),
                          nb::cast<bool>(options[2]), nb::cast<bool>(options[3]), nb::cast<int>(options[6])};
  const double total = nb::cast<double>(options[4]);
  const bool whole = nb::cast<bool>(options[5]);
  std::vector<std::vector<int32_t>> sides(n_nodes);
  std::vector<int64_t> side_ptr(n_nodes + 1, 0);
  std::vector<int32_t> flat;
  {
    nb::gil_scoped_release release;
    choose_splits({tables, arity, n_values, n_classes, n_nodes, total, whole}, own,
                  {column.data(), low.data(), high.data(), sides.data()});
    for (size_t i = 0; i < n_nodes; ++i) {
      flat.insert(flat.end(), sides[i].begin(), sides[i].end());
      side_ptr[i + 1] = static_cast<int64_t>(flat.size());
    }
  }
  return nb::make_tuple(to_numpy(std::move(side_ptr)), to_numpy(std::move(flat)));
}

// The arrays of a SplitTable as Python has them.
struct SplitArrays {
  explicit SplitArrays(const nb::tuple& splits)
      : nodes(nb::cast<In<int32_t>>(splits[0])),
        branch(nb::cast<In<int32_t>>(splits[1])),
        side_ptr(nb::cast<In<int64_t>>(splits[2])),
        sides(nb::cast<In<int32_t>>(splits[3])),
        masks(nb::cast<In<uint64_t>>(splits[4])) {
    expect_size(nodes.shape(0), 4 * branch.shape(0), "nodes must have four numbers for each node");
    expect_size(side_ptr.shape(0), branch.shape(0) + 1, "side_ptr must have one entry per node and one more");
    expect_size(masks.shape(0), 2 * branch.shape(0), "masks must have two entries for each node");
  }

  SplitView view(const std::vector<uint32_t>& n_values) const {
    return {reinterpret_cast<const WalkNode*>(nodes.data()),
            branch.data(),
            side_ptr.data(),
            sides.data(),
            masks.data(),
            n_values};
  }

  In<int32_t> nodes, branch;
  In<int64_t> side_ptr;
  In<int32_t> sides;
  In<uint64_t> masks;
};

// Known values of each column, the totals of nodes, and whether thresholds are soft.
struct SpreadingArrays {
  SpreadingArrays(const nb::tuple& spreading, size_t n_columns, const SplitArrays& splits)
      : n_known(nb::cast<std::vector<uint32_t>>(spreading[0])),
        total(nb::cast<In<double>>(spreading[1])),
        soft(nb::cast<bool>(spreading[2])) {
    expect_size(total.shape(0), splits.branch.shape(0), "one total per node is needed");
    if (!n_known.empty()) expect_size(n_known.size(), n_columns, "one n_known per column is needed");
  }

  Spreading view() const { return {n_known, total.data(), soft}; }

  std::vector<uint32_t> n_known;
  In<double> total;
  bool soft;
};

}  // namespace

void bind_growth(nb::module_& m) {
  m.def("choose_splits", &bind_choose_splits, "tables"_a, "arity"_a, "n_values"_a, "n_classes"_a, "options"_a,
        "column"_a.noconvert(), "low"_a.noconvert(), "high"_a.noconvert());
  m.def("grow_tree", &bind_grow_tree, "columns"_a, "arity"_a, "n_values"_a, "target"_a, "n_classes"_a,
        "weights"_a.none(), "n_known"_a, "options"_a, "n_threads"_a);
  m.def(
      "sum_upwards",
      [](In<int32_t> parent, In<int64_t> key, In<double> count, size_t arity) {
        expect_size(count.shape(0), key.shape(0), "one count per key is needed");
        const KeyedCounts own{key.data(), count.data(), key.shape(0)};
        SummedCells cells;
        {
          nb::gil_scoped_release release;
          cells = sum_upwards(parent.data(), parent.shape(0), own, arity);
        }
        return nb::make_tuple(to_numpy(std::move(cells.cell_ptr)), to_numpy(std::move(cells.cell_value)),
                              to_numpy(std::move(cells.cell_count)));
      },
      "parent"_a, "key"_a, "count"_a, "arity"_a);
  m.def(
      "reach_nodes",
      [](const std::vector<AnyColumn>& codes, const std::vector<uint32_t>& n_values, const nb::tuple& splits,
         int n_threads, Array<int32_t> out) {
        const size_t n_rows = out.shape(0);
        const auto columns = columns_of(codes, n_values, n_rows);  // codes of a walk need no arity
        const SplitArrays own(splits);
        nb::gil_scoped_release release;
        reach_nodes(columns, own.view(n_values), n_rows, n_threads, out.data());
      },
      "columns"_a, "n_values"_a, "splits"_a, "n_threads"_a, "out"_a.noconvert());
  m.def(
      "spread_rows",
      [](const std::vector<AnyColumn>& codes, const std::vector<uint32_t>& n_values, const nb::tuple& splits,
         const nb::tuple& spreading, size_t n_rows, int n_threads) {
        const auto columns = columns_of(codes, n_values, n_rows);
        const SplitArrays own(splits);
        const SpreadingArrays ways(spreading, columns.size(), own);
        SpreadRows out;
        {
          nb::gil_scoped_release release;
          out = spread_rows(columns, own.view(n_values), ways.view(), n_rows, n_threads);
        }
        return nb::make_tuple(to_numpy(std::move(out.row_ptr)), to_numpy(std::move(out.node)),
                              to_numpy(std::move(out.share)));
      },
      "columns"_a, "n_values"_a, "splits"_a, "spreading"_a, "n_rows"_a, "n_threads"_a);
  m.def(
      "spread_proba",
      [](const std::vector<AnyColumn>& codes, const std::vector<uint32_t>& n_values, const nb::tuple& splits,
         const nb::tuple& spreading, In<double> proba, size_t n_rows, int n_threads, Array<double> out) {
        const auto columns = columns_of(codes, n_values, n_rows);
        const SplitArrays own(splits);
        const SpreadingArrays ways(spreading, columns.size(), own);
        const size_t arity = proba.shape(0) / own.branch.shape(0);
        expect_size(proba.shape(0), own.branch.shape(0) * arity, "proba must be nodes x values");
        expect_size(out.shape(0), n_rows * arity, "out must be rows x values");
        nb::gil_scoped_release release;
        spread_proba(columns, own.view(n_values), ways.view(), proba.data(), arity, n_rows, n_threads, out.data());
      },
      "columns"_a, "n_values"_a, "splits"_a, "spreading"_a, "proba"_a, "n_rows"_a, "n_threads"_a, "out"_a.noconvert());
  m.def(
      "node_proba",
      [](const nb::tuple& tree, In<double> cell_proba, In<double> absent, const std::optional<In<double>>& base,
         bool hierarchical, In<int32_t> nodes, int n_threads, Array<double> out) {
        const CountTreeArrays arrays = count_tree_arrays(tree);
        arrays.expect_cells(cell_proba.shape(0));
        arrays.expect_nodes(absent.shape(0));
        if (base) expect_size(base->shape(0), arrays.arity, "base must have one entry per value");
        expect_size(out.shape(0), nodes.shape(0) * arrays.arity, "out must be nodes x values");
        nb::gil_scoped_release release;
        node_proba(arrays.view(), {cell_proba.data(), absent.data(), base ? base->data() : nullptr, hierarchical},
                   nodes.data(), nodes.shape(0), n_threads, out.data());
      },
      "tree"_a, "cell_proba"_a, "absent"_a, "base"_a.none(), "hierarchical"_a, "nodes"_a, "n_threads"_a,
      "out"_a.noconvert());
}

}  // namespace countwise
