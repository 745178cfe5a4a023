#include "grow_threshold.hpp"

namespace countwise {

template <class Count>
std::vector<int32_t> likely_thresholds(const EntropyScore<Count>& score, uint32_t n_classes, uint32_t n_values,
                                       double min_leaf, int32_t chosen, ColumnScratch<Count>& scratch) {
  struct Candidate {
    int32_t low, high;
    double n_below, mass;  // weight up to the threshold; mass is the cost at first
  };
  auto& counts = scratch.counts;
  const auto& entries = scratch.entries;
  counts.assign(n_classes, Count{0});
  size_t end = 0;
  for (; end < entries.size() && entries[end].code < n_values; ++end) counts[entries[end].cls] += entries[end].weight;
  TwoSides<EntropyScore<Count>, Count> sides(score, counts, scratch.left, scratch.right);
  std::vector<Candidate> candidates;
  double least = 0;
  size_t centre = 0;
  for (size_t i = 0; i < end;) {
    const uint32_t code = entries[i].code;
    for (; i < end && entries[i].code == code; ++i) sides.move(entries[i]);
    if (i == end || !sides.enough(min_leaf)) continue;
    const double cost = sides.cost();
    least = candidates.empty() ? cost : std::min(least, cost);
    candidates.push_back({static_cast<int32_t>(code), static_cast<int32_t>(entries[i].code) - 1,
                          static_cast<double>(sides.left_weight()), cost});
    if (candidates.back().low == chosen) centre = candidates.size() - 1;
  }
  if (candidates.empty()) return {};
  const double weight = static_cast<double>(sides.left_weight());
  for (auto& own : candidates) {
    const double distance = std::abs(own.n_below - candidates[centre].n_below) / (kThresholdReach * weight);
    own.mass = std::exp2(kThresholdEvidence * (least - own.mass)) * std::exp(-distance);
  }
  // Beyond an unlikely threshold none is likely: another best one may be there, but for another tree below.
  for (size_t i = centre + 1; i < candidates.size(); ++i)
    candidates[i].mass = std::min(candidates[i].mass, candidates[i - 1].mass);
  for (size_t i = centre; i > 0; --i) candidates[i - 1].mass = std::min(candidates[i - 1].mass, candidates[i].mass);
  double total = 0;
  for (const auto& own : candidates) total += own.mass;
  std::vector<int32_t> found;
  double below = 0;
  size_t n = 0;
  for (const auto& own : candidates) {
    below += own.mass;
    for (; n < kLikelyThresholds && below >= total * (static_cast<double>(n) + 0.5) / kLikelyThresholds; ++n) {
      found.push_back(own.low);
      found.push_back(own.high);
    }
  }
  if (found.empty() || found.front() == found[found.size() - 2]) found.clear();
  return found;
}

template std::vector<int32_t> likely_thresholds(const EntropyScore<uint32_t>&, uint32_t, uint32_t, double, int32_t,
                                                ColumnScratch<uint32_t>&);
template std::vector<int32_t> likely_thresholds(const EntropyScore<double>&, uint32_t, uint32_t, double, int32_t,
                                                ColumnScratch<double>&);

}  // namespace countwise
