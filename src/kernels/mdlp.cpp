#include "mdlp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace countwise {
namespace {

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
    exponent_ = std::min(kScoreBits - 1 - std::ilogb(bound), 1000);
    scale_ = std::ldexp(1.0, exponent_);
  }

  int64_t operator()(int64_t weight) const {
    if (weight == 0) return 0;
    const double w = static_cast<double>(weight) * unit_;
    return std::llround(w * std::log2(w) * scale_);
  }

  double bits(int64_t scaled) const { return std::ldexp(static_cast<double>(scaled), -exponent_); }

 private:
  double unit_, scale_;
  int exponent_;
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

struct Split {
  int64_t at = -1;  // first block of the right side; -1: no cut improves on none
  bool passes_mdl = false;
};

struct Rules {
  int32_t max_depth = std::numeric_limits<int32_t>::max();
  double min_weight = 0.0;
  bool stop_by_mdl = false;
  bool prune_by_mdl = false;
};

// log2(3^k - 2) without overflow.
double log2_description(int32_t k) { return k * std::log2(3.0) + std::log1p(-2.0 * std::pow(3.0, -k)) / std::log(2.0); }

template <class Entropy>
class CutSearch {
 public:
  CutSearch(const ValueBlocks& blocks, const Entropy& entropy, const Rules& rules, int32_t n_classes)
      : blocks_(blocks), entropy_(entropy), rules_(rules), sides_(n_classes) {}

  // Grows all nodes breadth first, then keeps the wanted cuts: a node comes before its children.
  void run(std::vector<double>& out) {
    nodes_.push_back({0, blocks_.size(), 0, -1, {}});
    for (size_t i = 0; i < nodes_.size(); ++i) expand(i);
    std::vector<bool> keep(nodes_.size(), false);
    for (size_t i = nodes_.size(); i-- > 0;) {
      const Node& node = nodes_[i];
      if (node.split.at < 0) continue;
      if (!rules_.prune_by_mdl || node.split.passes_mdl) keep[i] = true;
      if (!keep[i]) continue;
      out.push_back(cut_before(node.split.at));
      if (node.parent >= 0) keep[node.parent] = true;
    }
    std::sort(out.begin(), out.end());
  }

 private:
  struct Node {
    int64_t begin, end;
    int32_t depth;
    int64_t parent;
    Split split;
  };
  struct Sides {
    int64_t left = 0, right = 0;
  };

  void expand(size_t i) {
    const Node node = nodes_[i];
    if (node.depth >= rules_.max_depth || node.end - node.begin < 2) return;
    const Split split = best_split(node.begin, node.end);
    if (split.at < 0 || (rules_.stop_by_mdl && !split.passes_mdl)) return;
    nodes_[i].split = split;
    nodes_.push_back({node.begin, split.at, node.depth + 1, static_cast<int64_t>(i), {}});
    nodes_.push_back({split.at, node.end, node.depth + 1, static_cast<int64_t>(i), {}});
  }

  // The cut of greatest information gain; of equally good cuts, the lowest.
  Split best_split(int64_t begin, int64_t end) {
    const Part all = load(begin, end);
    Split split;
    if (all.n_classes >= 2) split = scan(begin, end, all);
    for (const int32_t c : present_) sides_[c] = {};
    present_.clear();
    return split;
  }

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

  // Work per cut is in proportion to the classes that change sides there, not to all classes.
  Split scan(int64_t begin, int64_t end, const Part& all) {
    const int64_t slack = kTieSlack * (all.n_classes + 1);
    int64_t best = all.score - entropy_(all.weight);
    Part left, right = all, best_left, best_right;
    Split split;
    for (int64_t b = begin; b + 1 < end; ++b) {
      for (int64_t e = blocks_.ptr[b]; e < blocks_.ptr[b + 1]; ++e) {
        move(blocks_.weight[e], sides_[blocks_.cls[e]], left, right);
      }
      const int64_t score = left.score + right.score - entropy_(left.weight) - entropy_(right.weight);
      if (score <= best + slack || !heavy_enough(left, right)) continue;
      best = score;
      best_left = left;
      best_right = right;
      split.at = b + 1;
    }
    if (split.at >= 0) split.passes_mdl = passes_mdl(all, best_left, best_right);
    return split;
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

  bool heavy_enough(const Part& left, const Part& right) const {
    return static_cast<double>(std::min(left.weight, right.weight)) * blocks_.unit >= rules_.min_weight;
  }

  // weight * entropy, in bits.
  double cost(const Part& part) const { return entropy_.bits(entropy_(part.weight) - part.score); }

  // k * Entropy(S)
  double class_entropies(const Part& part) const {
    return part.n_classes * cost(part) / (static_cast<double>(part.weight) * blocks_.unit);
  }

  // N * Gain > log2(N - 1) + log2(3^k - 2) - [k Ent(S) - k1 Ent(S1) - k2 Ent(S2)]. N - 1 positions only make
  // sense for N >= 2; below, with weights under 1, naming the position is free.
  bool passes_mdl(const Part& all, const Part& left, const Part& right) const {
    const double n = static_cast<double>(all.weight) * blocks_.unit;
    const double gain = cost(all) - cost(left) - cost(right);
    const double delta =
        log2_description(all.n_classes) - (class_entropies(all) - class_entropies(left) - class_entropies(right));
    return gain > std::log2(std::max(n - 1.0, 1.0)) + delta;
  }

  // lo <= cut < hi for the neighbours lo, hi: with bins (a, b] this separates them even when no double lies
  // between.
  double cut_before(int64_t block) const {
    const double lo = blocks_.hi[block - 1], hi = blocks_.lo[block];
    const double sum = lo + hi;
    const double middle = std::isfinite(sum) ? 0.5 * sum : 0.5 * lo + 0.5 * hi;
    return middle >= lo && middle < hi ? middle : lo;
  }

  const ValueBlocks& blocks_;
  const Entropy& entropy_;
  const Rules rules_;
  std::vector<Sides> sides_;      // by class, zero outside best_split
  std::vector<int32_t> present_;  // classes of the interval at hand
  std::vector<Node> nodes_;
};

void search(const LabelledColumn& column, bool merge_pure_runs, const Rules& rules, std::vector<double>& out) {
  out.clear();
  ValueBlocks blocks;
  sort_into_blocks(column, merge_pure_runs, blocks);
  if (blocks.size() < 2) return;
  const ScaledEntropy entropy(blocks.total, blocks.unit, column.n_classes);
  if (blocks.unit == 1.0 && blocks.total <= kSmallTable + kTablePerRow * column.n_rows) {
    const TabledEntropy table(entropy, blocks.total);
    CutSearch<TabledEntropy>(blocks, table, rules, column.n_classes).run(out);
  } else {
    CutSearch<ScaledEntropy>(blocks, entropy, rules, column.n_classes).run(out);
  }
}

}  // namespace

void mdlp_cuts(const LabelledColumn& column, std::vector<double>& out) {
  Rules rules;
  rules.stop_by_mdl = true;
  search(column, true, rules, out);
}

// Every distinct value may be cut: next to the limit min_weight the best cut need not be a boundary point.
void tree_cuts(const LabelledColumn& column, const TreeLimits& limits, std::vector<double>& out) {
  Rules rules;
  rules.max_depth = limits.max_depth;
  rules.min_weight = limits.min_weight;
  rules.prune_by_mdl = limits.prune;
  search(column, false, rules, out);
}

}  // namespace countwise
