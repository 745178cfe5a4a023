#include "lookup.hpp"

#include <cmath>

#include "shares.hpp"

namespace countwise {
namespace {

constexpr size_t kTableCells = 32'768;  // of a term that is written out: 256 KB, which stay in the second-level cache
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
  const double *first = &term.levels[level].node[context * n_classes], base = term.log_base[value];
  for (size_t y = 0; y < n_classes; ++y) {
    double add = first[y] + base;
    uint32_t at = context;
    for (size_t depth = level; std::isnan(add);) {
      at = term.levels[depth--].parent[at];
      const TrieLevel& here = term.levels[depth];
      const uint32_t entry = here.values.find(at, value);
      add = entry == kNone ? here.node[at * n_classes + y] + base : here.entry[entry * n_classes + y];
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
