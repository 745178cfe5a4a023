#include <algorithm>
#include <cmath>
#include <numeric>

#include "parents.hpp"
#include "search_counts.hpp"
#include "vector_math.hpp"

namespace countwise {
namespace {

constexpr double kStrengths[4] = {1, 4, 16, 64};
constexpr double kLeastGain = 1e-8;  // in nats, over all rows: less is the rounding of a sum that is 0
constexpr size_t kTableCells = size_t{1} << 16, kCellsPerRow = 16;  // more are sorted instead
constexpr double kHuge = 1e12, kLogHuge = 27.631021115928547;       // log_of() is for numbers of at least 1

// Sum over cells of n log(n - left + A f), for each A; f is at most 1 and n - left + A f may be below 1.
CW_CLONES void add_logs(const double* n, const double* f, const double* left_out, size_t size, double* sums) {
  for (size_t s = 0; s < 4; ++s) {
    const double a = kStrengths[s];
    double sum[4] = {0, 0, 0, 0};
    size_t i = 0;
    auto term = [&](size_t at) {
      const double left = n[at] < left_out[at] ? n[at] : left_out[at];
      return n[at] * (kLogHuge - log_of(kHuge / (n[at] - left + a * f[at])));
    };
    for (; i + 4 <= size; i += 4)
      for (size_t j = 0; j < 4; ++j) sum[j] += term(i + j);
    for (; i < size; ++i) sum[0] += term(i);
    sums[s] += (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
}

// The gains of one attribute from each of its candidates.
class Gains {
 public:
  Gains(const SearchRows& rows, uint32_t child) : rows_(rows), arity_(rows.columns[child].arity) {
    const size_t width = size_t{arity_} * rows.n_classes;
    value_and_class_.resize(rows.n_rows);
    for (size_t r = 0; r < rows.n_rows; ++r)
      value_and_class_[r] = code_at(rows.columns[child], r) * rows.n_classes + code_at(rows.target, r);
    left_out_.assign(rows.n_classes, 0.0);
    std::vector<double> weight(rows.n_classes, 0.0);
    for (size_t r = 0; r < rows.n_rows; ++r) {
      weight[code_at(rows.target, r)] += rows.weight_of(r);
      left_out_[code_at(rows.target, r)] += rows.weight_of(r) * rows.left_out_of(r);
    }
    for (uint32_t y = 0; y < rows.n_classes; ++y)
      if (weight[y] > 0) left_out_[y] /= weight[y];
    const MarginalEstimate marginal(rows, child);
    given_class_.resize(width);
    for (uint32_t k = 0; k < arity_; ++k)
      for (uint32_t y = 0; y < rows.n_classes; ++y)
        given_class_[k * rows.n_classes + y] = marginal.given_class(k, y, true, left_out_[y]);
    base_ = 0;
    for (size_t r = 0; r < width; ++r)
      if (marginal.count(r) > 0) base_ += marginal.count(r) * std::log(given_class_[r]);
  }

  double of(uint32_t parent) {
    n_.clear(), f_.clear(), n_left_.clear(), total_.clear(), one_.clear(), total_left_.clear();
    context_.assign(rows_.n_classes, 0.0);
    const size_t cells = size_t{rows_.columns[parent].arity} * given_class_.size();
    cells <= std::max(kTableCells, kCellsPerRow * rows_.n_rows) ? count_in_table(parent) : count_sorted(parent);
    double up[4] = {0, 0, 0, 0}, down[4] = {0, 0, 0, 0};
    add_logs(n_.data(), f_.data(), n_left_.data(), n_.size(), up);
    add_logs(total_.data(), one_.data(), total_left_.data(), total_.size(), down);
    double best = up[0] - down[0];
    for (size_t s = 1; s < 4; ++s) best = std::max(best, up[s] - down[s]);
    return best - base_;
  }

 private:
  void count_in_table(uint32_t parent) {
    const size_t width = given_class_.size(), arity = rows_.columns[parent].arity, classes = rows_.n_classes;
    table_.assign(arity * width, 0.0);
    with_width(rows_.columns[parent], [&](auto* tag) {
      const auto* codes = static_cast<decltype(tag)>(rows_.columns[parent].data);
      if (rows_.weights)
        for (size_t r = 0; r < rows_.n_rows; ++r) table_[codes[r] * width + value_and_class_[r]] += rows_.weights[r];
      else
        for (size_t r = 0; r < rows_.n_rows; ++r) table_[codes[r] * width + value_and_class_[r]] += 1.0;
    });
    for (size_t j = 0; j < arity; ++j) {
      for (size_t cell = 0, y = 0; cell < width; ++cell, y = y + 1 == classes ? 0 : y + 1)
        if (table_[j * width + cell] != 0) add_cell(cell, y, table_[j * width + cell]);
      end_context();
    }
  }

  // The same cells in the same order, in memory that follows the rows: two columns of many values have far more pairs
  // of them than there are rows.
  void count_sorted(uint32_t parent) {
    const size_t width = given_class_.size();
    keys_.clear();
    for (size_t r = 0; r < rows_.n_rows; ++r)
      keys_.emplace_back(code_at(rows_.columns[parent], r) * uint64_t{width} + value_and_class_[r], r);
    std::sort(keys_.begin(), keys_.end());
    for (size_t i = 0; i < keys_.size();) {
      const uint64_t key = keys_[i].first;
      double count = 0;
      for (; i < keys_.size() && keys_[i].first == key; ++i) count += rows_.weight_of(keys_[i].second);
      if (count != 0) add_cell(key % width, key % width % rows_.n_classes, count);
      if (i == keys_.size() || keys_[i].first / width != key / width) end_context();
    }
  }

  void add_cell(size_t cell, size_t y, double count) {
    context_[y] += count;
    n_.push_back(count), f_.push_back(given_class_[cell]), n_left_.push_back(left_out_[y]);
  }

  void end_context() {
    for (size_t y = 0; y < context_.size(); ++y) {
      if (context_[y] > 0) total_.push_back(context_[y]), one_.push_back(1.0), total_left_.push_back(left_out_[y]);
      context_[y] = 0;
    }
  }

  const SearchRows& rows_;
  const uint32_t arity_;
  double base_;  // what the attribute's own distribution given the class achieves
  std::vector<uint32_t> value_and_class_;
  std::vector<double> left_out_;  // [class]
  std::vector<double> given_class_, table_, context_, n_, f_, n_left_, total_, one_, total_left_;
  std::vector<std::pair<uint64_t, size_t>> keys_;  // of cells, and their rows
};

}  // namespace

ParentLists gain_parents(const SearchRows& rows, const SearchLimits& limits) {
  ParentLists parents(rows.columns.size());
  std::vector<std::pair<double, uint32_t>> found;
  for (size_t position = 1; position < limits.order.size(); ++position) {
    const uint32_t child = limits.order[position];
    Gains gains(rows, child);
    found.clear();
    for (size_t p = 0; p < std::min<size_t>(position, limits.n_candidates); ++p) {
      const double gain = gains.of(limits.order[p]);
      if (gain > kLeastGain) found.emplace_back(-gain, static_cast<uint32_t>(p));
    }
    std::sort(found.begin(), found.end());
    for (size_t i = 0; i < std::min<size_t>(found.size(), limits.n_parents); ++i)
      parents[child].push_back(limits.order[found[i].second]);
  }
  return parents;
}

}  // namespace countwise
