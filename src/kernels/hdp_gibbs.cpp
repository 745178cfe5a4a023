#include "hdp_gibbs.hpp"

#include <algorithm>

#include "stirling.hpp"

namespace countwise {

namespace {

constexpr int kWindow = 21;  // paper 000: up to 10 more or 10 fewer tables

// A table's weight in the target (paper 000, eq. 11) changes by these factors when one more table is taken.
struct Window {
  double ratio[kWindow];  // [i]: from low + i to low + i + 1 tables
  int32_t low, size;      // low .. low + size - 1 tables
};

// Draws a number of tables from a window whose weights overflow as plain numbers.
int32_t draw_by_logs(const Window& window, Random& random) {
  double log_weight[kWindow], most = 0, sum = 0;
  log_weight[0] = 0;
  for (int i = 1; i < window.size; ++i) {
    log_weight[i] = log_weight[i - 1] + std::log(window.ratio[i - 1]);
    most = std::max(most, log_weight[i]);
  }
  for (int i = 0; i < window.size; ++i) sum += std::exp(log_weight[i] - most);
  double target = random.uniform() * sum;
  for (int i = 0; i < window.size - 1; ++i)
    if ((target -= std::exp(log_weight[i] - most)) < 0) return window.low + i;
  return window.low + window.size - 1;
}

CW_INLINE int32_t draw(const Window& window, Random& random) {
  double upto[kWindow], weight = 1, sum = 1;
  upto[0] = 1;
  for (int i = 1; i < window.size; ++i) {
    weight *= window.ratio[i - 1];
    sum += weight;
    upto[i] = sum;
  }
  if (!(sum < 1e300)) return draw_by_logs(window, random);
  const double target = random.uniform() * sum;
  int i = 0;
  while (i < window.size - 1 && upto[i] <= target) ++i;
  return window.low + i;
}

class GibbsSweep {
 public:
  explicit GibbsSweep(HdpChain& chain);
  void operator()(Random& random);

 private:
  void draw_cells(const HdpChain::ActiveNode& at, Random& random);
  template <bool kBelowRoot>
  void fill(int32_t n, int32_t others, int32_t tables_up, Window& window) const;

  HdpChain& chain_;
  std::shared_ptr<const StirlingTable> stirling_;
  // Of the node at hand: its concentration; the parent's (the root's) and the root's share of a value.
  double alpha_ = 0, alpha_up_ = 0, even_share_ = 0;
  int32_t total_up_ = 0;
};

GibbsSweep::GibbsSweep(HdpChain& chain) : chain_(chain) {
  double most = 0;
  for (const int32_t c : chain.active_cells) most = std::max(most, chain.tree.cell_count[c]);
  stirling_ = stirling_table(static_cast<int64_t>(most) + 1);
  even_share_ = chain.model.root_concentration / static_cast<double>(chain.tree.arity);
}

// The factors for window.low .. tables of a cell of n customers; the parent has `others` further customers of the
// value, at tables_up tables. One more table here is one more customer there:
//   alpha S(n, t + 1) / S(n, t) * S(m + 1, t_up) / S(m, t_up) / (alpha_up + N_up),  m = others + t,
// and below the root, whose distribution is integrated out, (m + alpha_0 / K) takes the place of the second ratio.
template <bool kBelowRoot>
CW_INLINE void GibbsSweep::fill(int32_t n, int32_t others, int32_t tables_up, Window& window) const {
  const int steps = window.size - 1;
  const int32_t low = window.low, m = others + low;
  double far_here[kWindow], far_up[kWindow];
  const double *here = far_here, *above = far_up;
  if (n <= stirling_->n_max() && low + steps <= StirlingTable::kBand)
    here = stirling_->over_tables(n, low);
  else
    far_over_tables(n, low, steps, far_here);
  if (!kBelowRoot) {
    if (m + steps <= stirling_->n_max() && tables_up <= StirlingTable::kBand)
      above = stirling_->over_customers(m, tables_up);
    else
      far_over_customers(m, tables_up, steps, far_up);
  }
  const double weight_up = alpha_up_ + total_up_ + low, share_up = m + even_share_;
  for (int i = 0; i < steps; ++i)
    window.ratio[i] = alpha_ * here[i] * (kBelowRoot ? share_up + i : above[i]) / (weight_up + i);
}

void GibbsSweep::draw_cells(const HdpChain::ActiveNode& at, Random& random) {
  HdpChain& chain = chain_;
  const int32_t parent = chain.tree.parent[at.node];
  const int32_t group = chain.model.group[at.node];
  alpha_ = chain.concentration[group];
  alpha_up_ = chain.alpha(parent);
  Window window;
  int64_t more = 0;
  for (int32_t i = at.first; i < at.last; ++i) {
    const int32_t c = chain.active_cells[i], up = chain.up[c], n = chain.customers[c];
    if (n < 2) continue;  // one customer, one table
    const int32_t now = chain.tables[c], others = chain.customers[up] - now;
    const int32_t tables_up = parent == 0 ? 0 : chain.tables[up];
    // The parent cannot have fewer customers than tables.
    int32_t low = std::max(1, tables_up - others), high = n;
    if (high - low >= kWindow) {
      // A window that depends on `now` by more than holding it would bend the target. With its position drawn, the
      // numbers of tables are cut into blocks at random, and the draw is from the exact conditional within a block.
      const int32_t start = now - static_cast<int32_t>(random.below(kWindow));
      low = std::max(low, start);
      high = std::min(high, start + kWindow - 1);
    }
    window.low = low;
    window.size = high - low + 1;
    total_up_ = chain.total[parent] - now;
    if (parent == 0)
      fill<true>(n, others, tables_up, window);
    else
      fill<false>(n, others, tables_up, window);
    const int32_t next = draw(window, random);
    chain.tables[c] = next;
    chain.customers[up] = others + next;
    chain.total[parent] = total_up_ + next;
    more += next - now;
  }
  chain.group_tables[group] += more;
}

void GibbsSweep::operator()(Random& random) {
  for (const auto& node : chain_.active_nodes) draw_cells(node, random);
}

}  // namespace

void hdp_gibbs(const CountTreeView& tree, const HdpModel& model, const HdpRun& run, const HdpOut& out) {
  HdpChain chain(tree, model);
  GibbsSweep sweep(chain);
  run_chain(chain, run, out, sweep);
}

}  // namespace countwise
