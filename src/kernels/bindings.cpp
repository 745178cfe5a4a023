// The module, and the bindings of counting and prediction. Only the files bindings*.cpp know Python: they turn arrays
// into views, release the GIL and hand results back.
#include "bindings.hpp"

#include <cmath>

#include "encode.hpp"
#include "leave_one_out.hpp"
#include "lookup.hpp"
#include "mdlp.hpp"
#include "pairs.hpp"
#include "random_mdlp.hpp"
#include "random_quantiles.hpp"

using namespace nb::literals;

namespace countwise {
namespace {

// Many trees at once: each (path columns, child column) is a task for a thread.
nb::list build_trees(const std::vector<AnyColumn>& arrays, const std::vector<uint32_t>& arity,
                     const std::vector<std::vector<uint32_t>>& paths, const std::vector<uint32_t>& children,
                     const std::optional<In<double>>& weights, int n_threads) {
  const size_t n_rows = arrays.at(0).shape(0);
  const auto columns = columns_of(arrays, arity, n_rows);
  const double* w = weights_of(weights, n_rows);
  expect_size(paths.size(), children.size(), "one child per path is needed");
  std::vector<ContextTree> trees(paths.size());
  {
    nb::gil_scoped_release release;
    parallel_for(paths.size(), n_threads, [&](size_t t) {
      std::vector<Column> path;
      for (uint32_t c : paths[t]) path.push_back(columns.at(c));
      trees[t] = build_context_tree(path, columns.at(children[t]), w, n_rows);
    });
  }
  nb::list result;
  for (auto& tree : trees) result.append(hand_over(std::move(tree)));
  return result;
}

nb::tuple merge_trees(const nb::tuple& a, const In<double>& a_count, const nb::tuple& b, const In<double>& b_count) {
  const TreeArrays x = tree_arrays(a), y = tree_arrays(b);
  ContextTree merged;
  {
    nb::gil_scoped_release release;
    merged = merge_context_trees(x.view(a_count.data()), y.view(b_count.data()));
  }
  return hand_over(std::move(merged));
}

template <class Code>
bool bind_bin_codes(nb::ndarray<const double, nb::ndim<1>, nb::device::cpu> values, In<double> cuts, Code missing,
                    Array<Code> out) {
  expect_size(out.shape(0), values.shape(0), "out differs in length from the values");
  nb::gil_scoped_release release;
  return bin_codes<Code>(values.data(), values.stride(0), values.shape(0), cuts.data(), cuts.shape(0), missing,
                         out.data());
}

template <class Code>
void bind_recode(const AnyColumn& codes, In<Code> map, Array<Code> out) {
  expect_size(out.shape(0), codes.shape(0), "out differs in length from the codes");
  const Column column = column_of(codes, static_cast<uint32_t>(map.shape(0)));
  nb::gil_scoped_release release;
  recode<Code>(column, out.shape(0), map.data(), out.data());
}

template <class Count>
void bind_pair_sums(nb::module_& m) {
  m.def(
      "pair_entropies",
      [](const PairLayout& layout, In<Count> counts, int n_threads, Array<double> out) {
        expect_size(counts.shape(0), layout.size(), "counts do not fit the layout");
        expect_size(out.shape(0), layout.arity.size() * layout.arity.size(), "out must be n x n");
        nb::gil_scoped_release release;
        pair_entropies(layout, counts.data(), n_threads, out.data());
      },
      "layout"_a, "counts"_a.noconvert(), "n_threads"_a, "out"_a.noconvert());
  m.def(
      "pair_margins",
      [](const PairLayout& layout, In<Count> counts, Array<double> out) {
        expect_size(counts.shape(0), layout.size(), "counts do not fit the layout");
        expect_size(out.shape(0), size_t{layout.first_column.back()} * layout.n_classes, "out must hold every (x, y)");
        if (layout.begin != 0 || layout.end != layout.arity.size() || layout.arity.size() < 2)
          throw std::invalid_argument("margins need all pairs of two or more attributes");
        pair_margins(layout, counts.data(), out.data());
      },
      "layout"_a, "counts"_a.noconvert(), "out"_a.noconvert());
}

Term term_of(uint32_t child, std::vector<uint32_t> parents, const std::vector<uint32_t>& arity) {
  Term term{child, arity.at(child), std::move(parents), {}, {}, {}, {}, {}, false};
  for (uint32_t p : term.parents) term.parent_arity.push_back(arity.at(p));
  return term;
}

// Class first, then the parents.
std::vector<uint32_t> path_arity(uint32_t n_classes, const Term& term) {
  std::vector<uint32_t> path{n_classes};
  path.insert(path.end(), term.parent_arity.begin(), term.parent_arity.end());
  return path;
}

// Even where no base is given.
std::vector<double> log_base(const double* base, uint32_t arity) {
  std::vector<double> out(arity, -std::log(static_cast<double>(arity)));
  if (base) std::transform(base, base + arity, out.begin(), [](double p) { return std::log(p); });
  return out;
}

// One for each term; null where none are given.
const double* factors_of(const std::optional<In<double>>& factors, size_t n_terms) {
  if (factors) expect_size(factors->shape(0), n_terms, "one factor per term is needed");
  return factors ? factors->data() : nullptr;
}

// Runs `fill(column, cuts)` without the GIL.
template <class Fill>
nb::object column_cuts(const In<double>& values, const In<int32_t>& classes, const std::optional<In<double>>& weights,
                       int32_t n_classes, Fill fill) {
  const size_t n = values.shape(0);
  expect_size(classes.shape(0), n, "classes differ in length from the values");
  const LabelledColumn column{values.data(), classes.data(), weights_of(weights, n), static_cast<int64_t>(n),
                              n_classes};
  std::vector<double> cuts;
  {
    nb::gil_scoped_release release;
    fill(column, cuts);
  }
  return to_numpy(std::move(cuts));
}

}  // namespace

NB_MODULE(_kernels, m) {
  nb::set_leak_warnings(false);  // models that live until the interpreter ends are no leak
  m.doc() = "Compiled kernels of countwise: flat arrays in, flat arrays out.";

  m.def("bin_codes", &bind_bin_codes<uint8_t>, "values"_a, "cuts"_a, "missing"_a, "out"_a.noconvert());
  m.def("bin_codes", &bind_bin_codes<uint16_t>, "values"_a, "cuts"_a, "missing"_a, "out"_a.noconvert());
  m.def("bin_codes", &bind_bin_codes<uint32_t>, "values"_a, "cuts"_a, "missing"_a, "out"_a.noconvert());
  m.def("recode", &bind_recode<uint8_t>, "codes"_a, "map"_a.noconvert(), "out"_a.noconvert());
  m.def("recode", &bind_recode<uint16_t>, "codes"_a, "map"_a.noconvert(), "out"_a.noconvert());
  m.def("recode", &bind_recode<uint32_t>, "codes"_a, "map"_a.noconvert(), "out"_a.noconvert());

  m.def(
      "mdlp_cuts",
      [](In<double> values, In<int32_t> classes, std::optional<In<double>> weights, int32_t n_classes) {
        return column_cuts(values, classes, weights, n_classes, mdlp_cuts);
      },
      "values"_a, "classes"_a, "weights"_a.none(), "n_classes"_a);
  m.def(
      "random_mdlp_cuts",
      [](In<double> values, In<int32_t> classes, std::optional<In<double>> weights, int32_t n_classes, uint64_t seed) {
        return column_cuts(values, classes, weights, n_classes,
                           [&](const auto& column, auto& cuts) { random_mdlp_cuts(column, seed, cuts); });
      },
      "values"_a, "classes"_a, "weights"_a.none(), "n_classes"_a, "seed"_a);
  m.def(
      "random_quantiles",
      [](In<double> values, In<double> mass, double fewest, double most, uint64_t seed) {
        expect_size(mass.shape(0), values.shape(0), "one weight per value is needed");
        std::vector<double> cuts;
        {
          nb::gil_scoped_release release;
          cuts = random_quantiles({values.data(), mass.data(), values.shape(0)}, fewest, most, seed);
        }
        return to_numpy(std::move(cuts));
      },
      "values"_a, "mass"_a, "fewest"_a, "most"_a, "seed"_a);
  m.def(
      "tree_cuts",
      [](In<double> values, In<int32_t> classes, std::optional<In<double>> weights, int32_t n_classes,
         int32_t max_depth, double min_weight, bool prune) {
        const TreeLimits limits{max_depth, min_weight, prune};
        return column_cuts(values, classes, weights, n_classes,
                           [&](const auto& column, auto& cuts) { tree_cuts(column, limits, cuts); });
      },
      "values"_a, "classes"_a, "weights"_a.none(), "n_classes"_a, "max_depth"_a, "min_weight"_a, "prune"_a);

  nb::class_<PairLayout>(m, "PairLayout")
      .def(nb::init<std::vector<uint32_t>, uint32_t, uint32_t, uint32_t>(), "arity"_a, "n_classes"_a, "begin"_a,
           "end"_a)
      .def_prop_ro("size", &PairLayout::size);
  m.def(
      "count_pairs",
      [](const PairLayout& layout, const std::vector<AnyColumn>& arrays, const AnyColumn& target, int n_threads,
         Array<uint32_t> out) {
        const size_t n_rows = target.shape(0);
        const auto columns = columns_of(arrays, layout.arity, n_rows);
        expect_size(out.shape(0), layout.size(), "out does not fit the layout");
        nb::gil_scoped_release release;
        count_pairs(layout, columns, column_of(target, layout.n_classes), n_rows, n_threads, out.data());
      },
      "layout"_a, "columns"_a, "target"_a, "n_threads"_a, "out"_a.noconvert());
  m.def(
      "count_pairs_weighted",
      [](const PairLayout& layout, const std::vector<AnyColumn>& arrays, const AnyColumn& target, In<double> weights,
         int n_threads, Array<double> out) {
        const size_t n_rows = target.shape(0);
        const auto columns = columns_of(arrays, layout.arity, n_rows);
        expect_size(out.shape(0), layout.size(), "out does not fit the layout");
        expect_size(weights.shape(0), n_rows, "weights differ in length from the rows");
        nb::gil_scoped_release release;
        count_pairs_weighted(layout, columns, column_of(target, layout.n_classes), weights.data(), n_rows, n_threads,
                             out.data());
      },
      "layout"_a, "columns"_a, "target"_a, "weights"_a, "n_threads"_a, "out"_a.noconvert());
  bind_pair_sums<uint32_t>(m);
  bind_pair_sums<double>(m);

  m.def("build_trees", &build_trees, "columns"_a, "arity"_a, "paths"_a, "children"_a, "weights"_a.none(),
        "n_threads"_a);
  m.def(
      "link_cells",
      [](const nb::tuple& tree, Array<int32_t> out) {
        const CountTreeArrays arrays = count_tree_arrays(tree);
        arrays.expect_cells(out.shape(0));
        nb::gil_scoped_release release;
        link_cells(arrays.view(), out.data());
      },
      "tree"_a, "out"_a.noconvert());
  m.def("release_memory", &release_memory);
  m.def("merge_trees", &merge_trees, "a"_a, "a_count"_a, "b"_a, "b_count"_a);

  nb::class_<Lookup>(m, "Lookup")
      .def(nb::init<uint32_t, size_t>(), "n_classes"_a, "n_terms"_a)
      .def(
          "set",
          [](Lookup& self, size_t position, uint32_t child, std::vector<uint32_t> parents,
             const std::vector<uint32_t>& arity, const nb::tuple& tree, In<double> cell_proba, In<double> absent,
             bool hierarchical, const std::optional<In<double>>& base, uint32_t sparse_below, size_t large,
             size_t narrow) {
            const TreeArrays arrays = tree_arrays(tree);
            const ContextTreeView view = arrays.view(nullptr);
            Term term = term_of(child, std::move(parents), arity);
            if (base) expect_size(base->shape(0), term.child_arity, "base must have one entry per value");
            const double* given = base ? base->data() : nullptr;
            nb::gil_scoped_release release;
            term.flat = !hierarchical;
            term.log_base = log_base(given, term.child_arity);
            Trie trie = log_proba_trie({view, cell_proba.data(), absent.data()}, path_arity(self.n_classes(), term),
                                       term.log_base, hierarchical, {sparse_below, large, narrow});
            term.levels = std::move(trie.levels);
            term.deep = std::move(trie.deep);
            write_out(term, self.n_classes());
            self.set(position, std::move(term));
          },
          "position"_a, "child"_a, "parents"_a, "arity"_a, "tree"_a, "cell_proba"_a, "absent"_a, "hierarchical"_a,
          "base"_a.none() = nb::none(), "sparse_below"_a = Layout{}.sparse_below, "large"_a = Layout{}.large,
          "narrow"_a = Layout{}.narrow)
      .def(
          "log_joint",
          [](const Lookup& self, const std::vector<AnyColumn>& arrays, const std::vector<uint32_t>& arity,
             In<double> log_prior, const std::optional<In<double>>& factors, size_t n_rows, int n_threads,
             Array<double> out) {
            const auto columns = columns_of(arrays, arity, n_rows);
            const double* f = factors_of(factors, self.n_terms());
            expect_size(out.shape(0), n_rows * self.n_classes(), "out must be rows x classes");
            nb::gil_scoped_release release;
            self.log_joint(columns, log_prior.data(), f, n_rows, n_threads, out.data());
          },
          "columns"_a, "arity"_a, "log_prior"_a, "factors"_a.none(), "n_rows"_a, "n_threads"_a, "out"_a.noconvert())
      .def(
          "contributions",
          [](const Lookup& self, const std::vector<AnyColumn>& arrays, const std::vector<uint32_t>& arity,
             const std::optional<In<double>>& factors, size_t n_rows, int n_threads, Array<double> out) {
            const auto columns = columns_of(arrays, arity, n_rows);
            const double* f = factors_of(factors, self.n_terms());
            expect_size(out.shape(0), n_rows * self.n_terms() * self.n_classes(), "out must be rows x terms x classes");
            nb::gil_scoped_release release;
            self.contributions(columns, f, n_rows, n_threads, out.data());
          },
          "columns"_a, "arity"_a, "factors"_a.none(), "n_rows"_a, "n_threads"_a, "out"_a.noconvert());

  nb::class_<LeaveOneOut>(m, "LeaveOneOut")
      .def(
          "__init__",
          [](LeaveOneOut* self, In<double> class_counts, uint32_t n_levels, double strength, size_t n_terms) {
            new (self) LeaveOneOut({class_counts.data(), class_counts.data() + class_counts.shape(0)}, n_levels,
                                   strength, n_terms);
          },
          "class_counts"_a, "n_levels"_a, "m"_a, "n_terms"_a)
      .def(
          "set",
          [](LeaveOneOut& self, size_t position, uint32_t child, std::vector<uint32_t> parents,
             const std::vector<uint32_t>& arity, uint32_t n_classes, const nb::tuple& tree, In<double> cell_count,
             In<double> node_count) {
            const TreeArrays arrays = tree_arrays(tree);
            const ContextTreeView view = arrays.view(cell_count.data());
            Term term = term_of(child, std::move(parents), arity);
            nb::gil_scoped_release release;
            term.levels =
                count_trie({view, cell_count.data(), node_count.data()}, path_arity(n_classes, term), term.child_arity);
            std::vector<double> root(term.child_arity, 0.0);
            for (int64_t c = 0; c < view.cell_ptr[1]; ++c) root[view.cell_value[c]] = cell_count.data()[c];
            self.set(position, std::move(term), std::move(root));
          },
          "position"_a, "child"_a, "parents"_a, "arity"_a, "n_classes"_a, "tree"_a, "cell_count"_a, "node_count"_a)
      .def(
          "losses",
          [](const LeaveOneOut& self, const std::vector<AnyColumn>& arrays, const std::vector<uint32_t>& arity,
             const AnyColumn& target, const std::optional<In<double>>& weights,
             const std::optional<In<double>>& one_row, int loss, double scale, int n_threads, Array<int64_t> out) {
            const size_t n_rows = target.shape(0);
            const auto columns = columns_of(arrays, arity, n_rows);
            const double* w = weights_of(weights, n_rows);
            const double* one = one_row ? one_row->data() : nullptr;
            if (one_row) expect_size(one_row->shape(0), self.n_classes(), "one_row must be by class");
            expect_size(out.shape(0), (self.n_terms() + 1) * self.n_levels(), "out must be attributes+1 x levels");
            nb::gil_scoped_release release;
            self.losses({columns, column_of(target, 0), w, one, static_cast<Loss>(loss), scale}, n_rows, n_threads,
                        out.data());
          },
          "columns"_a, "arity"_a, "target"_a, "weights"_a.none(), "one_row"_a.none(), "loss"_a, "scale"_a,
          "n_threads"_a, "out"_a.noconvert());

  m.attr("LOSS_UNIT") = kLossUnit;

  bind_smoothing(m);
  bind_sampling(m);
  bind_dirichlet(m);
  bind_linear(m);
  bind_gradient_smoothing(m);
  bind_tuning(m);
  bind_search(m);
  bind_growth(m);

  m.def(
      "softmax_rows",
      [](size_t n_rows, size_t n_classes, int n_threads, Array<double> out) {
        expect_size(out.shape(0), n_rows * n_classes, "out must be rows x classes");
        nb::gil_scoped_release release;
        softmax_rows(n_rows, n_classes, n_threads, out.data());
      },
      "n_rows"_a, "n_classes"_a, "n_threads"_a, "out"_a.noconvert());
}

}  // namespace countwise
