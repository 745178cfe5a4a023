#include <algorithm>
#include <cmath>
#include <limits>

#include "context_counts.hpp"
#include "parents.hpp"
#include "search_counts.hpp"
#include "vector_math.hpp"

namespace countwise {
namespace {

constexpr uint32_t kAll = 0xffffffffu;
constexpr uint32_t kFirstRows = 256;     // on which all candidates are tried
constexpr size_t kFinalists = 4;         // that are tried on all
constexpr double kLeastVariance = 1e-6;  // less is the rounding of estimates that are as before

// Single precision is enough to tell candidates apart, and twice as many fit into a register.
CW_CLONES void log_proba(const float* p, size_t size, float* out) {
  for (size_t i = 0; i < size; ++i) out[i] = log_of(p[i]);
}

// One attribute in the search: its parents so far, and what the scored rows get from it.
struct Child {
  std::vector<uint32_t> parents, candidates;
  Contexts contexts;
  std::vector<float> p, log_p;  // [scored row][class]
};

using Ranking = std::vector<std::pair<double, uint32_t>>;  // minus the score, and the candidate

class Search {
 public:
  Search(const SearchRows& rows, const SearchLimits& limits, const ClassSearch& search)
      : rows_(rows),
        limits_(limits),
        search_(search),
        classes_(rows.n_classes),
        n_scored_(search.scored.size()),
        facts_{std::vector<uint32_t>(rows.n_rows), std::vector<float>(rows.n_rows, 1.0f), rows.n_classes},
        counts_(search.scored, facts_),
        children_(rows.columns.size()),
        prior_(n_scored_ * classes_),
        sum_(n_scored_ * classes_, 0.0),
        posterior_(n_scored_ * classes_) {
    for (size_t r = 0; r < rows.n_rows; ++r) {
      facts_.target[r] = code_at(rows.target, r);
      if (rows.weights) facts_.weight[r] = static_cast<float>(rows.weights[r]);
    }
    start_prior();
    for (size_t position = 0; position < limits.order.size(); ++position) start(position);
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
  uint32_t class_of(size_t q) const { return facts_.target[search_.scored[q]]; }
  float weight_of(size_t q) const { return facts_.weight[search_.scored[q]]; }
  float left_out_of(size_t q) const { return static_cast<float>(rows_.left_out_of(search_.scored[q])); }

  void start_prior() {
    std::vector<double> counts(classes_, 0.0);
    for (size_t r = 0; r < rows_.n_rows; ++r) counts[facts_.target[r]] += facts_.weight[r];
    for (size_t q = 0; q < n_scored_; ++q)
      for (uint32_t y = 0; y < classes_; ++y) {
        const double gone = y == class_of(q) ? left_out_of(q) : 0.0;
        prior_[q * classes_ + y] = std::log(std::max(0.0, counts[y] - gone) + 1.0 / classes_);
      }
  }

  // Naive Bayes.
  void start(size_t position) {
    const uint32_t attribute = limits_.order[position];
    Child& child = children_[attribute];
    const Column& column = rows_.columns[attribute];
    const MarginalEstimate marginal(rows_, attribute);
    child.p.resize(n_scored_ * classes_);
    child.log_p.resize(child.p.size());
    for (size_t q = 0; q < n_scored_; ++q)
      for (uint32_t y = 0; y < classes_; ++y)
        child.p[q * classes_ + y] = static_cast<float>(
            marginal.given_class(code_at(column, search_.scored[q]), y, y == class_of(q), left_out_of(q)));
    log_proba(child.p.data(), child.p.size(), child.log_p.data());
    for (size_t i = 0; i < sum_.size(); ++i) sum_[i] += child.log_p[i];
    const size_t first = std::min<size_t>(position, limits_.n_candidates);
    if (first == 0) return;
    child.candidates.assign(limits_.order.begin(), limits_.order.begin() + first);
    child.contexts.n_cells = column.arity;
    child.contexts.counted.reserve(rows_.n_rows);
    for (uint32_t r = 0; r < rows_.n_rows; ++r) child.contexts.counted.push_back({r, 0, code_at(column, r)});
    for (uint32_t q = 0; q < n_scored_; ++q)
      child.contexts.scored.push_back({q, 0, code_at(column, search_.scored[q])});
  }

  // The factor on the sum of the evidence under which the scored rows are least surprising: Newton's method on its
  // logarithm, in which the loss is smooth and has one minimum in practice.
  void temper() {
    double log_t = std::log(temperature_);
    for (int step = 0; step < 20; ++step) {
      double slope = log_t, curvature = 1;  // a normal prior of standard deviation 1
      const double t = temperature_ = std::exp(log_t);
      for (size_t q = 0; q < n_scored_; ++q) {
        normalise(q);
        const float* p = &posterior_[q * classes_];
        const double* s = &sum_[q * classes_];
        double mean = 0, square = 0;
        for (uint32_t y = 0; y < classes_; ++y) mean += p[y] * s[y], square += p[y] * s[y] * s[y];
        slope += weight_of(q) * t * (mean - s[class_of(q)]);
        curvature += weight_of(q) * t * t * (square - mean * mean);
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
    float *p = &posterior_[q * classes_], total = 0;
    double top = -std::numeric_limits<double>::infinity();
    for (uint32_t y = 0; y < classes_; ++y) top = std::max(top, prior[y] + temperature_ * s[y]);
    for (uint32_t y = 0; y < classes_; ++y)
      total += p[y] = std::exp(static_cast<float>(prior[y] + temperature_ * s[y] - top));
    for (uint32_t y = 0; y < classes_; ++y) p[y] /= total;
  }

  // The best further parent, if one is good enough.
  void extend(uint32_t attribute, bool first_round) {
    Child& child = children_[attribute];
    if (child.candidates.empty() || child.contexts.scored.empty()) return;
    Ranking ranking;
    for (uint32_t candidate : child.candidates) ranking.emplace_back(0.0, candidate);
    const bool race = ranking.size() > kFinalists && child.contexts.scored.back().row >= kFirstRows;
    if (race) rank(child, kFirstRows, ranking.size(), ranking);
    rank(child, kAll, race ? kFinalists : ranking.size(), ranking);
    if (first_round && ranking.size() > search_.n_later) ranking.resize(search_.n_later);
    child.candidates.clear();
    const auto [score, parent] = ranking[0];
    if (-score < search_.least_score) return;  // what later parents of others leave to gain is rarely more
    accept(child, parent);
    for (size_t i = 1; i < ranking.size(); ++i) child.candidates.push_back(ranking[i].second);
  }

  // Scores the first n of the ranking on the scored rows below `end` and sorts them, the best first.
  void rank(const Child& child, uint32_t end, size_t n, Ranking& ranking) {
    for (size_t i = 0; i < n; ++i)
      ranking[i].first = counts_.add(child.contexts, rows_.columns[ranking[i].second], end) ? -judge(child) : 0.0;
    std::stable_sort(ranking.begin(), ranking.begin() + n,
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }

  // New estimates of the scored rows that were counted, p = (n + a above) / (N + a) without the row.
  void estimate(const Child& child) {
    constexpr float a = kSearchStrength;
    p_.resize(counts_.at().size() * classes_);
    log_p_.resize(p_.size());
    float* p = p_.data();
    for (const ContextCounts::At& at : counts_.at()) {
      const float *n = counts_.count(at), *total = counts_.total(at), *above = &child.p[at.row * classes_];
      for (uint32_t y = 0; y < classes_; ++y) p[y] = (n[y] + a * above[y]) / (total[y] + a);
      const uint32_t own = class_of(at.row);
      const float left = left_out_of(at.row);
      p[own] = (std::max(0.0f, n[own] - left) + a * above[own]) / (std::max(0.0f, total[own] - left) + a);
      p += classes_;
    }
    log_proba(p_.data(), p_.size(), log_p_.data());
  }

  // Gs^2 / H of what was counted, 0 if Gs is not positive.
  double judge(const Child& child) {
    estimate(child);
    double gain = 0, variance = 0;
    const float* after = log_p_.data();
    for (const ContextCounts::At& at : counts_.at()) {
      const float *before = &child.log_p[at.row * classes_], *p = &posterior_[at.row * classes_];
      float mean = 0, square = 0;
      for (uint32_t y = 0; y < classes_; ++y) {
        const float delta = after[y] - before[y];
        mean += p[y] * delta;
        square += p[y] * delta * delta;
      }
      const uint32_t own = class_of(at.row);
      gain += weight_of(at.row) * (after[own] - before[own] - mean);
      variance += weight_of(at.row) * (square - mean * mean);
      after += classes_;
    }
    return gain > 0 && variance > kLeastVariance ? gain * gain / variance : 0.0;
  }

  void accept(Child& child, uint32_t parent) {
    child.parents.push_back(parent);
    counts_.add(child.contexts, rows_.columns[parent], kAll);
    estimate(child);
    size_t from = 0;
    for (const ContextCounts::At& at : counts_.at()) {
      for (size_t to = at.row * classes_; to < (at.row + 1) * size_t{classes_}; ++to, ++from) {
        sum_[to] += log_p_[from] - child.log_p[to];
        child.p[to] = p_[from], child.log_p[to] = log_p_[from];
      }
      normalise(at.row);
    }
    counts_.move_down(child.contexts, rows_.columns[parent]);
  }

  const SearchRows& rows_;
  const SearchLimits& limits_;
  const ClassSearch& search_;
  const uint32_t classes_;
  const size_t n_scored_;
  RowFacts facts_;
  ContextCounts counts_;  // of the candidate at hand
  std::vector<Child> children_;
  std::vector<double> prior_, sum_;  // [scored row][class]
  std::vector<float> posterior_;     // [scored row][class]
  std::vector<float> p_, log_p_;     // of the candidate at hand, [counted scored row][class]
  double temperature_ = 1;
};

}  // namespace

ParentLists class_parents(const SearchRows& rows, const SearchLimits& limits, const ClassSearch& search) {
  return Search(rows, limits, search).run();
}

}  // namespace countwise
