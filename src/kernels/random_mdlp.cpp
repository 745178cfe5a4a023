#include "random_mdlp.hpp"

#include <algorithm>
#include <optional>

#include "entropy_scan.hpp"
#include "random.hpp"

namespace countwise {
namespace {

// An entry in proportion to its weight; -1 if all weights are 0.
int64_t draw(const std::vector<double>& weights, Random& random) {
  double total = 0.0;
  for (const double w : weights) total += w;
  if (total == 0.0) return -1;
  const double mark = random.uniform() * total;
  double passed = 0.0;
  int64_t last = -1;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0.0) continue;
    passed += weights[i];
    last = static_cast<int64_t>(i);
    if (mark < passed) break;
  }
  return last;
}

template <class Entropy>
class RandomCuts {
 public:
  RandomCuts(EntropyScan<Entropy>& scan, uint64_t seed) : scan_(scan), random_(seed) {}

  // Depth first, the left side before the right one: that is the order of the draws.
  void run(int64_t n_blocks, std::vector<double>& out) {
    std::vector<Interval> waiting{{0, n_blocks}};
    bool first = true;
    while (!waiting.empty()) {
      const Interval at = waiting.back();
      waiting.pop_back();
      weigh(at, first);
      int64_t chosen = draw(excess_, random_);
      const bool pays = chosen >= 0;
      if (!pays && first) chosen = draw(gain_, random_);
      first = false;
      if (chosen < 0) continue;
      const int64_t block = at.begin + 1 + chosen;
      out.push_back(scan_.cut_before(block));
      if (!pays) continue;
      waiting.push_back({block, at.end});
      waiting.push_back({at.begin, block});
    }
    std::sort(out.begin(), out.end());
  }

 private:
  struct Interval {
    int64_t begin, end;
  };

  // Of each cut: what it saves beyond its description, and what it gains, as multiples of one number. A gain that may
  // be rounding is none.
  void weigh(const Interval& at, bool gains) {
    excess_.clear();
    gain_.clear();
    std::optional<MdlExcess<Entropy>> excess;
    int64_t none = 0;
    scan_.cuts(at.begin, at.end, [&](const Part& all, int64_t, const Part& left, const Part& right) {
      if (!excess) {
        excess.emplace(scan_, all);
        none = scan_.score(all) + scan_.slack(all);
      }
      excess_.push_back(std::max((*excess)(left, right), 0.0));
      if (gains) gain_.push_back(static_cast<double>(std::max(scan_.score(left, right) - none, int64_t{0})));
    });
  }

  EntropyScan<Entropy>& scan_;
  Random random_;
  std::vector<double> excess_, gain_;
};

}  // namespace

void random_mdlp_cuts(const LabelledColumn& column, uint64_t seed, std::vector<double>& out) {
  out.clear();
  with_entropy_scan(column, false,
                    [&](auto& scan, const ValueBlocks& blocks) { RandomCuts(scan, seed).run(blocks.size(), out); });
}

}  // namespace countwise
