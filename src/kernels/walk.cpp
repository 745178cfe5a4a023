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
    if (const uint64_t met = splits.masks[2 * at]) {
      if (code >= 64 || !(met >> code & 1)) return at;
      want = static_cast<int32_t>(splits.masks[2 * at + 1] >> code & 1);
    } else {
      const int32_t *begin = splits.sides + splits.side_ptr[at], *end = splits.sides + splits.side_ptr[at + 1];
      const int32_t* found = std::lower_bound(begin, end, 2 * want);
      if (found == end || *found >> 1 != want) return at;
      want = *found & 1;
    }
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
    // Some rows side by side: while one waits for memory the others go on. One that has come to its end makes room.
    size_t waiting = task * kRowsPerTask, walking[kAbreast], n = 0;
    while (n < kAbreast && waiting < end) walking[n++] = waiting++;
    std::fill(out + task * kRowsPerTask, out + end, 0);
    while (n > 0) {
      for (size_t i = 0; i < n;) {
        const size_t row = walking[i];
        const int32_t at = out[row], column = splits.nodes[at].column;
        const int32_t next = column < 0 ? at : next_node(splits, at, code_at(columns[column], row));
        out[row] = next;
        if (next != at)
          ++i;
        else if (waiting < end)
          walking[i++] = waiting++;
        else
          walking[i] = walking[--n];
      }
    }
  });
}

namespace {

// Calls leave(node, share) for each node that the row ends in, from the first branch to the last.
class Spreader {
 public:
  Spreader(const std::vector<Column>& columns, const SplitView& splits, const Spreading& spreading)
      : columns_(columns), splits_(splits), spreading_(spreading) {}

  template <class Leave>
  void walk(size_t row, Leave&& leave) {
    waiting_.assign(1, {0, 1.0});
    while (!waiting_.empty()) {
      auto [at, share] = waiting_.back();
      waiting_.pop_back();
      int32_t next = step(row, at, share);
      while (next >= 0 && next != at) {
        at = next;
        next = step(row, at, share);
      }
      if (next == at) leave(at, share);
    }
  }

 private:
  // The next node of a row; the node itself where the row ends; -1 where all its branches wait. `share` becomes what
  // goes on.
  CW_INLINE int32_t step(size_t row, int32_t at, double& share) {
    const WalkNode& node = splits_.nodes[at];
    if (node.column < 0) return at;
    const uint32_t code = code_at(columns_[node.column], row);
    if (!spreading_.n_known.empty() && code >= spreading_.n_known[node.column]) {
      all_branches(node, share);
      return -1;
    }
    // Both sides are there unless rows that were counted later left one of them empty.
    if (spreading_.soft && node.threshold >= 0 && node.n_children >= 2 && code < splits_.n_values[node.column]) {
      const int32_t *begin = splits_.sides + splits_.side_ptr[at], *end = splits_.sides + splits_.side_ptr[at + 1];
      if (begin != end) return by_thresholds(node, static_cast<int32_t>(code), begin, end, share);
    }
    return next_node(splits_, at, code);
  }

  CW_INLINE int32_t by_thresholds(const WalkNode& node, int32_t code, const int32_t* begin, const int32_t* end,
                                  double& share) {
    const auto n_below = static_cast<double>(std::lower_bound(begin, end, code) - begin);
    const double above = share * n_below / static_cast<double>(end - begin), below = share - above;
    if (std::min(above, below) < kLeastShare) return node.first_child + (above > below);
    waiting_.push_back({node.first_child + 1, above});
    share = below;
    return node.first_child;
  }

  void all_branches(const WalkNode& node, double share) {
    double sum = 0;
    const int32_t end = node.first_child + std::abs(node.n_children);
    for (int32_t child = node.first_child; child < end; ++child) sum += spreading_.total[child];
    for (int32_t child = end - 1; child >= node.first_child; --child)
      waiting_.push_back({child, share * spreading_.total[child] / sum});
  }

  const std::vector<Column>& columns_;
  const SplitView& splits_;
  const Spreading& spreading_;
  std::vector<std::pair<int32_t, double>> waiting_;
};

}  // namespace

SpreadRows spread_rows(const std::vector<Column>& columns, const SplitView& splits, const Spreading& spreading,
                       size_t n_rows, int n_threads) {
  std::vector<SpreadRows> parts((n_rows + kRowsPerTask - 1) / kRowsPerTask);
  parallel_for(parts.size(), n_threads, [&](size_t task) {
    Spreader spreader(columns, splits, spreading);
    SpreadRows& own = parts[task];
    for (size_t row = task * kRowsPerTask; row < std::min(n_rows, (task + 1) * kRowsPerTask); ++row) {
      spreader.walk(row, [&](int32_t node, double share) {
        own.node.push_back(node);
        own.share.push_back(share);
      });
      own.row_ptr.push_back(static_cast<int64_t>(own.node.size()));
    }
  });
  SpreadRows out;
  out.row_ptr.push_back(0);
  for (const SpreadRows& part : parts) {
    const int64_t before = out.row_ptr.back();
    for (const int64_t end : part.row_ptr) out.row_ptr.push_back(before + end);
    out.node.insert(out.node.end(), part.node.begin(), part.node.end());
    out.share.insert(out.share.end(), part.share.begin(), part.share.end());
  }
  return out;
}

void spread_proba(const std::vector<Column>& columns, const SplitView& splits, const Spreading& spreading,
                  const double* proba, size_t n_values, size_t n_rows, int n_threads, double* out) {
  parallel_for((n_rows + kRowsPerTask - 1) / kRowsPerTask, n_threads, [&](size_t task) {
    Spreader spreader(columns, splits, spreading);
    for (size_t row = task * kRowsPerTask; row < std::min(n_rows, (task + 1) * kRowsPerTask); ++row) {
      double* own = out + row * n_values;
      std::fill(own, own + n_values, 0.0);
      spreader.walk(row, [&](int32_t node, double share) {
        const double* p = proba + static_cast<size_t>(node) * n_values;
        for (size_t v = 0; v < n_values; ++v) own[v] += share * p[v];
      });
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
