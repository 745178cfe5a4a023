// Rows as numbers: equal rows of some columns have equal keys, and keys are in the lexicographic order of the rows.
#pragma once

#include <algorithm>
#include <utility>

#include "common.hpp"

namespace countwise {

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

  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<Stage>& stages() const { return stages_; }

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

// Reads ascending final keys back as codes. Most keys differ from the one before in the last column only, so a
// division is made only where a digit overflows.
class KeyReader {
 public:
  explicit KeyReader(const RowKeys& rows)
      : columns_(rows.columns()), stages_(rows.stages()), prefix_(columns_.size(), 0), codes_(columns_.size(), 0) {}

  // The number of leading codes that are as they were.
  size_t read(uint64_t key) {
    size_t last = columns_.size();
    for (size_t stage = stages_.size() + 1; stage-- > 0;) {
      const size_t first = stage == 0 ? 0 : stages_[stage - 1].last;
      for (size_t c = last; c-- > first;) {
        const uint64_t digit = codes_[c] + (key - prefix_[c]);
        prefix_[c] = key;
        if (started_ && digit < columns_[c].arity) {
          codes_[c] = static_cast<int32_t>(digit);
          return c;
        }
        const uint64_t above = key / columns_[c].arity;
        codes_[c] = static_cast<int32_t>(key - above * columns_[c].arity);
        key = above;
      }
      if (stage > 0) key = stages_[stage - 1].keys[key];
      last = first;
    }
    started_ = true;
    return 0;
  }

  const int32_t* codes() const { return codes_.data(); }

 private:
  const std::vector<Column>& columns_;
  const std::vector<Stage>& stages_;
  std::vector<uint64_t> prefix_;  // of each column, the key down to it
  std::vector<int32_t> codes_;
  bool started_ = false;
};

template <class Count, class Take>
void tabulate(const RowKeys& rows, const double* weights, Take&& take) {
  std::vector<Count> table(rows.range(), Count{0});
  if (weights)
    for (size_t r = 0; r < rows.keys().size(); ++r) table[rows.keys()[r]] += static_cast<Count>(weights[r]);
  else
    for (uint64_t key : rows.keys()) table[key] += Count{1};
  for (uint64_t key = 0; key < table.size(); ++key)
    if (table[key] > 0) take(key, static_cast<double>(table[key]));
}

// The range is far larger than the number of rows: sort the rows by key and add up runs.
template <class Take>
void tabulate_sorted(const RowKeys& rows, const double* weights, Take&& take) {
  std::vector<std::pair<uint64_t, uint32_t>> order(rows.keys().size());
  for (size_t r = 0; r < order.size(); ++r) order[r] = {rows.keys()[r], static_cast<uint32_t>(r)};
  std::sort(order.begin(), order.end());
  for (size_t r = 0; r < order.size();) {
    const uint64_t key = order[r].first;
    double count = 0;
    for (; r < order.size() && order[r].first == key; ++r) count += weights ? weights[order[r].second] : 1.0;
    take(key, count);
  }
}

}  // namespace countwise
