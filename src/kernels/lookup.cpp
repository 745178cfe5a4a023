#include "lookup.hpp"

#include <cmath>

#include "shares.hpp"

namespace countwise {
namespace {

constexpr size_t kTableCells = 32'768;  // of a term that is written out: 256 KB, which stay in the second-level cache
constexpr ptrdiff_t kScan = 8;          // cells of a sparse context that are looked through one by one

// A block of rows to which a term is applied; what it adds goes to places `stride` numbers apart.
struct Rows {
  const std::vector<Column>& columns;
  size_t start, n, n_classes, stride;

  // Calls f with the codes of one column, by their own type.
  template <class F>
  CW_INLINE void codes(uint32_t position, F&& f) const {
    const Column& column = columns[position];
    with_width(column, [&](auto* tag) { f(static_cast<decltype(tag)>(column.data) + start); });
  }
};

// A context of a term's dense levels.
struct Place {
  uint32_t context;
  size_t level;
};

// Where a block of rows stands in a term's dense levels: the deepest context that exists, and the entry of its value.
struct Walk {
  uint32_t context[kBlock], level[kBlock], entry[kBlock], value[kBlock];
};

// All rows take one step before any takes the next, and entries are asked for before they are needed: the cache
// misses of a block overlap instead of following each other. Ends with the last dense level.
template <class Number>
CW_INLINE void walk_block(const Term& term, const Rows& rows, Walk& walk) {
  std::fill_n(walk.context, rows.n, 0u);
  std::fill_n(walk.level, rows.n, 0u);
  for (size_t depth = 0; depth + 1 < term.levels.size(); ++depth) {
    const Children& next = term.levels[depth].next;
    rows.codes(term.parents[depth], [&](const auto* codes) {
      for (size_t r = 0; r < rows.n; ++r) {
        if (walk.level[r] != depth) continue;
        const uint32_t child = next.find(walk.context[r], codes[r]);
        if (child == kNone) continue;
        walk.context[r] = child;
        walk.level[r] = static_cast<uint32_t>(depth + 1);
      }
    });
  }
  rows.codes(term.child, [&](const auto* codes) {
    for (size_t r = 0; r < rows.n; ++r) {
      const TrieLevel& here = term.levels[walk.level[r]];
      walk.value[r] = codes[r];
      walk.entry[r] = codes[r] < term.child_arity ? here.values.find(walk.context[r], codes[r]) : kNone;
      if (walk.entry[r] != kNone) prefetch(here.entry.as<Number>() + walk.entry[r] * rows.n_classes);
    }
  });
}

template <class Number>
CW_INLINE void add(const Number* numbers, double factor, size_t n_classes, double* sum) {
  for (size_t y = 0; y < n_classes; ++y) sum[y] += factor * numbers[y];
}

// Numbers of either kind: of a node or an entry.
CW_INLINE void add(const Numbers& numbers, size_t i, double factor, size_t n_classes, double* sum) {
  if (numbers.narrow.empty())
    add(&numbers.wide[i * n_classes], factor, n_classes, sum);
  else
    add(&numbers.narrow[i * n_classes], factor, n_classes, sum);
}

// For a value that no class has seen in the context. Flat: each class answers at the deepest context that it has
// seen.
CW_INLINE void add_flat(const Term& term, Place place, uint32_t value, double factor, size_t n_classes, double* sum) {
  const Numbers& first = term.levels[place.level].node;
  const double base = term.log_base[value];
  for (size_t y = 0; y < n_classes; ++y) {
    double found = first[place.context * n_classes + y] + base;
    uint32_t at = place.context;
    for (size_t depth = place.level; std::isnan(found);) {
      at = term.levels[depth--].parent[at];
      const TrieLevel& here = term.levels[depth];
      const uint32_t entry = here.values.find(at, value);
      found = entry == kNone ? here.node[at * n_classes + y] + base : here.entry[entry * n_classes + y];
    }
    sum[y] += factor * found;
  }
}

// Hierarchical: every level up to one that has an entry for the value adds its factor.
CW_INLINE void add_hierarchical(const Term& term, Place place, uint32_t value, double factor, size_t n_classes,
                                double* sum) {
  for (;; --place.level) {
    const TrieLevel& here = term.levels[place.level];
    const uint32_t entry = here.values.find(place.context, value);
    if (entry != kNone) return add(here.entry, entry, factor, n_classes, sum);
    add(here.node, place.context, factor, n_classes, sum);
    if (place.level == 0) return;
    place.context = here.parent[place.context];
  }
}

// The log probabilities of one value in one context of the dense levels, wherever they are found.
CW_INLINE void add_value(const Term& term, Place place, uint32_t value, double factor, size_t n_classes, double* sum) {
  if (!term.flat) return add_hierarchical(term, place, value, factor, n_classes, sum);
  const uint32_t entry = term.levels[place.level].values.find(place.context, value);
  if (entry == kNone) return add_flat(term, place, value, factor, n_classes, sum);
  add(term.levels[place.level].entry, entry, factor, n_classes, sum);
}

// What the items of a context add to the log probabilities of one value. Few cells are looked through without branches:
// which one holds the value cannot be foreseen.
template <class Item>
CW_INLINE void add_items(const Item* item, const Item* cell, const Item* end, uint32_t value, double factor,
                         double* sum) {
  if (end - item == 2) {
    sum[item->y] += factor * (item->log + (cell->value == value ? cell->log : 0.0));
    return;
  }
  for (; item != cell; ++item) sum[item->y] += factor * item->log;
  if (end - cell <= kScan) {
    for (; cell != end; ++cell) sum[cell->y] += factor * (cell->value == value ? cell->log : 0.0);
  } else {
    cell = std::lower_bound(cell, end, value, [](const Item& a, uint32_t v) { return a.value < v; });
    for (; cell != end && cell->value == value; ++cell) sum[cell->y] += factor * cell->log;
  }
}

// What a sparse level adds.
CW_INLINE void add_sparse(const SparseLevel& level, uint32_t context, uint32_t value, double factor, double* sum) {
  const SparseLevel::Span span = level.span[context];
  const uint32_t end = level.span[context + 1].nodes;
  level.items(
      [&](const auto* first) { add_items(first + span.nodes, first + span.cells, first + end, value, factor, sum); });
}

// The contexts of a block of rows in the sparse levels, path[depth][row], and what they hold asked for.
CW_INLINE void walk_deep(const Term& term, const Rows& rows, const Walk& walk, uint32_t* path) {
  const size_t dense = term.levels.size();
  for (size_t r = 0; r < rows.n; ++r)
    path[r] = walk.level[r] + 1 == dense && walk.value[r] < term.child_arity ? walk.context[r] : kNone;
  for (size_t depth = 0; depth < term.deep.size(); ++depth, path += kBlock) {
    const Children& next = depth ? term.deep[depth - 1].next : term.levels.back().next;
    const SparseLevel& here = term.deep[depth];
    rows.codes(term.parents[dense - 1 + depth], [&](const auto* codes) {
      for (size_t r = 0; r < rows.n; ++r) {
        path[kBlock + r] = path[r] == kNone ? kNone : next.find(path[r], codes[r]);
        if (path[kBlock + r] != kNone) prefetch(&here.span[path[kBlock + r]]);
      }
    });
    here.items([&](const auto* first) {
      for (size_t r = 0; r < rows.n; ++r)
        if (path[kBlock + r] != kNone) prefetch(first + here.span[path[kBlock + r]].nodes);
    });
  }
}

// One block of rows through the sparse levels, from where it stands in the last dense one.
CW_INLINE void add_deep(const Term& term, const Rows& rows, const Walk& walk, double factor, double* out) {
  std::vector<uint32_t> path((term.deep.size() + 1) * kBlock);
  walk_deep(term, rows, walk, path.data());
  for (size_t r = 0; r < rows.n; ++r) {
    const uint32_t* context = &path[kBlock + r];
    for (size_t depth = 0; depth < term.deep.size() && *context != kNone; ++depth, context += kBlock)
      add_sparse(term.deep[depth], *context, walk.value[r], factor, out + r * rows.stride);
  }
}

// One block of rows through the trie, whose dense levels are of one kind.
template <class Number>
CW_INLINE void add_by_walking_through(const Term& term, const Rows& rows, double factor, double* out) {
  Walk walk;
  walk_block<Number>(term, rows, walk);
  for (size_t r = 0; r < rows.n; ++r) {
    double* sum = out + r * rows.stride;
    if (walk.entry[r] != kNone)
      add(term.levels[walk.level[r]].entry.as<Number>() + walk.entry[r] * rows.n_classes, factor, rows.n_classes, sum);
    else if (walk.value[r] < term.child_arity)
      add_value(term, {walk.context[r], walk.level[r]}, walk.value[r], factor, rows.n_classes, sum);
  }
  if (!term.deep.empty()) add_deep(term, rows, walk, factor, out);
}

CW_INLINE void add_by_walking(const Term& term, const Rows& rows, double factor, double* out) {
  if (term.levels[0].node.narrow.empty())
    add_by_walking_through<double>(term, rows, factor, out);
  else
    add_by_walking_through<float>(term, rows, factor, out);
}

// Calls f(codes, arity) for every column that a term looks at.
template <class F>
CW_INLINE void each_column(const Term& term, const Rows& rows, F&& f) {
  for (size_t p = 0; p < term.parents.size(); ++p)
    rows.codes(term.parents[p], [&](const auto* codes) { f(codes, term.parent_arity[p]); });
  rows.codes(term.child, [&](const auto* codes) { f(codes, term.child_arity); });
}

// Rows of the table and, among them, rows with a code that training never met: they are not in it and walk, they alone.
// A walk adds the same logarithms in another order, and what a row gets must not depend on the rows beside it.
CW_INLINE void add_mixed(const Term& term, const Rows& rows, const uint32_t* cell, double factor, double* out) {
  uint32_t unseen[kBlock];
  std::fill_n(unseen, rows.n, 0u);
  each_column(term, rows, [&](const auto* codes, uint32_t arity) {
    for (size_t r = 0; r < rows.n; ++r) unseen[r] |= codes[r] >= arity;
  });
  for (size_t r = 0; r < rows.n;) {
    size_t end = r;
    while (end < rows.n && unseen[end]) ++end;
    if (end > r) {
      const Rows walking{rows.columns, rows.start + r, end - r, rows.n_classes, rows.stride};
      add_by_walking(term, walking, factor, out + r * rows.stride);
    }
    for (r = end; r < rows.n && !unseen[r]; ++r)
      add(&term.table[cell[r] * rows.n_classes], factor, rows.n_classes, out + r * rows.stride);
  }
}

// One block of rows through the table.
CW_INLINE void add_by_table(const Term& term, const Rows& rows, double factor, double* out) {
  uint32_t cell[kBlock];
  uint32_t unseen = 0;
  std::fill_n(cell, rows.n, 0u);
  each_column(term, rows, [&](const auto* codes, uint32_t arity) {
    for (size_t r = 0; r < rows.n; ++r) {
      const uint32_t code = codes[r];
      unseen |= code >= arity;
      cell[r] = cell[r] * arity + code;
    }
  });
  if (unseen) return add_mixed(term, rows, cell, factor, out);
  for (size_t r = 0; r < rows.n; ++r)
    add(&term.table[cell[r] * rows.n_classes], factor, rows.n_classes, out + r * rows.stride);
}

// Adds a term's log probabilities, times a factor, for one block of rows.
CW_INLINE void add_term(const Term& term, const Rows& rows, double factor, double* out) {
  if (factor == 0.0) return;  // also of a probability of 0
  if (term.table.empty())
    add_by_walking(term, rows, factor, out);
  else
    add_by_table(term, rows, factor, out);
}

// Attribute by attribute over a whole share of rows, so that one attribute's trie stays in the cache meanwhile.
CW_CLONES void log_joint_rows(const std::vector<Term>& terms, const Rows& share, const double* log_prior,
                              const double* factors, double* out) {
  const size_t n_classes = share.n_classes, end = share.start + share.n;
  for (size_t row = share.start; row < end; ++row) std::copy(log_prior, log_prior + n_classes, out + row * n_classes);
  for (size_t t = 0; t < terms.size(); ++t)
    for (size_t start = share.start; start < end; start += kBlock) {
      const Rows rows{share.columns, start, std::min(kBlock, end - start), n_classes, n_classes};
      add_term(terms[t], rows, factors ? factors[t] : 1.0, out + start * n_classes);
    }
}

// One block of rows, term by term.
CW_CLONES void contributions_rows(const std::vector<Term>& terms, const Rows& rows, const double* factors,
                                  double* out) {
  std::fill_n(out, rows.n * rows.stride, 0.0);
  for (size_t t = 0; t < terms.size(); ++t)
    add_term(terms[t], rows, factors ? factors[t] : 1.0, out + t * rows.n_classes);
}

// Numbers that the term's deepest level holds.
size_t leaf_numbers(const Term& term) {
  return term.deep.empty() ? term.levels.back().entry.size() : 2 * term.deep.back().span.back().nodes;
}

}  // namespace

void write_out(Term& term, size_t n_classes) {
  size_t cells = size_t{term.child_arity} * n_classes;
  for (uint32_t arity : term.parent_arity) {
    cells *= arity;
    if (cells > kTableCells) return;
  }
  if (cells > 4 * leaf_numbers(term) + 1024) return;
  std::vector<double> table(cells, 0.0);
  std::vector<uint32_t> codes(term.parents.size(), 0);
  for (size_t cell = 0; cell < cells; cell += size_t{term.child_arity} * n_classes) {
    std::vector<uint32_t> path{0};  // contexts from the root down
    while (path.size() <= codes.size()) {
      const size_t level = path.size() - 1, dense = term.levels.size();
      const Children& next = level < dense ? term.levels[level].next : term.deep[level - dense].next;
      const uint32_t child = next.find(path.back(), codes[level]);
      if (child == kNone) break;
      path.push_back(child);
    }
    const size_t dense = std::min(path.size(), term.levels.size());
    for (uint32_t value = 0; value < term.child_arity; ++value) {
      double* numbers = &table[cell + value * n_classes];
      add_value(term, {path[dense - 1], dense - 1}, value, 1.0, n_classes, numbers);
      for (size_t depth = dense; depth < path.size(); ++depth)
        add_sparse(term.deep[depth - dense], path[depth], value, 1.0, numbers);
    }
    for (size_t p = codes.size(); p-- > 0 && ++codes[p] == term.parent_arity[p];) codes[p] = 0;
  }
  term.table = std::move(table);
}

void Lookup::log_joint(const std::vector<Column>& columns, const double* log_prior, const double* factors,
                       size_t n_rows, int n_threads, double* out) const {
  const size_t rows = share_rows(n_rows, n_threads, n_classes_ * sizeof(double), size_t{4} << 20);
  parallel_for((n_rows + rows - 1) / rows, n_threads, [&](size_t share) {
    const size_t begin = share * rows;
    const Rows own{columns, begin, std::min(rows, n_rows - begin), n_classes_, n_classes_};
    log_joint_rows(terms_, own, log_prior, factors, out);
  });
}

void Lookup::contributions(const std::vector<Column>& columns, const double* factors, size_t n_rows, int n_threads,
                           double* out) const {
  const size_t stride = terms_.size() * n_classes_;
  parallel_for((n_rows + kBlock - 1) / kBlock, n_threads, [&](size_t share) {
    const size_t start = share * kBlock;
    const Rows rows{columns, start, std::min(kBlock, n_rows - start), n_classes_, stride};
    contributions_rows(terms_, rows, factors, out + start * stride);
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
