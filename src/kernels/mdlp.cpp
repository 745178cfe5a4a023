#include "mdlp.hpp"

#include <algorithm>
#include <limits>

#include "entropy_scan.hpp"

namespace countwise {
namespace {

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

template <class Entropy>
class CutSearch {
 public:
  CutSearch(EntropyScan<Entropy>& scan, const Rules& rules) : scan_(scan), rules_(rules) {}

  // Grows all nodes breadth first, then keeps the wanted cuts: a node comes before its children.
  void run(int64_t n_blocks, std::vector<double>& out) {
    nodes_.push_back({0, n_blocks, 0, -1, {}});
    for (size_t i = 0; i < nodes_.size(); ++i) expand(i);
    std::vector<bool> keep(nodes_.size(), false);
    for (size_t i = nodes_.size(); i-- > 0;) {
      const Node& node = nodes_[i];
      if (node.split.at < 0) continue;
      if (!rules_.prune_by_mdl || node.split.passes_mdl) keep[i] = true;
      if (!keep[i]) continue;
      out.push_back(scan_.cut_before(node.split.at));
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
    Split split;
    int64_t best = 0, slack = 0;
    Part whole, best_left, best_right;
    scan_.cuts(begin, end, [&](const Part& all, int64_t at, const Part& left, const Part& right) {
      if (at == begin + 1) {
        whole = all;
        best = scan_.score(all);
        slack = scan_.slack(all);
      }
      const int64_t score = scan_.score(left, right);
      if (score <= best + slack || !heavy_enough(left, right)) return;
      best = score;
      best_left = left;
      best_right = right;
      split.at = at;
    });
    if (split.at >= 0) split.passes_mdl = MdlExcess<Entropy>(scan_, whole)(best_left, best_right) > 0;
    return split;
  }

  bool heavy_enough(const Part& left, const Part& right) const {
    return std::min(scan_.weight(left), scan_.weight(right)) >= rules_.min_weight;
  }

  EntropyScan<Entropy>& scan_;
  const Rules rules_;
  std::vector<Node> nodes_;
};

void search(const LabelledColumn& column, bool merge_pure_runs, const Rules& rules, std::vector<double>& out) {
  out.clear();
  with_entropy_scan(column, merge_pure_runs,
                    [&](auto& scan, const ValueBlocks& blocks) { CutSearch(scan, rules).run(blocks.size(), out); });
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
