// Counts of an attribute's contexts joined with the values of one more parent, where some rows are: what a candidate
// for a parent costs to try.
#pragma once

#include <algorithm>

#include "common.hpp"

namespace countwise {

// A row, its context (the values of the parents so far) and its cell (the context and the attribute's value).
struct Place {
  uint32_t row, context, cell;
};

// Where the rows of an attribute are. `scored` are the rows to predict, by their position among these, that share
// their context with another row; `counted` all rows in a context of theirs. A counted row whose value no scored row of
// the context has is in cell n_cells.
struct Contexts {
  std::vector<Place> counted, scored;
  size_t n_contexts = 1, n_cells = 0;
};

// The rows of a search, row by row.
struct RowFacts {
  std::vector<uint32_t> target;
  std::vector<float> weight;
  uint32_t n_classes;
};

// Numbers the keys that occur, and forgets them again at a cost of only these.
class Numbering {
 public:
  static constexpr uint32_t kAbsent = 0xffffffffu;

  void widen(size_t keys) {
    if (keys > number_.size()) number_.resize(keys, kAbsent);
  }
  uint32_t give(size_t key) {
    if (number_[key] == kAbsent) {
      number_[key] = static_cast<uint32_t>(used_.size());
      used_.push_back(key);
    }
    return number_[key];
  }
  uint32_t find(size_t key) const { return number_[key]; }
  size_t size() const { return used_.size(); }
  void clear() {
    for (size_t key : used_) number_[key] = kAbsent;
    used_.clear();
  }

 private:
  std::vector<uint32_t> number_;
  std::vector<size_t> used_;
};

class ContextCounts {
 public:
  explicit ContextCounts(const std::vector<uint32_t>& scored_rows, const RowFacts& facts)
      : scored_rows_(scored_rows), facts_(facts), classes_(facts.n_classes) {}

  // Of the scored rows below `end`, one after the other: [class], all rows of its new context, those with its value.
  struct At {
    uint32_t row;
    size_t total, count;
  };
  const std::vector<At>& at() const { return at_; }
  const float* total(const At& at) const { return &total_[at.total]; }
  const float* count(const At& at) const { return &count_[at.count]; }

  // False if there are too many contexts to be numbered: a parent with so many values tells rows apart, not classes.
  bool add(const Contexts& child, const Column& parent, uint32_t end) {
    const size_t cells = (child.n_cells + 1) * parent.arity;
    if (std::max(child.n_contexts * parent.arity, cells) * classes_ <= kSmall)
      add_all(child, parent, end);
    else if (cells <= kMostKeys)
      add_numbered(child, parent, end);
    else
      return false;
    return true;
  }

  // The parent is taken: rows go to their new contexts, and those that share theirs with no other row are done.
  void move_down(Contexts& child, const Column& parent) {
    add_numbered(child, parent, Numbering::kAbsent);
    const size_t arity = parent.arity;
    number_contexts(child, parent, Numbering::kAbsent);
    size_t kept = 0;
    for (size_t i = 0; i < child.scored.size(); ++i) {
      const float* total = this->total(at_[i]);
      float others = -std::min(facts_.weight[scored_rows_[at_[i].row]], 1.0f);
      for (uint32_t y = 0; y < classes_; ++y) others += total[y];
      if (others > 1e-6f)
        child.scored[kept++] = {at_[i].row, static_cast<uint32_t>(at_[i].total / classes_),
                                static_cast<uint32_t>(at_[i].count / classes_)};
    }
    child.scored.resize(kept);
    kept = 0;
    const auto n_cells = static_cast<uint32_t>(cells_.size());
    for (const Place& place : child.counted) {
      const size_t value = code_at(parent, place.row);
      const uint32_t context = contexts_.find(place.context * arity + value);
      if (context == Numbering::kAbsent) continue;
      child.counted[kept++] = {place.row, context, std::min(cells_.find(place.cell * arity + value), n_cells)};
    }
    child.counted.resize(kept);
    child.n_contexts = contexts_.size();
    child.n_cells = n_cells;
    forget();
  }

 private:
  static constexpr size_t kSmall = 32'768;              // of a table for all contexts, which stays in the cache
  static constexpr size_t kMostKeys = size_t{1} << 22;  // of cells x values

  // A table of all contexts and values: nothing to look up.
  void add_all(const Contexts& child, const Column& parent, uint32_t end) {
    const size_t contexts = child.n_contexts, cells = child.n_cells + 1;
    at_.clear();
    for (const Place& place : child.scored) {
      if (place.row >= end) break;
      const size_t value = code_at(parent, scored_rows_[place.row]);
      at_.push_back(
          {place.row, (value * contexts + place.context) * classes_, (value * cells + place.cell) * classes_});
    }
    total_.assign(parent.arity * contexts * classes_, 0.0f);
    count_.assign(parent.arity * cells * classes_, 0.0f);
    for_rows(child, parent, [&](const Place& place, size_t value, uint32_t y, float weight) {
      total_[(value * contexts + place.context) * classes_ + y] += weight;
      count_[(value * cells + place.cell) * classes_ + y] += weight;
    });
  }

  // Only contexts in which a scored row is.
  void add_numbered(const Contexts& child, const Column& parent, uint32_t end) {
    const size_t arity = parent.arity;
    number_contexts(child, parent, end);
    total_.assign(contexts_.size() * classes_, 0.0f);
    count_.assign(cells_.size() * classes_, 0.0f);
    for_rows(child, parent, [&](const Place& place, size_t value, uint32_t y, float weight) {
      const uint32_t context = contexts_.find(place.context * arity + value);
      if (context == Numbering::kAbsent) return;
      total_[context * classes_ + y] += weight;
      const uint32_t cell = cells_.find(place.cell * arity + value);
      if (cell != Numbering::kAbsent) count_[cell * classes_ + y] += weight;
    });
    forget();
  }

  void number_contexts(const Contexts& child, const Column& parent, uint32_t end) {
    const size_t arity = parent.arity;
    contexts_.widen(child.n_contexts * arity);
    cells_.widen((child.n_cells + 1) * arity);
    at_.clear();
    for (const Place& place : child.scored) {
      if (place.row >= end) break;
      const uint32_t value = code_at(parent, scored_rows_[place.row]);
      at_.push_back({place.row, size_t{contexts_.give(place.context * arity + value)} * classes_,
                     size_t{cells_.give(place.cell * arity + value)} * classes_});
    }
  }

  void forget() {
    contexts_.clear();
    cells_.clear();
  }

  template <class F>
  void for_rows(const Contexts& child, const Column& parent, F&& f) const {
    with_width(parent, [&](auto* tag) {
      const auto* codes = static_cast<decltype(tag)>(parent.data);
      for (const Place& place : child.counted)
        f(place, size_t{codes[place.row]}, facts_.target[place.row], facts_.weight[place.row]);
    });
  }

  const std::vector<uint32_t>& scored_rows_;
  const RowFacts& facts_;
  const uint32_t classes_;
  Numbering contexts_, cells_;
  std::vector<At> at_;
  std::vector<float> total_, count_;
};

}  // namespace countwise
