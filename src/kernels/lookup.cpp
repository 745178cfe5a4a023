#include "lookup.hpp"

#include <cmath>
#include <limits>

namespace countwise {
namespace {

constexpr size_t kBlock = 256;     // rows whose walks overlap: enough to hide the latency of the cache
constexpr size_t kShare = 16'384;  // rows that a thread takes at a time

// Adds a term's log probabilities to out[row * stride + class] for one block of rows.
CW_INLINE void add_term(const Term& term, const std::vector<Column>& columns, size_t start, size_t rows,
                        size_t n_classes, size_t stride, double* out) {
  uint32_t node[kBlock] = {0}, level_of[kBlock] = {0};
  // All rows take one step before any takes the next: their cache misses overlap.
  for (size_t depth = 0; depth < term.parents.size(); ++depth) {
    const Children& next = term.levels[depth].next;
    const Column& column = columns[term.parents[depth]];
    with_width(column, [&](auto* tag) {
      const auto* codes = static_cast<decltype(tag)>(column.data) + start;
      for (size_t r = 0; r < rows; ++r) {
        if (level_of[r] != depth) continue;
        const uint32_t child = next.find(node[r], codes[r]);
        if (child == kNone) continue;
        node[r] = child;
        level_of[r] = static_cast<uint32_t>(depth + 1);
      }
    });
  }
  const Column& column = columns[term.child];
  with_width(column, [&](auto* tag) {
    const auto* codes = static_cast<decltype(tag)>(column.data) + start;
    for (size_t r = 0; r < rows; ++r) {
      const uint32_t value = codes[r];
      if (value >= term.child_arity) continue;
      double* sum = out + r * stride;
      uint32_t context = node[r];
      for (size_t level = level_of[r];; --level) {
        const TrieLevel& here = term.levels[level];
        const uint32_t entry = here.values.find(context, value);
        const double* add = entry == kNone ? &here.node[context * n_classes] : &here.entry[entry * n_classes];
        for (size_t y = 0; y < n_classes; ++y) sum[y] += add[y];
        if (entry != kNone || level == 0 || term.flat) break;
        context = here.parent[context];
      }
    }
  });
}

CW_CLONES void log_joint_rows(const std::vector<Term>& terms, const std::vector<Column>& columns,
                              const double* log_prior, size_t n_classes, size_t begin, size_t end, double* out) {
  for (size_t start = begin; start < end; start += kBlock) {
    const size_t rows = std::min(kBlock, end - start);
    double* block = out + start * n_classes;
    for (size_t r = 0; r < rows; ++r) std::copy(log_prior, log_prior + n_classes, block + r * n_classes);
    for (const Term& term : terms) add_term(term, columns, start, rows, n_classes, n_classes, block);
  }
}

}  // namespace

void Lookup::log_joint(const std::vector<Column>& columns, const double* log_prior, size_t n_rows, int n_threads,
                       double* out) const {
  parallel_for((n_rows + kShare - 1) / kShare, n_threads, [&](size_t share) {
    const size_t begin = share * kShare;
    log_joint_rows(terms_, columns, log_prior, n_classes_, begin, std::min(n_rows, begin + kShare), out);
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

void LeaveOneOut::row_losses(const std::vector<Column>& columns, size_t row, uint32_t y, double weight, Loss loss,
                             std::vector<double>& score, std::vector<double>& estimate, int64_t* out) const {
  const size_t C = n_classes_;
  const double left_out = std::min(weight, 1.0);
  double total = 0;
  for (double count : class_counts_) total += count;
  for (size_t c = 0; c < C; ++c)
    score[c] = (class_counts_[c] - (c == y ? left_out : 0) + m_ / C) / (total - left_out + m_);
  for (size_t k = 1; k < n_levels_; ++k) std::copy_n(score.begin(), C, score.begin() + k * C);

  auto record = [&](size_t n_attributes) {
    for (size_t k = 0; k < n_levels_; ++k) {
      double* s = &score[k * C];
      double sum = 0, best = -1;
      size_t winner = 0;
      for (size_t c = 0; c < C; ++c) {
        sum += s[c];
        if (s[c] > best) best = s[c], winner = c;
      }
      for (size_t c = 0; c < C; ++c) s[c] = std::max(s[c] / sum, std::numeric_limits<double>::min());
      const double p = s[y];
      const double value = loss == Loss::kSquared   ? (1 - p) * (1 - p)
                           : loss == Loss::kZeroOne ? static_cast<double>(winner != y)
                                                    : -std::log(p);
      out[n_attributes * n_levels_ + k] += std::llround(weight * value * kLossUnit);
    }
  };

  // A context that no other row has seen does not exist without this one: the level above speaks for it.
  auto estimate_or_above = [&](double count, double n, size_t arity, double above) {
    return n > 1e-9 ? (count + m_ / arity) / (n + m_) : above;
  };

  record(0);
  for (size_t t = 0; t < terms_.size(); ++t) {
    const Term& term = terms_[t];
    const uint32_t value = code_at(columns[term.child], row);
    const double K = term.child_arity;
    std::fill(estimate.begin(), estimate.end(), (root_counts_[t][value] - left_out + m_ / K) / (total - left_out + m_));
    uint32_t node = 0;
    for (size_t level = 0; level < n_levels_; ++level) {
      // The row was counted, so every step of its own walk exists.
      if (level > 0 && level <= term.parents.size())
        node = term.levels[level - 1].next.find(node, code_at(columns[term.parents[level - 1]], row));
      if (level <= term.parents.size()) {
        const TrieLevel& here = term.levels[level];
        const double* n = &here.node[node * C];
        const double* count = &here.entry[here.values.find(node, value) * C];
        for (size_t c = 0; c < C; ++c) {
          const double out_of = c == y ? left_out : 0;
          estimate[c] = estimate_or_above(count[c] - out_of, n[c] - out_of, term.child_arity, estimate[c]);
        }
      }
      for (size_t c = 0; c < C; ++c) score[level * C + c] *= estimate[c];
    }
    record(t + 1);
  }
}

void LeaveOneOut::losses(const std::vector<Column>& columns, const Column& target, const double* weights, size_t n_rows,
                         Loss loss, int n_threads, int64_t* out) const {
  const size_t n_shares = std::max<size_t>(1, std::min<size_t>(n_threads < 1 ? 1 : n_threads, n_rows));
  const size_t surface = (terms_.size() + 1) * n_levels_;
  std::vector<std::vector<int64_t>> sums(n_shares, std::vector<int64_t>(surface, 0));
  parallel_for(n_shares, n_threads, [&](size_t share) {
    std::vector<double> score(size_t{n_levels_} * n_classes_), estimate(n_classes_);
    for (size_t row = n_rows * share / n_shares; row < n_rows * (share + 1) / n_shares; ++row)
      row_losses(columns, row, code_at(target, row), weights ? weights[row] : 1.0, loss, score, estimate,
                 sums[share].data());
  });
  for (const auto& sum : sums)
    for (size_t i = 0; i < surface; ++i) out[i] += sum[i];
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
