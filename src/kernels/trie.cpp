#include "trie.hpp"

#include <cmath>
#include <limits>

namespace countwise {
namespace {

constexpr int32_t kNoNode = -1;

// Walks the class-first tree level by level and hands each context, and each of its values, to `Fill`.
template <class Fill>
class Builder {
 public:
  Builder(const NodeView& view, const std::vector<uint32_t>& path_arity, uint32_t arity, Fill fill)
      : view_(view),
        tree_(view.tree),
        path_arity_(path_arity),
        arity_(arity),
        fill_(fill),
        first_child_(first_children(view.tree)) {}

  std::vector<TrieLevel> run() {
    const size_t n_classes = path_arity_[0], depth = path_arity_.size() - 1;
    std::vector<int32_t> nodes(n_classes, kNoNode);  // [context][class] of the current level
    for (int32_t child = first_child_[0]; child < first_child_[1]; ++child) nodes[tree_.branch[child]] = child;
    std::vector<uint32_t> parent{0};
    std::vector<TrieLevel> levels;
    for (size_t level = 0; level <= depth; ++level) {
      const uint32_t next_arity = level < depth ? path_arity_[level + 1] : 1;
      levels.push_back(TrieLevel{Children(next_arity), Children(arity_), std::move(parent), {}, {}});
      fill_level(levels, nodes, n_classes);
      parent.clear();
      if (level < depth) nodes = descend(levels.back(), nodes, n_classes, next_arity, parent);
    }
    return levels;
  }

 private:
  void fill_level(std::vector<TrieLevel>& levels, const std::vector<int32_t>& nodes, size_t n_classes) {
    TrieLevel& level = levels.back();
    std::vector<int32_t> cell(size_t{arity_} * n_classes, kNoNode);  // of the context at hand
    std::vector<uint32_t> values;
    for (size_t context = 0; context < nodes.size() / n_classes; ++context) {
      const int32_t* node = &nodes[context * n_classes];
      values.clear();
      for (size_t y = 0; y < n_classes; ++y) {
        if (node[y] == kNoNode) continue;
        for (int64_t c = tree_.cell_ptr[node[y]]; c < tree_.cell_ptr[node[y] + 1]; ++c) {
          cell[tree_.cell_value[c] * n_classes + y] = static_cast<int32_t>(c);
          values.push_back(static_cast<uint32_t>(tree_.cell_value[c]));
        }
      }
      sort_unique(values);
      level.values.push(values);
      const TrieLevel* above = levels.size() > 1 ? &levels[levels.size() - 2] : nullptr;
      for (size_t y = 0; y < n_classes; ++y)
        level.node.push_back(fill_.node(view_, node[y], above, level.parent[context], n_classes, y));
      for (uint32_t value : values)
        for (size_t y = 0; y < n_classes; ++y) {
          int32_t& c = cell[value * n_classes + y];
          level.entry.push_back(fill_.entry(view_, node[y], c, value, above, level.parent[context], n_classes, y));
          c = kNoNode;
        }
    }
  }

  std::vector<int32_t> descend(TrieLevel& level, const std::vector<int32_t>& nodes, size_t n_classes, uint32_t arity,
                               std::vector<uint32_t>& parent) {
    std::vector<int32_t> deeper;
    std::vector<uint32_t> codes, slot(arity);
    for (size_t context = 0; context < nodes.size() / n_classes; ++context) {
      const int32_t* node = &nodes[context * n_classes];
      codes.clear();
      for_children(node, n_classes, [&](size_t, int32_t child) { codes.push_back(tree_.branch[child]); });
      sort_unique(codes);
      level.next.push(codes);
      const size_t base = deeper.size();
      for (size_t i = 0; i < codes.size(); ++i) slot[codes[i]] = static_cast<uint32_t>(i);
      deeper.resize(base + codes.size() * n_classes, kNoNode);
      for_children(node, n_classes,
                   [&](size_t y, int32_t child) { deeper[base + slot[tree_.branch[child]] * n_classes + y] = child; });
      parent.insert(parent.end(), codes.size(), static_cast<uint32_t>(context));
    }
    return deeper;
  }

  template <class F>
  void for_children(const int32_t* node, size_t n_classes, F&& f) {
    for (size_t y = 0; y < n_classes; ++y)
      if (node[y] != kNoNode)
        for (int32_t child = first_child_[node[y]]; child < first_child_[node[y] + 1]; ++child) f(y, child);
  }

  static void sort_unique(std::vector<uint32_t>& codes) {
    std::sort(codes.begin(), codes.end());
    codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
  }

  const NodeView& view_;
  const ContextTreeView& tree_;
  const std::vector<uint32_t>& path_arity_;
  const uint32_t arity_;
  Fill fill_;
  std::vector<int32_t> first_child_;
};

struct FillCounts {
  double node(const NodeView& view, int32_t node, const TrieLevel*, uint32_t, size_t, size_t) const {
    return node == kNoNode ? 0.0 : view.node[node];
  }
  double entry(const NodeView& view, int32_t, int32_t cell, uint32_t, const TrieLevel*, uint32_t, size_t,
               size_t) const {
    return cell == kNoNode ? 0.0 : view.cell[cell];
  }
};

struct FillLogProba {
  bool hierarchical;
  const std::vector<double>& log_base;
  std::vector<double> root;  // log probability of each value at the tree's root

  // For a value without a cell. Hierarchical: the log factor on the level above. Flat: the log factor on the base, or
  // NaN where the class has not seen the context and the level above must answer.
  double node(const NodeView& view, int32_t node, const TrieLevel* above, uint32_t, size_t, size_t) const {
    if (hierarchical) return node == kNoNode ? 0.0 : std::log(view.node[node]);
    if (node == kNoNode && above) return std::numeric_limits<double>::quiet_NaN();
    return std::log(view.node[node == kNoNode ? 0 : node]);
  }

  double entry(const NodeView& view, int32_t node, int32_t cell, uint32_t value, const TrieLevel* above,
               uint32_t parent, size_t n_classes, size_t y) const {
    if (cell != kNoNode) return std::log(view.cell[cell]);
    if (node != kNoNode && !hierarchical) return std::log(view.node[node]) + log_base[value];
    const double base = above ? above->entry[above->values.find(parent, value) * n_classes + y] : root[value];
    return node == kNoNode ? base : std::log(view.node[node]) + base;
  }
};

}  // namespace

std::vector<TrieLevel> log_proba_trie(const NodeView& view, const std::vector<uint32_t>& path_arity,
                                      const std::vector<double>& log_base, bool hierarchical) {
  const auto arity = static_cast<uint32_t>(log_base.size());
  FillLogProba fill{hierarchical, log_base, std::vector<double>(arity, 0.0)};
  for (int64_t c = 0; c < view.tree.cell_ptr[1]; ++c) fill.root[view.tree.cell_value[c]] = std::log(view.cell[c]);
  return Builder<FillLogProba>(view, path_arity, arity, fill).run();
}

std::vector<TrieLevel> count_trie(const NodeView& view, const std::vector<uint32_t>& path_arity, uint32_t arity) {
  return Builder<FillCounts>(view, path_arity, arity, FillCounts{}).run();
}

}  // namespace countwise
