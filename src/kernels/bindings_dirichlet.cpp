// Bindings: the hierarchical Multinomial-Dirichlet model.
#include "bindings.hpp"
#include "dirichlet.hpp"

namespace countwise {

using namespace nb::literals;

namespace {

nb::tuple as_tuple(const DirichletFacts& facts) {
  return nb::make_tuple(facts.s, facts.weight, facts.tau, facts.seen, facts.unseen, facts.bound, facts.iterations);
}

DirichletOut outputs(const CountTreeArrays& tree, const Array<double>& cell_proba, const Array<double>& absent,
                     const Array<double>& precision) {
  tree.expect_cells(cell_proba.shape(0));
  tree.expect_nodes(absent.shape(0));
  tree.expect_nodes(precision.shape(0));
  return {cell_proba.data(), absent.data(), precision.data()};
}

}  // namespace

void bind_dirichlet(nb::module_& m) {
  m.def(
      "dirichlet_flat",
      [](const nb::tuple& tree, double s, double weight, bool learn, int max_iterations, Array<double> base,
         Array<double> cell_proba, Array<double> absent, Array<double> precision) {
        const CountTreeArrays arrays = count_tree_arrays(tree);
        expect_size(base.shape(0), arrays.arity, "base must have one entry per value");
        const DirichletOut out = outputs(arrays, cell_proba, absent, precision);
        DirichletFacts facts;
        {
          nb::gil_scoped_release release;
          facts = dirichlet_flat(arrays.view(), {s, weight, learn, max_iterations}, base.data(), out);
        }
        return as_tuple(facts);
      },
      "tree"_a, "s"_a, "weight"_a, "learn"_a, "max_iterations"_a, "base"_a.noconvert(), "cell_proba"_a.noconvert(),
      "absent"_a.noconvert(), "precision"_a.noconvert());
  m.def(
      "dirichlet_tree",
      [](const nb::tuple& tree, double s, double weight, bool learn, int max_iterations, Array<double> cell_proba,
         Array<double> absent, Array<double> precision) {
        const CountTreeArrays arrays = count_tree_arrays(tree);
        const DirichletOut out = outputs(arrays, cell_proba, absent, precision);
        DirichletFacts facts;
        {
          nb::gil_scoped_release release;
          facts = dirichlet_tree(arrays.view(), {s, weight, learn, max_iterations}, out);
        }
        return as_tuple(facts);
      },
      "tree"_a, "s"_a, "weight"_a, "learn"_a, "max_iterations"_a, "cell_proba"_a.noconvert(), "absent"_a.noconvert(),
      "precision"_a.noconvert());
  // For checks against finite differences: bound, g_u, h_u, then g, h and cross of every value of the table; then the
  // gradient in (log s, log weight) and its diagonal of second derivatives.
  m.def(
      "dirichlet_derivatives",
      [](const nb::tuple& tree, double s, double weight, In<double> kappa, double tau) {
        const CountTreeArrays arrays = count_tree_arrays(tree);
        DirichletTable table = flat_table(arrays.view());
        expect_size(kappa.shape(0), table.share().size(), "kappa must have one entry per value that occurs");
        table.start(s, weight);
        table.move_to({{kappa.data(), kappa.data() + kappa.shape(0)}, tau, 0});
        const DirichletDerivatives at = table.derivatives(s, weight, table.kappa(), tau);
        const HyperDerivatives hyper = table.hyper_derivatives(s, weight, false);
        std::vector<double> out{at.bound, at.g_u, at.h_u};
        for (const auto* part : {&at.g, &at.h, &at.cross}) out.insert(out.end(), part->begin(), part->end());
        out.insert(out.end(), {hyper.g[0], hyper.g[1], hyper.h[0][0], hyper.h[1][1]});
        return to_numpy(std::move(out));
      },
      "tree"_a, "s"_a, "weight"_a, "kappa"_a, "tau"_a);
}

}  // namespace countwise
