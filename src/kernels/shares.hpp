// How rows are dealt out when a model is applied to many of them.
#pragma once

#include <algorithm>

#include "common.hpp"

namespace countwise {

constexpr size_t kBlock = 256;     // rows whose walks overlap: enough to hide the latency of the cache
constexpr size_t kShare = 65'536;  // rows that a thread takes at a time, at most

// Rows of a share: enough to pay for bringing each attribute's trie into the cache, all threads busy, and at most
// `bytes` of state for its rows.
inline size_t share_rows(size_t n_rows, int n_threads, size_t bytes_per_row, size_t bytes) {
  const size_t even = n_rows / static_cast<size_t>(std::max(1, n_threads)) + 1;
  return std::clamp(std::min(even, bytes / bytes_per_row), kBlock, kShare);
}

}  // namespace countwise
