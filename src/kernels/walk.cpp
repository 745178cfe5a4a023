#include "walk.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace countwise {
namespace {

constexpr size_t kRowsPerTask = 4096;
constexpr size_t kNodesPerTask = 256;
constexpr size_t kAbreast = 16;

// The node itself where there is no branch for the code.
CW_INLINE int32_t next_node(const SplitView& splits, int32_t at, uint32_t code) {
  const WalkNode& node = splits.nodes[at];
  auto want = static_cast<int32_t>(code);
  if (node.threshold >= 0) {
    want = code >= splits.n_values[node.column] ? 2 : want > node.threshold;
  } else if (node.threshold == kSubset) {
    const int32_t *begin = splits.sides + splits.side_ptr[at], *end = splits.sides + splits.side_ptr[at + 1];
    const int32_t* found = std::lower_bound(begin, end, 2 * want);
    if (found == end || *found >> 1 != want) return at;
    want = *found & 1;
  }
  if (node.n_children >= 0) return want < node.n_children ? node.first_child + want : at;
  const int32_t *begin = splits.branch + node.first_child, *end = begin - node.n_children;
  const int32_t* found = std::lower_bound(begin, end, want);
  return found != end && *found == want ? static_cast<int32_t>(found - splits.branch) : at;
}

}  // namespace

void reach_nodes(const std::vector<Column>& columns, const SplitView& splits, size_t n_rows, int n_threads,
                 int32_t* out) {
  parallel_for((n_rows + kRowsPerTask - 1) / kRowsPerTask, n_threads, [&](size_t task) {
    const size_t end = std::min(n_rows, (task + 1) * kRowsPerTask);
    // Some rows side by side: while one waits for memory the others go on.
    for (size_t row = task * kRowsPerTask; row < end; row += kAbreast) {
      const size_t n = std::min(kAbreast, end - row);
      int32_t* node = out + row;
      std::fill(node, node + n, 0);
      for (bool moved = true; moved;) {
        moved = false;
        for (size_t r = 0; r < n; ++r) {
          const int32_t column = splits.nodes[node[r]].column;
          if (column < 0) continue;
          const int32_t next = next_node(splits, node[r], code_at(columns[column], row + r));
          moved |= next != node[r];
          node[r] = next;
        }
      }
    }
  });
}

SpreadRows spread_rows(const std::vector<Column>& columns, const SplitView& splits,
                       const std::vector<uint32_t>& n_known, const double* total, size_t n_rows) {
  SpreadRows out;
  out.row_ptr.push_back(0);
  std::vector<std::pair<int32_t, double>> waiting;
  for (size_t row = 0; row < n_rows; ++row) {
    waiting.assign(1, {0, 1.0});
    while (!waiting.empty()) {
      const auto [at, share] = waiting.back();
      waiting.pop_back();
      const WalkNode& node = splits.nodes[at];
      const uint32_t code = node.column < 0 ? 0 : code_at(columns[node.column], row);
      const bool all = node.column >= 0 && code >= n_known[node.column];
      const int32_t next = node.column < 0 || all ? at : next_node(splits, at, code);
      if (all) {
        double sum = 0;
        const int32_t end = node.first_child + std::abs(node.n_children);
        for (int32_t child = node.first_child; child < end; ++child) sum += total[child];
        for (int32_t child = end - 1; child >= node.first_child; --child)
          waiting.push_back({child, share * total[child] / sum});
      } else if (next != at) {
        waiting.push_back({next, share});
      } else {
        out.node.push_back(at);
        out.share.push_back(share);
      }
    }
    out.row_ptr.push_back(static_cast<int64_t>(out.node.size()));
  }
  return out;
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
