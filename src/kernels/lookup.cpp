#include "lookup.hpp"

#include <cmath>
#include <limits>

namespace countwise {
namespace {

constexpr size_t kTableCells = 32'768;  // of a term that is written out: 256 KB, which stay in the second-level cache
constexpr size_t kBlock = 256;          // rows whose walks overlap: enough to hide the latency of the cache
constexpr size_t kShare = 65'536;       // rows that a thread takes at a time, at most

// Rows of a share: enough to pay for bringing each attribute's trie into the cache, all threads busy, and at most
// `bytes` of state for its rows.
size_t share_rows(size_t n_rows, int n_threads, size_t bytes_per_row, size_t bytes) {
  const size_t even = n_rows / static_cast<size_t>(std::max(1, n_threads)) + 1;
  return std::clamp(std::min(even, bytes / bytes_per_row), kBlock, kShare);
}

// Where a block of rows stands in a term's trie: the deepest context that exists, and the entry of its value.
struct Walk {
  uint32_t context[kBlock], level[kBlock], entry[kBlock];
};

// All rows take one step before any takes the next, and entries are asked for before they are needed: the cache
// misses of a block overlap instead of following each other.
CW_INLINE void walk_block(const Term& term, const std::vector<Column>& columns, size_t start, size_t rows,
                          size_t n_classes, Walk& walk) {
  std::fill_n(walk.context, rows, 0u);
  std::fill_n(walk.level, rows, 0u);
  for (size_t depth = 0; depth < term.parents.size(); ++depth) {
    const Children& next = term.levels[depth].next;
    const Column& column = columns[term.parents[depth]];
    with_width(column, [&](auto* tag) {
      const auto* codes = static_cast<decltype(tag)>(column.data) + start;
      for (size_t r = 0; r < rows; ++r) {
        if (walk.level[r] != depth) continue;
        const uint32_t child = next.find(walk.context[r], codes[r]);
        if (child == kNone) continue;
        walk.context[r] = child;
        walk.level[r] = static_cast<uint32_t>(depth + 1);
      }
    });
  }
  const Column& column = columns[term.child];
  with_width(column, [&](auto* tag) {
    const auto* codes = static_cast<decltype(tag)>(column.data) + start;
    for (size_t r = 0; r < rows; ++r) {
      const TrieLevel& here = term.levels[walk.level[r]];
      walk.entry[r] = codes[r] < term.child_arity ? here.values.find(walk.context[r], codes[r]) : kNone;
      if (walk.entry[r] != kNone) prefetch(&here.entry[walk.entry[r] * n_classes]);
    }
  });
}

// For a value that no class has seen in the context. Flat: each class answers at the deepest context that it has
// seen.
inline void add_flat(const Term& term, uint32_t context, size_t level, uint32_t value, size_t n_classes, double* sum) {
  const double* first = &term.levels[level].node[context * n_classes];
  for (size_t y = 0; y < n_classes; ++y) {
    double add = first[y];
    uint32_t at = context;
    for (size_t depth = level; std::isnan(add);) {
      at = term.levels[depth--].parent[at];
      const TrieLevel& here = term.levels[depth];
      const uint32_t entry = here.values.find(at, value);
      add = entry == kNone ? here.node[at * n_classes + y] : here.entry[entry * n_classes + y];
    }
    sum[y] += add;
  }
}

// Hierarchical: every level up to one that has an entry for the value adds its factor.
inline void add_hierarchical(const Term& term, uint32_t context, size_t level, uint32_t value, size_t n_classes,
                             double* sum) {
  for (;; --level) {
    const TrieLevel& here = term.levels[level];
    const uint32_t entry = here.values.find(context, value);
    const double* add = entry == kNone ? &here.node[context * n_classes] : &here.entry[entry * n_classes];
    for (size_t y = 0; y < n_classes; ++y) sum[y] += add[y];
    if (entry != kNone || level == 0) return;
    context = here.parent[context];
  }
}

// The log probabilities of one value in one context, wherever they are found.
inline void add_value(const Term& term, uint32_t context, size_t level, uint32_t value, size_t n_classes, double* sum) {
  if (!term.flat) return add_hierarchical(term, context, level, value, n_classes, sum);
  const uint32_t entry = term.levels[level].values.find(context, value);
  if (entry == kNone) return add_flat(term, context, level, value, n_classes, sum);
  const double* add = &term.levels[level].entry[entry * n_classes];
  for (size_t y = 0; y < n_classes; ++y) sum[y] += add[y];
}

// One block of rows through the trie.
CW_INLINE void add_by_walking(const Term& term, const std::vector<Column>& columns, size_t start, size_t rows,
                              size_t n_classes, size_t stride, double* out) {
  Walk walk;
  walk_block(term, columns, start, rows, n_classes, walk);
  for (size_t r = 0; r < rows; ++r) {
    double* sum = out + r * stride;
    if (walk.entry[r] != kNone) {
      const double* add = &term.levels[walk.level[r]].entry[walk.entry[r] * n_classes];
      for (size_t y = 0; y < n_classes; ++y) sum[y] += add[y];
    } else {
      const uint32_t value = code_at(columns[term.child], start + r);
      if (value < term.child_arity) add_value(term, walk.context[r], walk.level[r], value, n_classes, sum);
    }
  }
}

// One block of rows through the table; false if a row holds a code that training never met (nothing is added).
CW_INLINE bool add_by_table(const Term& term, const std::vector<Column>& columns, size_t start, size_t rows,
                            size_t n_classes, size_t stride, double* out) {
  uint32_t cell[kBlock];
  uint32_t unseen = 0;
  std::fill_n(cell, rows, 0u);
  auto append = [&](const Column& column, uint32_t arity) {
    with_width(column, [&](auto* tag) {
      const auto* codes = static_cast<decltype(tag)>(column.data) + start;
      for (size_t r = 0; r < rows; ++r) {
        const uint32_t code = codes[r];
        unseen |= code >= arity;
        cell[r] = cell[r] * arity + code;
      }
    });
  };
  for (size_t p = 0; p < term.parents.size(); ++p) append(columns[term.parents[p]], term.parent_arity[p]);
  append(columns[term.child], term.child_arity);
  if (unseen) return false;
  for (size_t r = 0; r < rows; ++r) {
    const double* add = &term.table[cell[r] * n_classes];
    double* sum = out + r * stride;
    for (size_t y = 0; y < n_classes; ++y) sum[y] += add[y];
  }
  return true;
}

// Adds a term's log probabilities to out[row * stride + class] for one block of rows.
CW_INLINE void add_term(const Term& term, const std::vector<Column>& columns, size_t start, size_t rows,
                        size_t n_classes, size_t stride, double* out) {
  if (term.table.empty() || !add_by_table(term, columns, start, rows, n_classes, stride, out))
    add_by_walking(term, columns, start, rows, n_classes, stride, out);
}

// Attribute by attribute over a whole share of rows, so that one attribute's trie stays in the cache meanwhile.
CW_CLONES void log_joint_rows(const std::vector<Term>& terms, const std::vector<Column>& columns,
                              const double* log_prior, size_t n_classes, size_t begin, size_t end, double* out) {
  for (size_t row = begin; row < end; ++row) std::copy(log_prior, log_prior + n_classes, out + row * n_classes);
  for (const Term& term : terms)
    for (size_t start = begin; start < end; start += kBlock)
      add_term(term, columns, start, std::min(kBlock, end - start), n_classes, n_classes, out + start * n_classes);
}

}  // namespace

void write_out(Term& term, size_t n_classes) {
  size_t cells = size_t{term.child_arity} * n_classes;
  for (uint32_t arity : term.parent_arity) {
    cells *= arity;
    if (cells > kTableCells) return;
  }
  const size_t entries = term.levels.back().entry.size();
  if (cells > 4 * entries + 1024) return;
  std::vector<double> table(cells, 0.0);
  std::vector<uint32_t> codes(term.parents.size(), 0);
  for (size_t cell = 0; cell < cells; cell += size_t{term.child_arity} * n_classes) {
    uint32_t context = 0;
    size_t level = 0;
    for (; level < codes.size(); ++level) {
      const uint32_t child = term.levels[level].next.find(context, codes[level]);
      if (child == kNone) break;
      context = child;
    }
    for (uint32_t value = 0; value < term.child_arity; ++value)
      add_value(term, context, level, value, n_classes, &table[cell + value * n_classes]);
    for (size_t p = codes.size(); p-- > 0 && ++codes[p] == term.parent_arity[p];) codes[p] = 0;
  }
  term.table = std::move(table);
}

void Lookup::log_joint(const std::vector<Column>& columns, const double* log_prior, size_t n_rows, int n_threads,
                       double* out) const {
  const size_t rows = share_rows(n_rows, n_threads, n_classes_ * sizeof(double), size_t{4} << 20);
  parallel_for((n_rows + rows - 1) / rows, n_threads, [&](size_t share) {
    const size_t begin = share * rows;
    log_joint_rows(terms_, columns, log_prior, n_classes_, begin, std::min(n_rows, begin + rows), out);
  });
}

void Lookup::contributions(const std::vector<Column>& columns, size_t n_rows, int n_threads, double* out) const {
  const size_t stride = terms_.size() * n_classes_;
  parallel_for((n_rows + kBlock - 1) / kBlock, n_threads, [&](size_t share) {
    const size_t start = share * kBlock, rows = std::min(kBlock, n_rows - start);
    std::fill(out + start * stride, out + (start + rows) * stride, 0.0);
    for (size_t t = 0; t < terms_.size(); ++t)
      add_term(terms_[t], columns, start, rows, n_classes_, stride, out + start * stride + t * n_classes_);
  });
}

// The losses of a share of rows: term by term, in blocks, one level of all rows of a block after the other.
class LeaveOneOut::Share {
 public:
  Share(const LeaveOneOut& model, const LossRows& rows, size_t begin, size_t end, int64_t* out)
      : model_(model),
        rows_(rows),
        begin_(begin),
        n_rows_(end - begin),
        n_classes_(model.n_classes_),
        score_(model.n_levels_ * n_rows_ * n_classes_),
        estimate_(kBlock * n_classes_),
        out_(out) {
    for (double count : model.class_counts_) total_ += count;
  }

  void run() {
    start_with_prior();
    for (size_t t = 0; t < model_.terms_.size(); ++t)
      for (size_t start = 0; start < n_rows_; start += kBlock) add_term(t, start, std::min(kBlock, n_rows_ - start));
  }

 private:
  double* score(size_t level, size_t row) { return &score_[(level * n_rows_ + row) * n_classes_]; }
  double weight(size_t row) const { return rows_.weights ? rows_.weights[begin_ + row] : 1.0; }

  void start_with_prior() {
    for (size_t start = 0; start < n_rows_; start += kBlock) {
      const size_t rows = std::min(kBlock, n_rows_ - start);
      load_rows(start, rows);
      for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < n_classes_; ++c) {
          const double count = model_.class_counts_[c] - (c == target_[r] ? left_out_[r] : 0);
          estimate_[r * n_classes_ + c] = (count + model_.m_ / n_classes_) / (total_ - left_out_[r] + model_.m_);
        }
      for (size_t level = 0; level < model_.n_levels_; ++level) {
        std::fill_n(score(level, start), rows * n_classes_, 1.0);
        multiply_and_record(0, level, start, rows);
      }
    }
  }

  void load_rows(size_t start, size_t rows) {
    for (size_t r = 0; r < rows; ++r) {
      target_[r] = code_at(rows_.target, begin_ + start + r);
      left_out_[r] = std::min(weight(start + r), 1.0);
    }
  }

  CW_INLINE void add_term(size_t t, size_t start, size_t rows) {
    const Term& term = model_.terms_[t];
    const double share = model_.m_ / term.child_arity;
    load_rows(start, rows);
    for (size_t r = 0; r < rows; ++r) {
      value_[r] = code_at(rows_.columns[term.child], begin_ + start + r);
      node_[r] = 0;
      const double marginal = model_.root_counts_[t][value_[r]] - left_out_[r] + share;
      std::fill_n(&estimate_[r * n_classes_], n_classes_, marginal / (total_ - left_out_[r] + model_.m_));
    }
    for (size_t level = 0; level < model_.n_levels_; ++level) {
      if (level <= term.parents.size()) estimate(term, level, share, start, rows);
      multiply_and_record(t + 1, level, start, rows);
    }
  }

  // The row was counted, so every step of its own walk exists. A context that no other row has seen does not exist
  // without this one: the level above speaks for it.
  CW_INLINE void estimate(const Term& term, size_t level, double share, size_t start, size_t rows) {
    if (level > 0) {
      const Column& column = rows_.columns[term.parents[level - 1]];
      const Children& next = term.levels[level - 1].next;
      for (size_t r = 0; r < rows; ++r) node_[r] = next.find(node_[r], code_at(column, begin_ + start + r));
    }
    const TrieLevel& here = term.levels[level];
    for (size_t r = 0; r < rows; ++r) {
      entry_[r] = here.values.find(node_[r], value_[r]);
      prefetch(&here.entry[entry_[r] * n_classes_]);
      prefetch(&here.node[node_[r] * n_classes_]);
    }
    for (size_t r = 0; r < rows; ++r) {
      const double* n = &here.node[node_[r] * n_classes_];
      const double* count = &here.entry[entry_[r] * n_classes_];
      for (size_t c = 0; c < n_classes_; ++c) {
        const double out_of = c == target_[r] ? left_out_[r] : 0;
        const double rest = n[c] - out_of;
        double& p = estimate_[r * n_classes_ + c];
        p = rest > kNothing ? (count[c] - out_of + share) / (rest + model_.m_) : p;
      }
    }
  }

  CW_INLINE void multiply_and_record(size_t n_attributes, size_t level, size_t start, size_t rows) {
    int64_t sum_of_losses = 0;
    for (size_t r = 0; r < rows; ++r) {
      double* s = score(level, start + r);
      const double* p = &estimate_[r * n_classes_];
      double sum = 0;
      for (size_t c = 0; c < n_classes_; ++c) sum += s[c] *= p[c];
      if (sum < kTiny) sum = rescale(s, sum);
      // Rounded before it is weighted: a weight of 2 is the same as two rows.
      const double units = std::floor(loss(s, target_[r], s[target_[r]] / sum) * kLossUnit + 0.5);
      sum_of_losses += static_cast<int64_t>(weight(start + r) * rows_.scale * units + 0.5);
    }
    out_[n_attributes * model_.n_levels_ + level] += sum_of_losses;
  }

  // Scores that have become very small are made to sum to 1; no class is ever impossible.
  double rescale(double* s, double sum) const {
    double rescaled = 0;
    for (size_t c = 0; c < n_classes_; ++c) rescaled += s[c] = std::max(s[c] / sum, kTiny);
    return rescaled;
  }

  CW_INLINE double loss(const double* s, uint32_t y, double p) const {
    switch (rows_.loss) {
      case Loss::kSquared:
        return (1 - p) * (1 - p);
      case Loss::kZeroOne:
        return std::max_element(s, s + n_classes_) - s != y;
      default:
        return -std::log(std::max(p, kTiny));
    }
  }

  static constexpr double kNothing = 1e-9;  // what rounding may leave of a real weight
  static constexpr double kTiny = 1e-200;   // a factor of at least 1e-100 may follow before scores are rescaled
  const LeaveOneOut& model_;
  const LossRows& rows_;
  const size_t begin_, n_rows_, n_classes_;
  std::vector<double> score_;  // [level][row][class]
  std::vector<double> estimate_;
  double left_out_[kBlock] = {};
  uint32_t target_[kBlock] = {}, value_[kBlock] = {}, node_[kBlock] = {}, entry_[kBlock] = {};
  double total_ = 0;
  int64_t* out_;
};

CW_CLONES void LeaveOneOut::share_losses(const LossRows& rows, size_t begin, size_t end, int64_t* out) const {
  Share(*this, rows, begin, end, out).run();
}

void LeaveOneOut::losses(const LossRows& rows, size_t n_rows, int n_threads, int64_t* out) const {
  const size_t surface = (terms_.size() + 1) * n_levels_;
  const size_t size = share_rows(n_rows, n_threads, n_levels_ * n_classes_ * sizeof(double), size_t{16} << 20);
  std::mutex adding;
  parallel_for((n_rows + size - 1) / size, n_threads, [&](size_t share) {
    std::vector<int64_t> sums(surface, 0);
    share_losses(rows, share * size, std::min(n_rows, (share + 1) * size), sums.data());
    std::lock_guard<std::mutex> lock(adding);
    for (size_t i = 0; i < surface; ++i) out[i] += sums[i];
  });
}

void softmax_rows(size_t n_rows, size_t n_classes, int n_threads, double* out) {
  parallel_for((n_rows + kShare - 1) / kShare, n_threads, [&](size_t share) {
    const size_t end = std::min(n_rows, (share + 1) * kShare);
    for (size_t row = share * kShare; row < end; ++row) {
      double* p = out + row * n_classes;
      const double top = *std::max_element(p, p + n_classes);
      double sum = 0;
      for (size_t y = 0; y < n_classes; ++y) sum += p[y] = std::exp(p[y] - top);
      for (size_t y = 0; y < n_classes; ++y) p[y] /= sum;
    }
  });
}

}  // namespace countwise
