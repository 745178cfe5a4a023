#include "walk.hpp"

#include <algorithm>

namespace countwise {
namespace {

constexpr size_t kRowsPerTask = 4096;
constexpr size_t kNodesPerTask = 256;

CW_INLINE int32_t child_of(const SplitView& splits, int32_t node, uint32_t code) {
  const int64_t begin = splits.first_child[node], end = splits.first_child[node + 1];
  const int32_t column = splits.column[node], threshold = splits.threshold[node];
  int32_t want = static_cast<int32_t>(code);
  if (threshold >= 0) want = code >= splits.n_values[column] ? 2 : want > threshold;
  if (want < end - begin && splits.branch[begin + want] == want) return static_cast<int32_t>(begin + want);
  const int32_t* at = std::lower_bound(splits.branch + begin, splits.branch + end, want);
  return at != splits.branch + end && *at == want ? static_cast<int32_t>(at - splits.branch) : -1;
}

}  // namespace

void reach_nodes(const std::vector<Column>& columns, const SplitView& splits, size_t n_rows, int n_threads,
                 int32_t* out) {
  parallel_for((n_rows + kRowsPerTask - 1) / kRowsPerTask, n_threads, [&](size_t task) {
    const size_t end = std::min(n_rows, (task + 1) * kRowsPerTask);
    for (size_t row = task * kRowsPerTask; row < end; ++row) {
      int32_t node = 0;
      while (splits.column[node] >= 0) {
        const int32_t child = child_of(splits, node, code_at(columns[splits.column[node]], row));
        if (child < 0) break;
        node = child;
      }
      out[row] = node;
    }
  });
}

void node_proba(const CountTreeView& tree, const SmoothedView& smoothed, const int32_t* nodes, size_t n_nodes,
                int n_threads, double* out) {
  const size_t arity = tree.arity;
  parallel_for((n_nodes + kNodesPerTask - 1) / kNodesPerTask, n_threads, [&](size_t task) {
    std::vector<int32_t> path;
    const size_t end = std::min(n_nodes, (task + 1) * kNodesPerTask);
    for (size_t i = task * kNodesPerTask; i < end; ++i) {
      double* own = out + i * arity;
      if (smoothed.base)
        std::copy(smoothed.base, smoothed.base + arity, own);
      else
        std::fill(own, own + arity, 1.0 / static_cast<double>(arity));
      path.assign(1, nodes[i]);
      while (smoothed.hierarchical && tree.parent[path.back()] >= 0) path.push_back(tree.parent[path.back()]);
      for (auto node = path.rbegin(); node != path.rend(); ++node) {
        for (size_t v = 0; v < arity; ++v) own[v] *= smoothed.absent[*node];
        for (int64_t c = tree.cell_ptr[*node]; c < tree.cell_ptr[*node + 1]; ++c)
          own[tree.cell_value[c]] = smoothed.cell_proba[c];
      }
    }
  });
}

}  // namespace countwise
