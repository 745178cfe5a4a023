#include "context.hpp"

#include <algorithm>
#include <stdexcept>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "row_keys.hpp"

namespace countwise {
namespace {

constexpr double kNothing = 1e-9;  // what rounding may leave when a row's real weight is taken out again

// Cells of the inner levels, from the leaves up: a node's counts are the sums of its children's.
class CellSums {
 public:
  CellSums(ContextTree& tree, int32_t arity) : tree_(tree), sum_(arity, 0.0), used_(arity / 64 + 1) {}

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
  }

 private:
  void add_children(size_t level) {
    const int64_t first = tree_.level_ptr[level], next = tree_.level_ptr[level + 1];
    size_[level].assign(next - first, 0);
    const std::vector<int32_t>& below = value_[level + 1];
    size_t child = next, cell = 0;
    const size_t end = tree_.level_ptr[level + 2];
    for (int64_t node = first; node < next; ++node) {
      const size_t first_cell = cell;
      for (; child < end && tree_.parent[child] == node; ++child) cell += size_[level + 1][child - next];
      for (size_t c = first_cell; c < cell; ++c) {
        sum_[below[c]] += count_[level + 1][c];
        used_[below[c] / 64] |= uint64_t{1} << (below[c] % 64);
      }
      size_[level][node - first] = emit(level, below, first_cell, cell);
    }
  }

  // Appends the sums in order of their values and clears them. A few cells among many values are sorted; else the
  // bitmap of used values is scanned.
  int32_t emit(size_t level, const std::vector<int32_t>& below, size_t first_cell, size_t last_cell) {
    const size_t before = value_[level].size();
    auto take = [&](int32_t value) {
      value_[level].push_back(value);
      count_[level].push_back(sum_[value]);
      sum_[value] = 0;
    };
    if (used_.size() <= 4 * (last_cell - first_cell)) {
      for (size_t word = 0; word < used_.size(); ++word)
        for (uint64_t& bits = used_[word]; bits; bits &= bits - 1)
          take(static_cast<int32_t>(word * 64 + lowest_bit(bits)));
    } else {
      touched_.assign(below.begin() + first_cell, below.begin() + last_cell);
      std::sort(touched_.begin(), touched_.end());
      touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
      for (int32_t value : touched_) {
        take(value);
        used_[value / 64] = 0;
      }
    }
    return static_cast<int32_t>(value_[level].size() - before);
  }

  void join_levels() {
    size_t n_cells = 0;
    for (const auto& values : value_) n_cells += values.size();
    tree_.cell_ptr.reserve(tree_.parent.size() + 1);
    tree_.cell_value.reserve(n_cells);
    tree_.cell_count.reserve(n_cells);
    tree_.cell_ptr.assign(1, 0);
    for (size_t level = 0; level < size_.size(); ++level) {
      for (int32_t size : size_[level]) tree_.cell_ptr.push_back(tree_.cell_ptr.back() + size);
      tree_.cell_value.insert(tree_.cell_value.end(), value_[level].begin(), value_[level].end());
      tree_.cell_count.insert(tree_.cell_count.end(), count_[level].begin(), count_[level].end());
    }
  }

  ContextTree& tree_;
  std::vector<double> sum_;
  std::vector<int32_t> touched_;
  std::vector<uint64_t> used_;
  std::vector<std::vector<int32_t>> value_, size_;
  std::vector<std::vector<double>> count_;
};

// Takes distinct (path..., value) tuples in ascending order and makes the tree of their counts.
class TreeBuilder {
 public:
  explicit TreeBuilder(size_t depth) : depth_(depth), levels_(depth) {
    if (depth == 0) leaf_size_.push_back(0);
  }

  // The first `same` codes are those of the tuple before.
  void push(const int32_t* codes, size_t same, double count) {
    for (size_t level = same; level < depth_; ++level) {
      levels_[level].parent.push_back(level == 0 ? 0 : static_cast<int32_t>(levels_[level - 1].branch.size() - 1));
      levels_[level].branch.push_back(codes[level]);
      if (level + 1 == depth_) leaf_size_.push_back(0);
    }
    ++leaf_size_.back();
    leaf_value_.push_back(codes[depth_]);
    leaf_count_.push_back(count);
    largest_ = std::max(largest_, codes[depth_]);
  }

  ContextTree finish() {
    if (leaf_value_.size() > 0x7fffffff / (depth_ + 1)) throw std::length_error("a context tree has too many cells");
    ContextTree tree;
    size_t n_nodes = 1;
    for (const Level& level : levels_) n_nodes += level.branch.size();
    tree.parent.reserve(n_nodes);
    tree.branch.reserve(n_nodes);
    tree.parent.push_back(-1);
    tree.branch.push_back(-1);
    tree.level_ptr = {0, 1};
    for (size_t level = 0; level < depth_; ++level) {
      const int32_t above = static_cast<int32_t>(tree.level_ptr[level]);
      for (int32_t parent : levels_[level].parent) tree.parent.push_back(above + parent);
      tree.branch.insert(tree.branch.end(), levels_[level].branch.begin(), levels_[level].branch.end());
      tree.level_ptr.push_back(static_cast<int64_t>(tree.parent.size()));
    }
    CellSums(tree, largest_ + 1).run(std::move(leaf_size_), std::move(leaf_value_), std::move(leaf_count_));
    return tree;
  }

 private:
  struct Level {
    std::vector<int32_t> parent, branch;  // parents numbered within the level above
  };
  size_t depth_;
  std::vector<Level> levels_;
  std::vector<int32_t> leaf_size_, leaf_value_;
  std::vector<double> leaf_count_;
  int32_t largest_ = 0;
};

// Goes through the leaf cells of a tree as tuples, in order.
class LeafCells {
 public:
  explicit LeafCells(const ContextTreeView& tree)
      : tree_(tree), depth_(tree.n_levels - 1), leaf_(tree.level_ptr[depth_]), codes_(depth_ + 1) {
    cell_ = tree_.cell_ptr[leaf_];
    enter();
  }

  bool done() const { return leaf_ == tree_.level_ptr[depth_ + 1]; }
  const int32_t* codes() const { return codes_.data(); }
  double count() const { return tree_.cell_count[cell_]; }

  void next() {
    ++cell_;
    enter();
  }

 private:
  void enter() {
    while (!done() && cell_ == tree_.cell_ptr[leaf_ + 1]) ++leaf_;
    if (done()) return;
    if (leaf_ != entered_) {
      int64_t node = leaf_;
      for (size_t level = depth_; level-- > 0; node = tree_.parent[node]) codes_[level] = tree_.branch[node];
      entered_ = leaf_;
    }
    codes_[depth_] = tree_.cell_value[cell_];
  }

  const ContextTreeView& tree_;
  size_t depth_;
  int64_t leaf_, cell_ = 0, entered_ = -1;
  std::vector<int32_t> codes_;
};

}  // namespace

ContextTree build_context_tree(const std::vector<Column>& path, const Column& child, const double* weights,
                               size_t n_rows) {
  std::vector<Column> columns(path);
  columns.push_back(child);
  RowKeys rows(columns, n_rows);
  rows.number();
  KeyReader reader(rows);
  TreeBuilder builder(path.size());
  auto take = [&](uint64_t key, double count) {
    const size_t same = reader.read(key);
    builder.push(reader.codes(), same, count);
  };
  if (!rows.fits_table())
    tabulate_sorted(rows, weights, take);
  else if (weights)
    tabulate<double>(rows, weights, take);
  else
    tabulate<uint32_t>(rows, weights, take);
  return builder.finish();
}

ContextTree merge_context_trees(const ContextTreeView& a, const ContextTreeView& b) {
  if (a.n_levels != b.n_levels) throw std::invalid_argument("trees of different depth cannot be merged");
  const size_t length = a.n_levels;
  LeafCells left(a), right(b);
  TreeBuilder builder(length - 1);
  std::vector<int32_t> previous(length, -1);
  auto push = [&](const int32_t* codes, double count) {
    if (count < kNothing) return;
    const size_t same = std::mismatch(previous.begin(), previous.end(), codes).first - previous.begin();
    builder.push(codes, same, count);
    std::copy(codes, codes + length, previous.begin());
  };
  while (!left.done() || !right.done()) {
    const int32_t *x = left.codes(), *y = right.codes();
    if (right.done() || (!left.done() && std::lexicographical_compare(x, x + length, y, y + length))) {
      push(x, left.count());
      left.next();
    } else if (left.done() || std::lexicographical_compare(y, y + length, x, x + length)) {
      push(y, right.count());
      right.next();
    } else {
      push(x, left.count() + right.count());
      left.next();
      right.next();
    }
  }
  return builder.finish();
}

std::vector<int32_t> first_children(const ContextTreeView& tree) {
  const size_t n_nodes = static_cast<size_t>(tree.level_ptr[tree.n_levels]);
  std::vector<int32_t> first(n_nodes + 1, 0);
  for (size_t node = 1; node < n_nodes; ++node) ++first[tree.parent[node] + 1];
  first[0] = 1;
  for (size_t node = 0; node < n_nodes; ++node) first[node + 1] += first[node];
  return first;
}

void release_memory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

}  // namespace countwise
