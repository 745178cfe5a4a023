#include "leave_one_out.hpp"

#include <cmath>

#include "shares.hpp"

namespace countwise {

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
      left_out_[r] = rows_.one_row ? rows_.one_row[target_[r]] : weight(start + r);
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
      prefetch(&here.entry.wide[entry_[r] * n_classes_]);
      prefetch(&here.node.wide[node_[r] * n_classes_]);
    }
    for (size_t r = 0; r < rows; ++r) {
      const double* n = &here.node.wide[node_[r] * n_classes_];
      const double* count = &here.entry.wide[entry_[r] * n_classes_];
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
    for (size_t c = 0; c < n_classes_; ++c) rescaled += s[c] = std::max(sum > 0 ? s[c] / sum : 0.0, kTiny);
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

}  // namespace countwise
