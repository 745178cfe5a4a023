#include "pairs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace countwise {

PairLayout::PairLayout(std::vector<uint32_t> arity_, uint32_t n_classes_, uint32_t begin_, uint32_t end_)
    : arity(std::move(arity_)), n_classes(n_classes_), begin(begin_), end(end_) {
  first_column.push_back(0);
  for (uint32_t a : arity) first_column.push_back(first_column.back() + a);
  block.push_back(0);
  for (uint32_t i = begin; i < end; ++i) block.push_back(block.back() + size_t{arity[i]} * n_classes * row_length(i));
}

namespace {

// Rows are taken in blocks small enough that their transposed columns stay in the first-level cache.
constexpr size_t kBlockBytes = 16 * 1024;

struct Task {
  const PairLayout& layout;
  const std::vector<Column>& columns;
  const Column& target;
  const double* weights;  // null: every row counts 1
  size_t n_rows;
};

// table[index[j]] += 1 for every j: one load, one read-modify-write; neighbouring j never touch one cell.
template <class Index, class Count>
CW_INLINE void add_row(const Index* index, size_t n, Count weight, Count* table) {
  size_t j = 0;
  for (; j + 4 <= n; j += 4) {
    const size_t a = index[j], b = index[j + 1], c = index[j + 2], d = index[j + 3];
    table[a] += weight;
    table[b] += weight;
    table[c] += weight;
    table[d] += weight;
  }
  for (; j < n; ++j) table[index[j]] += weight;
}

// Counts for the first attributes `mine`: a block of rows is transposed to row-major positions in a table row,
// then each first attribute adds its rows.
template <class Index, class Count>
void count_blocks(const Task& task, const std::vector<uint32_t>& mine, Count* out) {
  const PairLayout& layout = task.layout;
  const size_t n = layout.arity.size();
  const size_t lowest = *std::min_element(mine.begin(), mine.end());
  const size_t stride = n - lowest;
  const size_t block = std::max<size_t>(16, kBlockBytes / (stride * sizeof(Index)));
  std::vector<Index> position(block * stride);
  std::vector<uint32_t> first(block);

  for (size_t start = 0; start < task.n_rows; start += block) {
    const size_t rows = std::min(block, task.n_rows - start);
    for (size_t j = lowest; j < n; ++j) {
      const Index offset = static_cast<Index>(layout.first_column[j]);
      Index* out_column = position.data() + (j - lowest);
      with_width(task.columns[j], [&](auto* tag) {
        const auto* codes = static_cast<decltype(tag)>(task.columns[j].data) + start;
        for (size_t r = 0; r < rows; ++r) out_column[r * stride] = static_cast<Index>(offset + codes[r]);
      });
    }
    for (uint32_t i : mine) {
      const size_t length = layout.row_length(i);
      const Column& column = task.columns[i];
      for (size_t r = 0; r < rows; ++r)
        first[r] = code_at(column, start + r) * layout.n_classes + code_at(task.target, start + r);
      // Positions count from column 0, so the table's origin lies before its first cell.
      Count* table = out + layout.block[i - layout.begin];
      const size_t shift = layout.first_column[i + 1];
      const Index* row = position.data() + (i + 1 - lowest);
      const size_t n_second = n - i - 1;
      for (size_t r = 0; r < rows; ++r, row += stride) {
        const Count weight = task.weights ? static_cast<Count>(task.weights[start + r]) : Count{1};
        add_row(row, n_second, weight, table + (first[r] * length - shift));
      }
    }
  }
}

CW_CLONES void count_blocks_u16(const Task& task, const std::vector<uint32_t>& mine, uint32_t* out) {
  count_blocks<uint16_t>(task, mine, out);
}

template <class Count>
void count_all(const Task& task, int n_threads, Count* out) {
  const PairLayout& layout = task.layout;
  const size_t n = layout.arity.size();
  const uint32_t last = std::min<uint32_t>(layout.end, n < 1 ? 0 : static_cast<uint32_t>(n - 1));
  if (layout.begin >= last) return;
  // First attributes are dealt to the threads by work, the largest first, so that each gets its share.
  const size_t workers = std::max(1, std::min<int>(n_threads, last - layout.begin));
  std::vector<std::vector<uint32_t>> share(workers);
  std::vector<size_t> load(workers, 0);
  for (uint32_t i = layout.begin; i < last; ++i) {
    const size_t least = std::min_element(load.begin(), load.end()) - load.begin();
    share[least].push_back(i);
    load[least] += n - i;
  }
  const bool narrow = layout.first_column.back() <= 0x10000;
  parallel_for(workers, n_threads, [&](size_t worker) {
    if (share[worker].empty()) return;
    if constexpr (sizeof(Count) == 4) {
      if (narrow) return count_blocks_u16(task, share[worker], out);
    }
    if (narrow)
      count_blocks<uint16_t>(task, share[worker], out);
    else
      count_blocks<uint32_t>(task, share[worker], out);
  });
}

// c log c, from a table for the small counts that nearly every cell holds.
class XLogX {
 public:
  XLogX() : table_(kSize) {
    for (size_t c = 1; c < kSize; ++c) table_[c] = c * std::log(static_cast<double>(c));
  }
  double operator()(uint32_t c) const { return c < kSize ? table_[c] : c * std::log(static_cast<double>(c)); }
  double operator()(double c) const { return c > 0 ? c * std::log(c) : 0.0; }

 private:
  static constexpr size_t kSize = 1 << 14;
  std::vector<double> table_;
};

}  // namespace

void count_pairs(const PairLayout& layout, const std::vector<Column>& columns, const Column& target, size_t n_rows,
                 int n_threads, uint32_t* out) {
  count_all<uint32_t>({layout, columns, target, nullptr, n_rows}, n_threads, out);
}

void count_pairs_weighted(const PairLayout& layout, const std::vector<Column>& columns, const Column& target,
                          const double* weights, size_t n_rows, int n_threads, double* out) {
  count_all<double>({layout, columns, target, weights, n_rows}, n_threads, out);
}

template <class Count>
void pair_entropies(const PairLayout& layout, const Count* counts, int n_threads, double* out) {
  const size_t n = layout.arity.size();
  const XLogX xlogx;
  parallel_for(layout.end - layout.begin, n_threads, [&](size_t task) {
    const size_t i = layout.begin + task;
    const size_t length = layout.row_length(static_cast<uint32_t>(i));
    const size_t n_table_rows = size_t{layout.arity[i]} * layout.n_classes;
    for (size_t j = i + 1; j < n; ++j) {
      const Count* cell = counts + layout.block[task] + (layout.first_column[j] - layout.first_column[i + 1]);
      double sum = 0;
      for (size_t row = 0; row < n_table_rows; ++row, cell += length)
        for (uint32_t v = 0; v < layout.arity[j]; ++v) sum += xlogx(cell[v]);
      out[i * n + j] = sum;
    }
  });
}

template void pair_entropies<uint32_t>(const PairLayout&, const uint32_t*, int, double*);
template void pair_entropies<double>(const PairLayout&, const double*, int, double*);

}  // namespace countwise
