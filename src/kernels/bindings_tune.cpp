// Bindings: leave-one-out log loss along paths.
#include "bindings.hpp"
#include "path_loss.hpp"
#include "softmax_fit.hpp"
#include "tree_evidence.hpp"

namespace countwise {

using namespace nb::literals;

namespace {

JudgedRows judged_rows(const In<uint32_t>& target, const In<double>& weights, size_t n_classes) {
  expect_size(weights.shape(0), target.shape(0), "one weight per row is needed");
  return {target.data(), weights.data(), target.shape(0), n_classes};
}

// As Python passes them: mean and standard deviation of the log temperature, those of biases and of weights.
FitPriors fit_priors(const nb::tuple& of) {
  return {nb::cast<double>(of[0]), nb::cast<double>(of[1]), nb::cast<double>(of[2]), nb::cast<double>(of[3])};
}

}  // namespace

void bind_tuning(nb::module_& m) {
  nb::class_<PathLoss>(m, "PathLoss")
      .def(
          "__init__",
          [](PathLoss* self, In<double> class_counts, double root_concentration, size_t n_terms, size_t n_levels,
             const AnyColumn& target, const std::optional<In<double>>& weights,
             const std::optional<In<double>>& left_out) {
            const size_t n_rows = target.shape(0);
            const std::vector<Column> none;
            const PathRows rows{none, column_of(target, 0), weights_of(weights, n_rows), weights_of(left_out, n_rows),
                                n_rows};
            new (self) PathLoss({class_counts.data(), class_counts.data() + class_counts.shape(0)}, root_concentration,
                                n_terms, n_levels, rows);
          },
          "class_counts"_a, "root_concentration"_a, "n_terms"_a, "n_levels"_a, "target"_a, "weights"_a.none(),
          "left_out"_a.none())
      .def(
          "add_term",
          [](PathLoss& self, size_t position, const nb::tuple& family, const std::vector<AnyColumn>& codes,
             const std::vector<uint32_t>& arity, const nb::tuple& tree, In<double> cell_count,
             In<double> concentration) {
            const size_t n_rows = codes.at(0).shape(0);
            const auto columns = columns_of(codes, arity, n_rows);
            const TreeArrays arrays = tree_arrays(tree);
            const ContextTreeView view = arrays.view(cell_count.data());
            const uint32_t child = nb::cast<uint32_t>(family[0]);
            expect_size(concentration.shape(0), view.n_levels, "one concentration per level is needed");
            const PathTerm term{child, arity.at(child), nb::cast<std::vector<uint32_t>>(family[1]), view,
                                concentration.data()};
            nb::gil_scoped_release release;
            self.add_term(position, term, {columns, Column{nullptr, 1, 0}, nullptr, nullptr, n_rows});
          },
          "position"_a, "family"_a, "columns"_a, "arity"_a, "tree"_a, "cell_count"_a, "concentration"_a)
      .def(
          "evaluate",
          [](const PathLoss& self, In<double> strength, In<double> weight, In<double> bias, int n_threads,
             Array<double> d_strength, Array<double> d_weight, Array<double> d_bias) {
            expect_size(strength.shape(0), self.n_terms() * self.n_levels(), "strength must be terms x levels");
            expect_size(weight.shape(0), self.n_terms(), "one weight per term is needed");
            expect_size(bias.shape(0), self.n_classes(), "one bias per class is needed");
            expect_size(d_strength.shape(0), strength.shape(0), "the gradient must be as long as the parameters");
            expect_size(d_weight.shape(0), weight.shape(0), "the gradient must be as long as the parameters");
            expect_size(d_bias.shape(0), bias.shape(0), "the gradient must be as long as the parameters");
            nb::gil_scoped_release release;
            return self.evaluate({strength.data(), weight.data(), bias.data()}, n_threads,
                                 {d_strength.data(), d_weight.data(), d_bias.data()});
          },
          "strength"_a, "weight"_a, "bias"_a, "n_threads"_a, "d_strength"_a.noconvert(), "d_weight"_a.noconvert(),
          "d_bias"_a.noconvert())
      .def(
          "group_sums",
          [](const PathLoss& self, In<double> strength, const std::vector<uint32_t>& group, size_t n_groups,
             int n_threads, Array<double> out) {
            expect_size(strength.shape(0), self.n_terms() * self.n_levels(), "strength must be terms x levels");
            expect_size(group.size(), self.n_terms(), "one group per term is needed");
            expect_size(out.shape(0), n_groups * self.n_rows() * self.n_classes(), "sums are groups x rows x classes");
            nb::gil_scoped_release release;
            self.group_sums(strength.data(), group, n_groups, n_threads, out.data());
          },
          "strength"_a, "group"_a, "n_groups"_a, "n_threads"_a, "out"_a.noconvert())
      .def_prop_ro("log_prior", [](const PathLoss& self) { return to_numpy(std::vector<double>(self.log_prior())); });
  m.def(
      "left_out_log_proba",
      [](const nb::tuple& tree, In<double> counts, In<double> strength, double root_concentration, double factor,
         const nb::tuple& rows, int n_threads, Array<double> out) {
        const CountTreeArrays arrays = count_tree_arrays(tree);
        arrays.expect_cells(counts.shape(0));
        arrays.expect_nodes(strength.shape(0));
        const auto node = nb::cast<In<int32_t>>(rows[0]);
        const auto target = nb::cast<AnyColumn>(rows[1]);
        const auto left = nb::cast<In<double>>(rows[2]);
        const size_t n_rows = node.shape(0);
        expect_size(target.shape(0), n_rows, "one class per row is needed");
        expect_size(left.shape(0), n_rows, "what leaves is one number per row");
        expect_size(out.shape(0), n_rows * arrays.arity, "the result is rows x classes");
        const CountTreeView view = arrays.view();
        const LeavingRows leaving{node.data(), column_of(target, 0), left.data(), n_rows};
        nb::gil_scoped_release release;
        left_out_log_proba({view, counts.data(), {strength.data(), nullptr}, root_concentration}, factor, leaving,
                           n_threads, out.data());
      },
      "tree"_a, "counts"_a, "strength"_a, "root_concentration"_a, "factor"_a, "rows"_a, "n_threads"_a,
      "out"_a.noconvert());
  m.def(
      "fit_temperature",
      [](In<uint32_t> target, In<double> weights, In<double> offset, In<double> evidence, const nb::tuple& priors,
         double log_temperature, Array<double> bias) {
        const JudgedRows rows = judged_rows(target, weights, bias.shape(0));
        expect_size(offset.shape(0), rows.n_rows * rows.n_classes, "offsets are rows x classes");
        expect_size(evidence.shape(0), offset.shape(0), "evidence is rows x classes");
        const FitPriors sd = fit_priors(priors);
        double loss;
        {
          nb::gil_scoped_release release;
          loss = fit_temperature(rows, offset.data(), evidence.data(), sd, log_temperature, bias.data());
        }
        return nb::make_tuple(loss, log_temperature);
      },
      "target"_a, "weights"_a, "offset"_a, "evidence"_a, "priors"_a, "log_temperature"_a, "bias"_a.noconvert());
  m.def(
      "fit_weights",
      [](const nb::tuple& judged, In<double> offset, In<double> terms, In<uint32_t> group, size_t n_groups,
         const nb::tuple& priors, int n_threads, Array<double> weight, Array<double> bias) {
        const auto target = nb::cast<In<uint32_t>>(judged[0]);
        const auto weights = nb::cast<In<double>>(judged[1]);
        const JudgedRows rows = judged_rows(target, weights, bias.shape(0));
        expect_size(offset.shape(0), rows.n_rows * rows.n_classes, "offsets are rows x classes");
        expect_size(terms.shape(0), group.shape(0) * offset.shape(0), "terms are terms x rows x classes");
        expect_size(weight.shape(0), group.shape(0), "one weight per term is needed");
        const FitPriors sd = fit_priors(priors);
        const JudgedTerms of{terms.data(), group.data(), group.shape(0), n_groups};
        nb::gil_scoped_release release;
        return fit_weights(rows, offset.data(), of, sd, n_threads, weight.data(), bias.data());
      },
      "rows"_a, "offset"_a, "terms"_a, "group"_a, "n_groups"_a, "priors"_a, "n_threads"_a, "weight"_a.noconvert(),
      "bias"_a.noconvert());
}

}  // namespace countwise
