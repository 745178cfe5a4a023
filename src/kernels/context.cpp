#include "context.hpp"

#include <algorithm>
#include <stdexcept>

namespace countwise {
namespace {

// Distinct (path..., value) tuples in lexicographic order with their counts, tuple-major.
struct Tuples {
  size_t length;
  std::vector<int32_t> codes;
  std::vector<double> counts;
  size_t size() const { return counts.size(); }
};

constexpr double kNothing = 1e-9;  // what rounding may leave when a row's real weight is taken out again

// Rows are numbered by mixed-radix keys over as many columns as fit; when the next column does not fit, the keys
// are replaced by their rank among the keys that occur (at most one per row) and numbering goes on from there.
// `Stage` remembers how to read a rank back: the key it stands for and the columns that the key covers.
struct Stage {
  size_t first, last;          // columns [first, last)
  std::vector<uint64_t> keys;  // ascending; key = previous rank * radix of the columns + their digits
};

class RowKeys {
 public:
  RowKeys(const std::vector<Column>& columns, size_t n_rows)
      : columns_(columns), keys_(n_rows, 0), cells_(std::clamp<uint64_t>(2 * n_rows, 1 << 12, 1 << 21)) {}

  // Runs through all columns; afterwards keys() are below key_range() and small enough for a count table,
  // unless one column alone is wider than that.
  void number() {
    for (size_t c = 0; c < columns_.size();) {
      if (range_ > 1 && range_ * columns_[c].arity > cells_) compress(c);
      const size_t first = c;
      do {
        range_ *= columns_[c++].arity;
      } while (c < columns_.size() && range_ * columns_[c].arity <= cells_);
      append(first, c);
    }
  }

  const std::vector<uint64_t>& keys() const { return keys_; }
  uint64_t range() const { return range_; }
  bool fits_table() const { return range_ <= 16 * cells_; }

  // Writes the codes that a final key stands for.
  void decode(uint64_t key, int32_t* out) const {
    size_t last = columns_.size(), first = stages_.empty() ? 0 : stages_.back().last;
    for (size_t s = stages_.size() + 1; s-- > 0;) {
      for (size_t c = last; c-- > first;) {
        out[c] = static_cast<int32_t>(key % columns_[c].arity);
        key /= columns_[c].arity;
      }
      if (s == 0) break;
      key = stages_[s - 1].keys[key];
      last = first;
      first = stages_[s - 1].first;
    }
  }

 private:
  // In blocks of rows, so that a key stays in the cache while the columns are appended to it.
  void append(size_t first, size_t last) {
    constexpr size_t kBlock = 1024;
    for (size_t start = 0; start < keys_.size(); start += kBlock) {
      const size_t rows = std::min(kBlock, keys_.size() - start);
      uint64_t* keys = keys_.data() + start;
      for (size_t c = first; c < last; ++c)
        with_width(columns_[c], [&](auto* tag) {
          const auto* codes = static_cast<decltype(tag)>(columns_[c].data) + start;
          const uint64_t arity = columns_[c].arity;
          for (size_t r = 0; r < rows; ++r) keys[r] = keys[r] * arity + codes[r];
        });
    }
  }

  void compress(size_t column) {
    Stage stage{stages_.empty() ? 0 : stages_.back().last, column, {}};
    // A bitmap costs range/8 bytes; beyond that, sorting the keys is cheaper than the empty space.
    if (range_ <= 64 * std::max<uint64_t>(keys_.size(), 1 << 12))
      rank_by_bitmap(stage.keys);
    else
      rank_by_sorting(stage.keys);
    range_ = stage.keys.size();
    stages_.push_back(std::move(stage));
  }

  void rank_by_bitmap(std::vector<uint64_t>& distinct);

  void rank_by_sorting(std::vector<uint64_t>& distinct) {
    distinct = keys_;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (auto& key : keys_) key = std::lower_bound(distinct.begin(), distinct.end(), key) - distinct.begin();
  }

  const std::vector<Column>& columns_;
  std::vector<uint64_t> keys_;
  std::vector<Stage> stages_;
  uint64_t cells_;  // the largest table that is worth its cache misses
  uint64_t range_ = 1;
};

CW_CLONES void rank_keys(const uint64_t* bits, const uint32_t* rank, size_t n, uint64_t* keys) {
  for (size_t r = 0; r < n; ++r) {
    const uint64_t word = keys[r] >> 6, below = (uint64_t{1} << (keys[r] & 63)) - 1;
    keys[r] = rank[word] + static_cast<uint64_t>(popcount(bits[word] & below));
  }
}

void RowKeys::rank_by_bitmap(std::vector<uint64_t>& distinct) {
  const size_t words = range_ / 64 + 1;
  std::vector<uint64_t> bits(words, 0);
  for (uint64_t key : keys_) bits[key >> 6] |= uint64_t{1} << (key & 63);
  std::vector<uint32_t> rank(words);
  for (size_t w = 0; w < words; ++w) {
    rank[w] = static_cast<uint32_t>(distinct.size());
    for (uint64_t word = bits[w]; word; word &= word - 1) distinct.push_back(w * 64 + lowest_bit(word));
  }
  rank_keys(bits.data(), rank.data(), keys_.size(), keys_.data());
}

template <class Count>
void tabulate(const RowKeys& rows, const double* weights, std::vector<uint64_t>& keys, std::vector<double>& counts) {
  std::vector<Count> table(rows.range(), Count{0});
  if (weights)
    for (size_t r = 0; r < rows.keys().size(); ++r) table[rows.keys()[r]] += static_cast<Count>(weights[r]);
  else
    for (uint64_t key : rows.keys()) table[key] += Count{1};
  for (uint64_t key = 0; key < table.size(); ++key)
    if (table[key] > 0) {
      keys.push_back(key);
      counts.push_back(static_cast<double>(table[key]));
    }
}

// The range is far larger than the number of rows: sort the rows by key and add up runs.
void tabulate_sorted(const RowKeys& rows, const double* weights, std::vector<uint64_t>& keys,
                     std::vector<double>& counts) {
  std::vector<std::pair<uint64_t, uint32_t>> order(rows.keys().size());
  for (size_t r = 0; r < order.size(); ++r) order[r] = {rows.keys()[r], static_cast<uint32_t>(r)};
  std::sort(order.begin(), order.end());
  for (const auto& [key, row] : order) {
    if (keys.empty() || keys.back() != key) {
      keys.push_back(key);
      counts.push_back(0);
    }
    counts.back() += weights ? weights[row] : 1.0;
  }
}

Tuples distinct_tuples(const std::vector<Column>& columns, const double* weights, size_t n_rows) {
  RowKeys rows(columns, n_rows);
  rows.number();
  std::vector<uint64_t> keys;
  Tuples tuples{columns.size(), {}, {}};
  if (!rows.fits_table())
    tabulate_sorted(rows, weights, keys, tuples.counts);
  else if (weights)
    tabulate<double>(rows, weights, keys, tuples.counts);
  else
    tabulate<uint32_t>(rows, weights, keys, tuples.counts);
  tuples.codes.resize(keys.size() * tuples.length);
  for (size_t t = 0; t < keys.size(); ++t) rows.decode(keys[t], &tuples.codes[t * tuples.length]);
  return tuples;
}

// Cells of the inner levels, from the leaves up: a node's counts are the sums of its children's.
class CellSums {
 public:
  CellSums(ContextTree& tree, int32_t arity) : tree_(tree), sum_(arity, 0.0), slot_(arity, 0) {}

  void run(std::vector<int32_t> leaf_size, std::vector<int32_t> leaf_value, std::vector<double> leaf_count) {
    const size_t n_levels = tree_.level_ptr.size() - 1;
    value_.resize(n_levels);
    count_.resize(n_levels);
    size_.resize(n_levels);
    value_.back() = std::move(leaf_value);
    count_.back() = std::move(leaf_count);
    size_.back() = std::move(leaf_size);
    for (size_t level = n_levels - 1; level-- > 0;) add_children(level);
    join_levels();
    link_parents();
  }

 private:
  void add_children(size_t level) {
    const int64_t first = tree_.level_ptr[level], next = tree_.level_ptr[level + 1];
    size_[level].assign(next - first, 0);
    size_t child = next, cell = 0;
    const size_t end = tree_.level_ptr[level + 2];
    for (int64_t node = first; node < next; ++node) {
      touched_.clear();
      for (; child < end && tree_.parent[child] == node; ++child)
        for (int32_t i = 0; i < size_[level + 1][child - next]; ++i, ++cell) {
          const int32_t value = value_[level + 1][cell];
          if (sum_[value] == 0) touched_.push_back(value);
          sum_[value] += count_[level + 1][cell];
        }
      std::sort(touched_.begin(), touched_.end());
      for (int32_t value : touched_) {
        value_[level].push_back(value);
        count_[level].push_back(sum_[value]);
        sum_[value] = 0;
      }
      size_[level][node - first] = static_cast<int32_t>(touched_.size());
    }
  }

  void join_levels() {
    tree_.cell_ptr.assign(1, 0);
    for (size_t level = 0; level < size_.size(); ++level) {
      for (int32_t size : size_[level]) tree_.cell_ptr.push_back(tree_.cell_ptr.back() + size);
      tree_.cell_value.insert(tree_.cell_value.end(), value_[level].begin(), value_[level].end());
      tree_.cell_count.insert(tree_.cell_count.end(), count_[level].begin(), count_[level].end());
    }
  }

  void link_parents() {
    tree_.cell_parent.assign(tree_.cell_value.size(), -1);
    int32_t linked = -1;
    for (size_t node = 1; node < tree_.parent.size(); ++node) {
      const int32_t parent = tree_.parent[node];
      if (parent != linked) {
        for (int64_t c = tree_.cell_ptr[parent]; c < tree_.cell_ptr[parent + 1]; ++c)
          slot_[tree_.cell_value[c]] = static_cast<int32_t>(c);
        linked = parent;
      }
      for (int64_t c = tree_.cell_ptr[node]; c < tree_.cell_ptr[node + 1]; ++c)
        tree_.cell_parent[c] = slot_[tree_.cell_value[c]];
    }
  }

  ContextTree& tree_;
  std::vector<double> sum_;
  std::vector<int32_t> slot_, touched_;
  std::vector<std::vector<int32_t>> value_, size_;
  std::vector<std::vector<double>> count_;
};

ContextTree tree_of(const Tuples& tuples) {
  const size_t depth = tuples.length - 1;  // branches; the last code is the child's value
  ContextTree tree;
  if (tuples.size() > 0x7fffffff) throw std::length_error("a context tree has more than 2^31 cells");
  tree.parent.push_back(-1);
  tree.branch.push_back(-1);
  tree.level_ptr = {0, 1};
  std::vector<int32_t> node(tuples.size(), 0);  // of each tuple, at the current level
  for (size_t level = 0; level < depth; ++level) {
    int32_t last_parent = -1, last_code = -1;
    for (size_t t = 0; t < tuples.size(); ++t) {
      const int32_t code = tuples.codes[t * tuples.length + level];
      if (node[t] != last_parent || code != last_code) {
        last_parent = node[t];
        last_code = code;
        tree.parent.push_back(last_parent);
        tree.branch.push_back(code);
      }
      node[t] = static_cast<int32_t>(tree.parent.size() - 1);
    }
    tree.level_ptr.push_back(static_cast<int64_t>(tree.parent.size()));
  }
  const int64_t first_leaf = tree.level_ptr[depth];
  std::vector<int32_t> leaf_size(tree.level_ptr[depth + 1] - first_leaf, 0), leaf_value(tuples.size());
  int32_t largest = 0;
  for (size_t t = 0; t < tuples.size(); ++t) {
    leaf_value[t] = tuples.codes[t * tuples.length + depth];
    largest = std::max(largest, leaf_value[t]);
    ++leaf_size[node[t] - first_leaf];
  }
  CellSums(tree, largest + 1).run(std::move(leaf_size), std::move(leaf_value), tuples.counts);
  return tree;
}

// Reads a tree's leaf cells back as tuples.
Tuples tuples_of(const ContextTreeView& tree) {
  const size_t depth = tree.n_levels - 1;
  Tuples tuples{depth + 1, {}, {}};
  const int64_t first = tree.level_ptr[depth], end = tree.level_ptr[depth + 1];
  std::vector<int32_t> path(depth + 1);
  for (int64_t leaf = first; leaf < end; ++leaf) {
    int64_t node = leaf;
    for (size_t level = depth; level-- > 0; node = tree.parent[node]) path[level] = tree.branch[node];
    for (int64_t cell = tree.cell_ptr[leaf]; cell < tree.cell_ptr[leaf + 1]; ++cell) {
      path[depth] = tree.cell_value[cell];
      tuples.codes.insert(tuples.codes.end(), path.begin(), path.end());
      tuples.counts.push_back(tree.cell_count[cell]);
    }
  }
  return tuples;
}

}  // namespace

ContextTree build_context_tree(const std::vector<Column>& path, const Column& child, const double* weights,
                               size_t n_rows) {
  std::vector<Column> columns(path);
  columns.push_back(child);
  return tree_of(distinct_tuples(columns, weights, n_rows));
}

ContextTree merge_context_trees(const ContextTreeView& a, const ContextTreeView& b) {
  if (a.n_levels != b.n_levels) throw std::invalid_argument("trees of different depth cannot be merged");
  const Tuples left = tuples_of(a), right = tuples_of(b);
  Tuples merged{left.length, {}, {}};
  merged.codes.reserve(left.codes.size() + right.codes.size());
  merged.counts.reserve(left.size() + right.size());
  const int32_t *l = left.codes.data(), *r = right.codes.data();
  size_t i = 0, j = 0;
  const size_t length = left.length;
  auto take = [&](const int32_t* codes, double count) {
    if (count < kNothing) return;
    merged.codes.insert(merged.codes.end(), codes, codes + length);
    merged.counts.push_back(count);
  };
  while (i < left.size() || j < right.size()) {
    const int32_t *x = l + i * length, *y = r + j * length;
    if (j == right.size() || (i < left.size() && std::lexicographical_compare(x, x + length, y, y + length))) {
      take(x, left.counts[i++]);
    } else if (i == left.size() || std::lexicographical_compare(y, y + length, x, x + length)) {
      take(y, right.counts[j++]);
    } else {
      take(x, left.counts[i++] + right.counts[j++]);
    }
  }
  return tree_of(merged);
}

}  // namespace countwise
