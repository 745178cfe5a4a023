#include <algorithm>
#include <cmath>
#include <limits>

#include "parents.hpp"
#include "search_counts.hpp"
#include "vector_math.hpp"

namespace countwise {
namespace {

constexpr uint32_t kAbsent = 0xffffffffu;
constexpr uint32_t kFirstRows = 256;  // on which all candidates are tried
constexpr size_t kFinalists = 4;      // that are tried on all
constexpr double kLeastVariance = 1e-18;  // less is the rounding of estimates that are as before
constexpr size_t kMostKeys = size_t{1} << 22;  // of contexts x values that are numbered; a wider candidate is passed over

CW_CLONES void log_proba(const double* p, size_t size, double* out) {
  for (size_t i = 0; i < size; ++i) out[i] = -log_of(1 / p[i]);
}

// A row that still shares its context with others, and where it is counted: its context, and the context's cell.
struct Place {
  uint32_t row, context, cell;
};

// Numbers the keys that occur, and forgets them again at a cost of only these.
class Numbering {
 public:
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

// One attribute in the search: its parents so far, and what the scored rows get from it.
struct Child {
  std::vector<uint32_t> parents, candidates;
  std::vector<Place> counted, scored;  // rows in a context that a scored row shares with another row
  size_t n_contexts = 1, n_cells = 0;
  std::vector<double> p, log_p;  // [scored row][class]
};

class Search {
 public:
  Search(const SearchRows& rows, const SearchLimits& limits, const ClassSearch& search)
      : rows_(rows),
        limits_(limits),
        search_(search),
        classes_(rows.n_classes),
        n_scored_(search.scored.size()),
        children_(rows.columns.size()),
        place_in_order_(rows.columns.size(), kAbsent),
        prior_(n_scored_ * classes_),
        sum_(n_scored_ * classes_, 0.0),
        posterior_(n_scored_ * classes_) {
    target_.resize(rows.n_rows);
    for (size_t r = 0; r < rows.n_rows; ++r) target_[r] = code_at(rows.target, r);
    for (size_t i = 0; i < limits.order.size(); ++i) place_in_order_[limits.order[i]] = static_cast<uint32_t>(i);
    start_prior();
    for (uint32_t child : limits.order) start(child);
  }

  ParentLists run() {
    const size_t n = limits_.order.size();
    for (uint32_t round = 0; round < limits_.n_parents; ++round) {
      temper();
      for (size_t i = 0; i < n; ++i) extend(search_.sequence[round * n + i], round == 0);
    }
    ParentLists parents;
    for (Child& child : children_) parents.push_back(std::move(child.parents));
    return parents;
  }

 private:
  double weight(uint32_t row) const { return rows_.weights ? rows_.weights[row] : 1.0; }

  void start_prior() {
    std::vector<double> counts(classes_, 0.0);
    for (size_t r = 0; r < rows_.n_rows; ++r) counts[target_[r]] += weight(static_cast<uint32_t>(r));
    for (size_t q = 0; q < n_scored_; ++q)
      for (uint32_t y = 0; y < classes_; ++y) {
        const uint32_t row = search_.scored[q];
        const double gone = y == target_[row] ? std::min(weight(row), 1.0) : 0.0;
        prior_[q * classes_ + y] = std::log(std::max(0.0, counts[y] - gone) + 1.0 / classes_);
      }
  }

  // Naive Bayes.
  void start(uint32_t attribute) {
    Child& child = children_[attribute];
    const Column& column = rows_.columns[attribute];
    const MarginalEstimate marginal(rows_, attribute);
    child.p.resize(n_scored_ * classes_);
    child.log_p.resize(child.p.size());
    child.n_cells = column.arity;
    for (size_t q = 0; q < n_scored_; ++q) {
      const uint32_t row = search_.scored[q], k = code_at(column, row);
      for (uint32_t y = 0; y < classes_; ++y)
        child.p[q * classes_ + y] = marginal.given_class(k, y, y == target_[row], weight(row));
    }
    log_proba(child.p.data(), child.p.size(), child.log_p.data());
    for (size_t i = 0; i < sum_.size(); ++i) sum_[i] += child.log_p[i];
    const size_t first = std::min<size_t>(place_in_order_[attribute], limits_.n_candidates);
    child.candidates.assign(limits_.order.begin(), limits_.order.begin() + first);
    if (first == 0) return;
    child.counted.reserve(rows_.n_rows);
    for (uint32_t r = 0; r < rows_.n_rows; ++r) child.counted.push_back({r, 0, code_at(column, r)});
    for (uint32_t q = 0; q < n_scored_; ++q) child.scored.push_back({q, 0, code_at(column, search_.scored[q])});
  }

  // The factor on the sum of the evidence under which the scored rows are least surprising: Newton's method on its
  // logarithm, in which the loss is smooth and has one minimum in practice.
  void temper() {
    double log_t = std::log(temperature_);
    for (int step = 0; step < 20; ++step) {
      double slope = log_t, curvature = 1;  // a normal prior of standard deviation 1
      const double t = std::exp(log_t);
      temperature_ = t;
      for (size_t q = 0; q < n_scored_; ++q) {
        normalise(q);
        const double *p = &posterior_[q * classes_], *s = &sum_[q * classes_], w = weight(search_.scored[q]);
        double mean = 0, square = 0;
        for (uint32_t y = 0; y < classes_; ++y) mean += p[y] * s[y], square += p[y] * s[y] * s[y];
        slope += w * t * (mean - s[target_[search_.scored[q]]]);
        curvature += w * t * t * (square - mean * mean);
      }
      const double move = std::clamp(-slope / curvature, -1.0, 1.0);
      log_t = std::clamp(log_t + move, -4.0, 2.0);
      if (std::fabs(move) < 1e-3) break;
    }
    temperature_ = std::exp(log_t);
    for (size_t q = 0; q < n_scored_; ++q) normalise(q);
  }

  void normalise(size_t q) {
    const double *s = &sum_[q * classes_], *prior = &prior_[q * classes_];
    double *p = &posterior_[q * classes_], top = -std::numeric_limits<double>::infinity(), total = 0;
    for (uint32_t y = 0; y < classes_; ++y) top = std::max(top, p[y] = prior[y] + temperature_ * s[y]);
    for (uint32_t y = 0; y < classes_; ++y) total += p[y] = std::exp(p[y] - top);
    for (uint32_t y = 0; y < classes_; ++y) p[y] /= total;
  }

  // The best further parent, if one is good enough.
  void extend(uint32_t attribute, bool first_round) {
    Child& child = children_[attribute];
    if (child.candidates.empty() || child.scored.empty()) return;
    std::vector<std::pair<double, uint32_t>> ranking;
    for (uint32_t candidate : child.candidates) ranking.emplace_back(0.0, candidate);
    const bool race = ranking.size() > kFinalists && child.scored.back().row >= kFirstRows;
    if (race) rank(child, kFirstRows, ranking.size(), ranking);
    rank(child, kAbsent, race ? kFinalists : ranking.size(), ranking);
    if (first_round && ranking.size() > search_.n_later) ranking.resize(search_.n_later);
    const auto [score, parent] = ranking[0];
    if (-score >= search_.least_score) {
      count(child, parent, kAbsent);
      judge(child);
      accept(child, parent);
      forget();
      ranking.erase(ranking.begin());
    } else {
      ranking.clear();  // what later parents of others leave to gain is rarely more
    }
    child.candidates.clear();
    for (const auto& [_, candidate] : ranking) child.candidates.push_back(candidate);
  }

  // Scores the first n of the ranking on the scored rows below `end` and sorts them, the best first.
  void rank(Child& child, uint32_t end, size_t n, std::vector<std::pair<double, uint32_t>>& ranking) {
    for (size_t i = 0; i < n; ++i) {
      ranking[i].first = count(child, ranking[i].second, end) ? -judge(child) : 0.0;
      forget();
    }
    std::stable_sort(ranking.begin(), ranking.begin() + n,
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }

  // Counts of every context of the child joined with a value of the parent in which a scored row is, by class: all
  // rows, and those with the scored row's value; scored rows from `end` on do not matter. False if there would be too
  // many contexts.
  bool count(Child& child, uint32_t parent, uint32_t end) {
    const Column& column = rows_.columns[parent];
    const size_t arity = column.arity;
    if (child.n_contexts * arity > kMostKeys || child.n_cells * arity > kMostKeys) return false;
    contexts_.widen(child.n_contexts * arity);
    cells_.widen(child.n_cells * arity);
    at_.clear();
    for (const Place& place : child.scored) {
      if (place.row >= end) break;
      const uint32_t value = code_at(column, search_.scored[place.row]);
      at_.push_back(
          {place.row, contexts_.give(place.context * arity + value), cells_.give(place.cell * arity + value)});
    }
    total_.assign(contexts_.size() * classes_, 0.0);
    count_.assign(cells_.size() * classes_, 0.0);
    with_width(column, [&](auto* tag) {
      const auto* codes = static_cast<decltype(tag)>(column.data);
      for (const Place& place : child.counted) {
        const size_t value = codes[place.row];
        const uint32_t context = contexts_.find(place.context * arity + value);
        if (context == kAbsent) continue;
        const double w = weight(place.row);
        const uint32_t y = target_[place.row];
        total_[context * classes_ + y] += w;
        const uint32_t cell = place.cell == kAbsent ? kAbsent : cells_.find(place.cell * arity + value);
        if (cell != kAbsent) count_[cell * classes_ + y] += w;
      }
    });
    return true;
  }

  void forget() {
    contexts_.clear();
    cells_.clear();
  }

  // Gs^2 / H of what was counted, 0 if Gs is not positive; leaves the new estimates behind.
  double judge(const Child& child) {
    const size_t size = at_.size() * classes_;
    p_.resize(size);
    log_p_.resize(size);
    for (size_t i = 0; i < at_.size(); ++i) {
      const Place& place = at_[i];
      const uint32_t row = search_.scored[place.row], own = target_[row];
      const double left = std::min(weight(row), 1.0), *above = &child.p[place.row * classes_];
      const double *total = &total_[place.context * classes_], *count = &count_[place.cell * classes_];
      for (uint32_t y = 0; y < classes_; ++y)
        p_[i * classes_ + y] = (count[y] + kSearchStrength * above[y]) / (total[y] + kSearchStrength);
      p_[i * classes_ + own] = (std::max(0.0, count[own] - left) + kSearchStrength * above[own]) /
                               (std::max(0.0, total[own] - left) + kSearchStrength);
    }
    log_proba(p_.data(), size, log_p_.data());
    double gain = 0, variance = 0;
    for (size_t i = 0; i < at_.size(); ++i) {
      const uint32_t q = at_[i].row, row = search_.scored[q];
      const double *before = &child.log_p[q * classes_], *after = &log_p_[i * classes_], *p = &posterior_[q * classes_];
      double mean = 0, square = 0;
      for (uint32_t y = 0; y < classes_; ++y) {
        const double delta = after[y] - before[y];
        mean += p[y] * delta;
        square += p[y] * delta * delta;
      }
      gain += weight(row) * (after[target_[row]] - before[target_[row]] - mean);
      variance += weight(row) * (square - mean * mean);
    }
    return gain > 0 && variance > kLeastVariance ? gain * gain / variance : 0.0;
  }

  void accept(Child& child, uint32_t parent) {
    child.parents.push_back(parent);
    for (size_t i = 0; i < child.scored.size(); ++i) {
      const uint32_t q = at_[i].row;
      for (uint32_t y = 0; y < classes_; ++y) {
        const size_t from = i * classes_ + y, to = q * classes_ + y;
        sum_[to] += log_p_[from] - child.log_p[to];
        child.p[to] = p_[from], child.log_p[to] = log_p_[from];
      }
      normalise(q);
    }
    move_down(child, rows_.columns[parent]);
  }

  // Rows go to their new contexts; those that share theirs with no other row are done.
  void move_down(Child& child, const Column& column) {
    const size_t arity = column.arity;
    size_t kept = 0;
    for (size_t i = 0; i < child.scored.size(); ++i) {
      const double* total = &total_[at_[i].context * classes_];
      double sum = -std::min(weight(search_.scored[at_[i].row]), 1.0);
      for (uint32_t y = 0; y < classes_; ++y) sum += total[y];
      if (sum > 1e-9) child.scored[kept++] = at_[i];
    }
    child.scored.resize(kept);
    kept = 0;
    for (const Place& place : child.counted) {
      const size_t value = code_at(column, place.row);
      const uint32_t context = contexts_.find(place.context * arity + value);
      if (context == kAbsent) continue;
      const uint32_t cell = place.cell == kAbsent ? kAbsent : cells_.find(place.cell * arity + value);
      child.counted[kept++] = {place.row, context, cell};
    }
    child.counted.resize(kept);
    child.n_contexts = contexts_.size();
    child.n_cells = cells_.size();
  }

  const SearchRows& rows_;
  const SearchLimits& limits_;
  const ClassSearch& search_;
  const uint32_t classes_;
  const size_t n_scored_;
  std::vector<Child> children_;
  std::vector<uint32_t> place_in_order_, target_;
  std::vector<double> prior_, sum_, posterior_;  // [scored row][class]
  double temperature_ = 1;
  // Of the candidate at hand.
  Numbering contexts_, cells_;
  std::vector<Place> at_;  // of the child's scored rows
  std::vector<double> total_, count_, p_, log_p_;
};

}  // namespace

ParentLists class_parents(const SearchRows& rows, const SearchLimits& limits, const ClassSearch& search) {
  return Search(rows, limits, search).run();
}

}  // namespace countwise
