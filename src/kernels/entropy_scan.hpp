// What the entropy cut searches share: class entropies in fixed point, and a scan over all cuts of an interval.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "value_blocks.hpp"

namespace countwise {

constexpr int64_t kSmallTable = 1024;   // entries that are always worth a table
constexpr int64_t kTablePerRow = 4;     // table entries per row: less memory than sorting the rows takes
constexpr int kScoreBits = 60;          // scaled sums of w * log2(w) stay below 2^60, so four of them add up in 64 bits
constexpr int64_t kTieSlack = 1 << 10;  // times (classes + 1); w * log2(w) as a double is off by up to 2^8 such units

// w * log2(w) of integer weights as a scaled integer. Sums of integers telescope exactly, so the score of a
// cut is the same number however the search arrived at it, and equal splits of equal counts are equal scores.
class ScaledEntropy {
 public:
  ScaledEntropy(int64_t total, double unit, int32_t n_classes) : unit_(unit) {
    const double n = static_cast<double>(total) * unit;
    const double bound = n * (std::fabs(std::log2(n)) + std::log2(n_classes) + 1.0);
    const int exponent = std::min(kScoreBits - 1 - std::ilogb(bound), 1000);
    scale_ = std::ldexp(1.0, exponent);
    bit_ = std::ldexp(1.0, -exponent);
  }

  int64_t operator()(int64_t weight) const {
    if (weight == 0) return 0;
    const double w = static_cast<double>(weight) * unit_;
    return std::llround(w * std::log2(w) * scale_);
  }

  double bits(int64_t scaled) const { return static_cast<double>(scaled) * bit_; }

 private:
  double unit_, scale_, bit_;
};

// The same numbers from a table. A scan moves weight by weight, so the look-ups are almost sequential.
class TabledEntropy {
 public:
  TabledEntropy(const ScaledEntropy& exact, int64_t total) : exact_(exact), table_(total + 1) {
    for (int64_t w = 0; w <= total; ++w) table_[w] = exact(w);
  }
  int64_t operator()(int64_t weight) const { return table_[weight]; }
  double bits(int64_t scaled) const { return exact_.bits(scaled); }

 private:
  ScaledEntropy exact_;
  std::vector<int64_t> table_;
};

// One side of a cut, or a whole interval.
struct Part {
  int64_t weight = 0;
  int64_t score = 0;  // sum over classes of w * log2(w), scaled
  int32_t n_classes = 0;
};

// log2(3^k - 2) without overflow.
inline double log2_description(int32_t k) {
  return k * std::log2(3.0) + std::log1p(-2.0 * std::pow(3.0, -k)) / std::log(2.0);
}

template <class Entropy>
class EntropyScan {
 public:
  EntropyScan(const ValueBlocks& blocks, const Entropy& entropy, int32_t n_classes)
      : blocks_(blocks), entropy_(entropy), sides_(n_classes) {}

  // Calls visit(all, at, left, right) for every cut of the blocks begin .. end - 1, in ascending order; `at` is the
  // first block of the right side. An interval of one class has no cut worth a visit.
  template <class Visit>
  void cuts(int64_t begin, int64_t end, Visit&& visit) {
    const Part all = load(begin, end);
    if (all.n_classes >= 2) {
      Part left, right = all;
      for (int64_t b = begin; b + 1 < end; ++b) {
        // Work per cut is in proportion to the classes that change sides there, not to all classes.
        for (int64_t e = blocks_.ptr[b]; e < blocks_.ptr[b + 1]; ++e) {
          move(blocks_.weight[e], sides_[blocks_.cls[e]], left, right);
        }
        visit(all, b + 1, left, right);
      }
    }
    for (const int32_t c : present_) sides_[c] = {};
    present_.clear();
  }

  // The scaled score of a cut: the greater, the less entropy is left.
  int64_t score(const Part& left, const Part& right) const {
    return left.score + right.score - entropy_(left.weight) - entropy_(right.weight);
  }
  int64_t score(const Part& all) const { return all.score - entropy_(all.weight); }

  // Scores that differ by no more are equal: what is between them may be rounding.
  static int64_t slack(const Part& all) { return kTieSlack * (all.n_classes + 1); }

  double weight(const Part& part) const { return static_cast<double>(part.weight) * blocks_.unit; }

  // weight * entropy, in bits.
  double cost(const Part& part) const { return entropy_.bits(entropy_(part.weight) - part.score); }

  double cut_before(int64_t block) const { return cut_between(blocks_.hi[block - 1], blocks_.lo[block]); }

 private:
  struct Sides {
    int64_t left = 0, right = 0;
  };

  Part load(int64_t begin, int64_t end) {
    Part all;
    for (int64_t e = blocks_.ptr[begin]; e < blocks_.ptr[end]; ++e) {
      int64_t& right = sides_[blocks_.cls[e]].right;
      if (right == 0) present_.push_back(blocks_.cls[e]);
      right += blocks_.weight[e];
      all.weight += blocks_.weight[e];
    }
    for (const int32_t c : present_) all.score += entropy_(sides_[c].right);
    all.n_classes = static_cast<int32_t>(present_.size());
    return all;
  }

  void move(int64_t weight, Sides& side, Part& left, Part& right) const {
    left.n_classes += side.left == 0;
    left.score += entropy_(side.left + weight) - entropy_(side.left);
    right.score += entropy_(side.right - weight) - entropy_(side.right);
    side.left += weight;
    side.right -= weight;
    right.n_classes -= side.right == 0;
    left.weight += weight;
    right.weight -= weight;
  }

  const ValueBlocks& blocks_;
  const Entropy& entropy_;
  std::vector<Sides> sides_;      // by class, zero outside cuts()
  std::vector<int32_t> present_;  // classes of the interval at hand
};

// What cuts of one interval S save beyond their description, in bits: N times (Gain - threshold) of Fayyad & Irani,
//   N * Gain - (log2(N - 1) + log2(3^k - 2) - [k Ent(S) - k1 Ent(S1) - k2 Ent(S2)]).
// N - 1 positions only make sense for N >= 2; below, with weights under 1, naming the position is free.
template <class Entropy>
class MdlExcess {
 public:
  MdlExcess(const EntropyScan<Entropy>& scan, const Part& all)
      : scan_(scan),
        cost_(scan.cost(all)),
        class_entropies_(class_entropies(all, cost_)),
        log2_positions_(std::log2(std::max(scan.weight(all) - 1.0, 1.0))),
        log2_description_(log2_description(all.n_classes)) {}

  double operator()(const Part& left, const Part& right) const {
    const double left_cost = scan_.cost(left), right_cost = scan_.cost(right);
    const double gain = cost_ - left_cost - right_cost;
    const double delta =
        log2_description_ - (class_entropies_ - class_entropies(left, left_cost) - class_entropies(right, right_cost));
    return gain - (log2_positions_ + delta);
  }

 private:
  // k * Entropy(S)
  double class_entropies(const Part& part, double cost) const { return part.n_classes * cost / scan_.weight(part); }

  const EntropyScan<Entropy>& scan_;
  double cost_, class_entropies_, log2_positions_, log2_description_;
};

// Calls run(scan, blocks) with the blocks of a column, unless there is nothing to cut.
template <class Run>
void with_entropy_scan(const LabelledColumn& column, bool merge_pure_runs, Run&& run) {
  ValueBlocks blocks;
  sort_into_blocks(column, merge_pure_runs, blocks);
  if (blocks.size() < 2) return;
  const ScaledEntropy entropy(blocks.total, blocks.unit, column.n_classes);
  if (blocks.unit == 1.0 && blocks.total <= kSmallTable + kTablePerRow * column.n_rows) {
    const TabledEntropy table(entropy, blocks.total);
    EntropyScan<TabledEntropy> scan(blocks, table, column.n_classes);
    run(scan, blocks);
  } else {
    EntropyScan<ScaledEntropy> scan(blocks, entropy, column.n_classes);
    run(scan, blocks);
  }
}

}  // namespace countwise
