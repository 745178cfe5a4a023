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
void count_directly(const Task& task, int n_threads, Count* out) {
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
    if constexpr (sizeof(Count) == 4) {
      if (narrow) return count_blocks_u16(task, share[worker], out);
    }
    if (narrow)
      count_blocks<uint16_t>(task, share[worker], out);
    else
      count_blocks<uint32_t>(task, share[worker], out);
  });
}

// Columns of few values are joined into one of their product: counting a pair of joined columns counts every pair
// of their members at once. Tables of a joined pair stay below kJoinedCells, so that a row of them fits the cache.
constexpr size_t kJoinedCells = 4096;
constexpr size_t kRowsToJoin = 20'000;  // below that, reading the joined tables back costs more than it saves

struct Joined {
  std::vector<uint32_t> members;
  uint32_t arity;
  std::vector<uint8_t> codes;
};

std::vector<Joined> join_columns(const PairLayout& layout) {
  const double limit = std::sqrt(static_cast<double>(kJoinedCells) / layout.n_classes);
  std::vector<uint32_t> order(layout.arity.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return layout.arity[a] > layout.arity[b]; });
  // First fit, widest first: the narrow ones fill up what is left.
  std::vector<Joined> groups;
  for (uint32_t i : order) {
    auto fits = [&](const Joined& group) { return double{1} * group.arity * layout.arity[i] <= limit; };
    auto group = std::find_if(groups.begin(), groups.end(), fits);
    if (group == groups.end()) group = groups.insert(groups.end(), Joined{{}, 1, {}});
    group->members.push_back(i);
    group->arity *= layout.arity[i];
  }
  return groups;
}

void fill_codes(const Task& task, Joined& group) {
  group.codes.assign(task.n_rows, 0);
  for (uint32_t i : group.members) {
    const uint32_t arity = task.layout.arity[i];
    with_width(task.columns[i], [&](auto* tag) {
      const auto* codes = static_cast<decltype(tag)>(task.columns[i].data);
      for (size_t r = 0; r < task.n_rows; ++r) group.codes[r] = static_cast<uint8_t>(group.codes[r] * arity + codes[r]);
    });
  }
}

// The code of member `which` in every joined code.
std::vector<uint32_t> member_codes(const PairLayout& layout, const Joined& group, size_t which) {
  std::vector<uint32_t> result(group.arity);
  uint32_t divisor = 1;
  for (size_t m = group.members.size(); --m > which;) divisor *= layout.arity[group.members[m]];
  for (uint32_t code = 0; code < group.arity; ++code)
    result[code] = code / divisor % layout.arity[group.members[which]];
  return result;
}

// Adds count(first code, class, second code) of joined columns to the tables of all pairs of their members.
template <class Count, class CountOf>
void unfold(const PairLayout& layout, const Joined& a, const Joined& b, CountOf&& count, Count* out) {
  for (size_t p = 0; p < a.members.size(); ++p)
    for (size_t q = 0; q < b.members.size(); ++q) {
      uint32_t i = a.members[p], j = b.members[q];
      if (&a == &b && p >= q) continue;
      const auto code_a = member_codes(layout, a, p), code_b = member_codes(layout, b, q);
      const bool swap = i > j;
      if (swap) std::swap(i, j);
      const size_t length = layout.row_length(i), column = layout.first_column[j] - layout.first_column[i + 1];
      Count* table = out + layout.block[i - layout.begin] + column;
      count([&](uint32_t x, uint32_t y, uint32_t z, Count c) {
        const uint32_t first = swap ? code_b[z] : code_a[x], second = swap ? code_a[x] : code_b[z];
        table[(first * layout.n_classes + y) * length + second] += c;
      });
    }
}

// Counts of (x_i, y), summed from the tables of a pair that i belongs to.
template <class Count>
std::vector<Count> single_counts(const PairLayout& layout, const Count* counts, uint32_t i) {
  const uint32_t C = layout.n_classes;
  std::vector<Count> single(size_t{layout.arity[i]} * C, Count{0});
  const bool last = i + 1 == layout.arity.size();
  const uint32_t first = last ? i - 1 : i;
  const Count* cell = counts + layout.block[first - layout.begin];
  const size_t length = layout.row_length(first);
  for (uint32_t x = 0; x < layout.arity[first]; ++x)
    for (uint32_t y = 0; y < C; ++y, cell += length)
      for (uint32_t z = 0; z < layout.arity[first + 1]; ++z) single[(last ? z : x) * C + y] += cell[z];
  return single;
}

template <class Count>
void count_joined(const Task& task, std::vector<Joined> groups, int n_threads, Count* out) {
  const PairLayout& layout = task.layout;
  parallel_for(groups.size(), n_threads, [&](size_t g) { fill_codes(task, groups[g]); });
  std::vector<uint32_t> arity;
  std::vector<Column> columns;
  for (const Joined& group : groups) {
    arity.push_back(group.arity);
    columns.push_back(Column{group.codes.data(), 1, group.arity});
  }
  const PairLayout wide(arity, layout.n_classes, 0, static_cast<uint32_t>(groups.size()));
  std::vector<Count> counts(wide.size(), Count{0});
  count_directly(Task{wide, columns, task.target, task.weights, task.n_rows}, n_threads, counts.data());

  const uint32_t C = layout.n_classes;
  // Every pair of members belongs to one pair of groups, so groups write to tables of their own.
  parallel_for(groups.size(), n_threads, [&](size_t g) {
    for (size_t h = g + 1; h < groups.size(); ++h) {
      const size_t length = wide.row_length(static_cast<uint32_t>(g));
      const Count* table = counts.data() + wide.block[g] + (wide.first_column[h] - wide.first_column[g + 1]);
      auto cells = [&](auto&& add) {
        for (uint32_t x = 0; x < arity[g]; ++x)
          for (uint32_t y = 0; y < C; ++y)
            for (uint32_t z = 0; z < arity[h]; ++z) add(x, y, z, table[(x * C + y) * length + z]);
      };
      unfold(layout, groups[g], groups[h], cells, out);
    }
    if (groups[g].members.size() < 2) return;
    const std::vector<Count> own = single_counts(wide, counts.data(), static_cast<uint32_t>(g));
    auto diagonal = [&](auto&& add) {
      for (uint32_t x = 0; x < arity[g]; ++x)
        for (uint32_t y = 0; y < C; ++y) add(x, y, x, own[x * C + y]);
    };
    unfold(layout, groups[g], groups[g], diagonal, out);
  });
}

template <class Count>
void count_all(const Task& task, int n_threads, Count* out) {
  const PairLayout& layout = task.layout;
  const bool whole = layout.begin == 0 && layout.end == layout.arity.size();
  const bool small = *std::max_element(layout.arity.begin(), layout.arity.end()) <= 256;
  if (whole && small && task.n_rows >= kRowsToJoin) {
    std::vector<Joined> groups = join_columns(layout);
    if (groups.size() > 1 && groups.size() < layout.arity.size())
      return count_joined(task, std::move(groups), n_threads, out);
  }
  count_directly(task, n_threads, out);
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

template <class Count>
void pair_margins(const PairLayout& layout, const Count* counts, double* out) {
  for (uint32_t i = 0; i < layout.arity.size(); ++i)
    for (Count count : single_counts(layout, counts, i)) *out++ = static_cast<double>(count);
}

template void pair_margins<uint32_t>(const PairLayout&, const uint32_t*, double*);
template void pair_margins<double>(const PairLayout&, const double*, double*);
template void pair_entropies<uint32_t>(const PairLayout&, const uint32_t*, int, double*);
template void pair_entropies<double>(const PairLayout&, const double*, int, double*);

}  // namespace countwise
