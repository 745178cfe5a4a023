#include "count_tree.hpp"

#include <algorithm>

namespace countwise {

void link_cells(const CountTreeView& tree, int32_t* out) {
  std::vector<int32_t> slot(tree.arity, -1);
  std::fill(out, out + tree.n_cells(), -1);
  int32_t linked = -1;
  for (size_t node = 1; node < tree.n_nodes; ++node) {
    const int32_t parent = tree.parent[node];
    if (parent != linked) {
      if (linked >= 0)
        for (int64_t c = tree.cell_ptr[linked]; c < tree.cell_ptr[linked + 1]; ++c) slot[tree.cell_value[c]] = -1;
      for (int64_t c = tree.cell_ptr[parent]; c < tree.cell_ptr[parent + 1]; ++c)
        slot[tree.cell_value[c]] = static_cast<int32_t>(c);
      linked = parent;
    }
    for (int64_t c = tree.cell_ptr[node]; c < tree.cell_ptr[node + 1]; ++c) out[c] = slot[tree.cell_value[c]];
  }
}

void shrink(const CountTreeView& tree, const double* counts, const Strength& strength, const ShrunkOut& out) {
  // One pass in level order. The parent's probabilities lie in `base` by value while its children are done.
  std::vector<double> base(tree.arity, 1.0 / static_cast<double>(tree.arity));
  int32_t loaded = -1;
  for (size_t node = 0; node < tree.n_nodes; ++node) {
    const int32_t parent = tree.parent[node];
    if (parent != loaded) {
      for (int64_t c = tree.cell_ptr[parent]; c < tree.cell_ptr[parent + 1]; ++c)
        base[tree.cell_value[c]] = out.cell_proba[c];
      loaded = parent;
    }
    const int64_t begin = tree.cell_ptr[node], end = tree.cell_ptr[node + 1];
    double total = 0;
    for (int64_t c = begin; c < end; ++c) total += counts[c];
    const double a = strength.of(node), weight = total + a, scale = 1.0 / weight;
    for (int64_t c = begin; c < end; ++c) out.cell_proba[c] = (counts[c] + a * base[tree.cell_value[c]]) * scale;
    out.absent[node] = a * scale;
    // Variance of a Dirichlet posterior whose mean is itself uncertain: that of the node, and the parent's share
    // (paper 003, Lemma 2), both in units of p (1 - p).
    const double above = parent < 0 ? 0.0 : 1.0 / (out.precision[parent] + 1.0);
    out.precision[node] = (weight + 1.0) / (1.0 + a * a * scale * above) - 1.0;
  }
}

}  // namespace countwise
