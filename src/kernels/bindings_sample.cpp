// Bindings: HDP by sampling, Stirling numbers.
#include <nanobind/stl/string.h>

#include <algorithm>

#include "bindings.hpp"
#include "hdp_crt.hpp"
#include "hdp_gibbs.hpp"
#include "stirling.hpp"

namespace countwise {

using namespace nb::literals;

namespace {

using Kernel = void (*)(const CountTreeView&, const HdpModel&, const HdpRun&, const HdpOut&);

// What both samplers write, checked for size. Empty arrays: no trace, no draws.
struct SampleArrays {
  Array<double> cell_proba, absent, precision, concentration, trace, draws;
};

void sample(Kernel kernel, const CountTreeArrays& tree, const HdpModel& model, HdpRun run, const SampleArrays& out) {
  tree.expect_cells(out.cell_proba.shape(0));
  tree.expect_nodes(out.absent.shape(0));
  tree.expect_nodes(out.precision.shape(0));
  if (run.n_iter <= run.burn_in) throw std::invalid_argument("no sweep is left after the burn-in");
  const size_t n_kept = static_cast<size_t>(run.n_iter - run.burn_in), n_trace = out.trace.shape(0);
  if (n_trace > 0) expect_size(n_trace, n_kept * model.n_groups, "trace must be kept sweeps x groups");
  run.n_draws = static_cast<int64_t>(out.draws.shape(0) / tree.arity);
  if (run.draw_node < 0 || run.draw_node >= static_cast<int64_t>(tree.parent.shape(0)))
    throw std::invalid_argument("draw_node is not a node");
  for (size_t node = 1; node < tree.parent.shape(0); ++node)
    if (model.group[node] < 0 || static_cast<size_t>(model.group[node]) >= model.n_groups)
      throw std::invalid_argument("a group is out of range");
  nb::gil_scoped_release release;
  kernel(tree.view(), model, run,
         {{out.cell_proba.data(), out.absent.data(), out.precision.data()},
          out.concentration.data(),
          n_trace > 0 ? out.trace.data() : nullptr,
          run.n_draws > 0 ? out.draws.data() : nullptr});
}

void bind_sampler(nb::module_& m, const char* name, Kernel kernel) {
  m.def(
      name,
      [kernel](const nb::tuple& tree, In<int32_t> group, double shape, double rate, double root_concentration,
               int64_t n_iter, int64_t burn_in, uint64_t seed, int64_t draw_node, Array<double> cell_proba,
               Array<double> absent, Array<double> precision, Array<double> concentration, Array<double> trace,
               Array<double> draws) {
        const CountTreeArrays arrays = count_tree_arrays(tree);
        arrays.expect_nodes(group.shape(0));
        sample(kernel, arrays, {group.data(), concentration.shape(0), shape, rate, root_concentration},
               {n_iter, burn_in, seed, draw_node, 0}, {cell_proba, absent, precision, concentration, trace, draws});
      },
      "tree"_a, "group"_a, "shape"_a, "rate"_a, "root_concentration"_a, "n_iter"_a, "burn_in"_a, "seed"_a,
      "draw_node"_a, "cell_proba"_a.noconvert(), "absent"_a.noconvert(), "precision"_a.noconvert(),
      "concentration"_a.noconvert(), "trace"_a.noconvert(), "draws"_a.noconvert());
}

}  // namespace

void bind_sampling(nb::module_& m) {
  bind_sampler(m, "hdp_gibbs", hdp_gibbs);
  bind_sampler(m, "hdp_crt", hdp_crt);
  m.def(
      "log_stirling",
      [](In<int64_t> n, In<int64_t> t, Array<double> out) {
        expect_size(t.shape(0), n.shape(0), "n and t must have the same length");
        expect_size(out.shape(0), n.shape(0), "out must have the length of n");
        nb::gil_scoped_release release;
        for (size_t i = 0; i < n.shape(0); ++i) out(i) = log_stirling(n(i), t(i));
      },
      "n"_a, "t"_a, "out"_a.noconvert());
  m.def(
      "stirling_ratios",
      [](int64_t n, int64_t t, bool over_tables, bool far, Array<double> out) {
        const int size = static_cast<int>(out.shape(0));
        nb::gil_scoped_release release;
        if (far) return (over_tables ? far_over_tables : far_over_customers)(n, t, size, out.data());
        const int32_t row = static_cast<int32_t>(n), column = static_cast<int32_t>(t);
        if (n + (over_tables ? 0 : size) > StirlingTable::kRows || t + (over_tables ? size : 0) > StirlingTable::kBand)
          throw std::invalid_argument("outside the table of Stirling numbers");
        const auto table = stirling_table(n + size);
        const double* from = over_tables ? table->over_tables(row, column) : table->over_customers(row, column);
        std::copy(from, from + size, out.data());
      },
      "n"_a, "t"_a, "over_tables"_a, "far"_a, "out"_a.noconvert());
  // Draws of one kind of variable, for tests of the generator: "uniform", "gamma", "log_gamma", "minus_log_beta",
  // "tables".
  m.def(
      "random_draws",
      [](const std::string& kind, double a, double b, uint64_t seed, Array<double> out) {
        Random random(seed);
        for (size_t i = 0; i < out.shape(0); ++i)
          out(i) = kind == "gamma"            ? random.gamma(a)
                   : kind == "log_gamma"      ? random.log_gamma(a)
                   : kind == "minus_log_beta" ? random.minus_log_beta(a, b)
                   : kind == "tables"         ? draw_tables(static_cast<int32_t>(b), a, random)
                                              : random.uniform();
      },
      "kind"_a, "a"_a, "b"_a, "seed"_a, "out"_a.noconvert());
}

}  // namespace countwise
