#include "trie.hpp"

#include <cmath>
#include <limits>

namespace countwise {
namespace {

struct FillCounts {
  const NodeView& view;

  double no_node(bool) const { return 0.0; }
  double node(int32_t node) const { return view.node[node]; }
  double cell(int64_t cell) const { return view.cell[cell]; }
  void start(const TrieLevel*, uint32_t, uint32_t, size_t n_classes, double* row) const {
    std::fill_n(row, n_classes, 0.0);
  }
  double without_cell(double, double, uint32_t) const { return 0.0; }
};

struct FillLogProba {
  const NodeView& view;
  bool hierarchical;
  const std::vector<double>& log_base;
  std::vector<double> root;  // log probability of each value at the tree's root

  // For a value without a cell. Hierarchical: the log factor on the level above. Flat: the log factor on the base, or
  // NaN where the class has not seen the context and the level above must answer.
  double no_node(bool top) const {
    if (hierarchical) return 0.0;
    return top ? std::log(view.node[0]) : std::numeric_limits<double>::quiet_NaN();
  }
  double node(int32_t node) const { return std::log(view.node[node]); }
  double cell(int64_t cell) const { return std::log(view.cell[cell]); }

  // Of the classes that have not seen the context. The level above has an entry for every value with a cell here.
  void start(const TrieLevel* above, uint32_t parent, uint32_t value, size_t n_classes, double* row) const {
    if (!above)
      std::fill_n(row, n_classes, root[value]);
    else
      std::copy_n(&above->entry.wide[above->values.find(parent, value) * n_classes], n_classes, row);
  }
  double without_cell(double above, double node, uint32_t value) const {
    return node + (hierarchical ? above : log_base[value]);
  }
};

// Dense levels of a tree, from contexts and what `Fill` makes of their nodes and cells.
template <class Fill>
class DenseBuilder {
 public:
  DenseBuilder(const ContextTreeView& tree, uint32_t arity, size_t n_classes, const Fill& fill)
      : tree_(tree), n_classes_(n_classes), fill_(fill), groups_(arity) {}

  void run(const Contexts& contexts, const TrieLevel* above, TrieLevel& level) {
    level.node.wide.assign(contexts.size() * n_classes_, fill_.no_node(!above));
    level.values.reserve(contexts.size());
    level.entry.wide.reserve(count_entries(contexts) * n_classes_);
    for (size_t context = 0; context < contexts.size(); ++context) {
      const Member *begin = contexts.begin(context), *end = contexts.end(context);
      double* node = &level.node.wide[context * n_classes_];
      if (end - begin == 1)
        one_class(*begin, contexts.parent[context], above, node, level);
      else
        many_classes(begin, end, contexts.parent[context], above, node, level);
    }
  }

 private:
  // The values that occur in the contexts: large levels are not to be copied while they grow.
  size_t count_entries(const Contexts& contexts) {
    size_t n_entries = 0;
    for (size_t context = 0; context < contexts.size(); ++context) {
      const Member *begin = contexts.begin(context), *end = contexts.end(context);
      if (end - begin == 1) {
        n_entries += static_cast<size_t>(tree_.cell_ptr[begin->node + 1] - tree_.cell_ptr[begin->node]);
        continue;
      }
      count_values(begin, end);
      n_entries += groups_.size();
      groups_.clear();
    }
    return n_entries;
  }

  void count_values(const Member* begin, const Member* end) {
    for (const Member* m = begin; m != end; ++m)
      for (int64_t c = tree_.cell_ptr[m->node]; c < tree_.cell_ptr[m->node + 1]; ++c)
        groups_.count(static_cast<uint32_t>(tree_.cell_value[c]));
  }

  double* append(size_t n_entries, TrieLevel& level) const {
    std::vector<double>& numbers = level.entry.wide;
    const size_t base = numbers.size();
    numbers.resize(base + n_entries * n_classes_);
    return numbers.data() + base;
  }

  // Most contexts, far from the root: values are in order already, and each has a cell.
  void one_class(const Member& member, uint32_t parent, const TrieLevel* above, double* node, TrieLevel& level) {
    const int64_t from = tree_.cell_ptr[member.node], to = tree_.cell_ptr[member.node + 1];
    level.values.push(tree_.cell_value + from, tree_.cell_value + to);
    node[member.y] = fill_.node(member.node);
    double* row = append(static_cast<size_t>(to - from), level);
    for (int64_t c = from; c < to; ++c, row += n_classes_) {
      fill_.start(above, parent, static_cast<uint32_t>(tree_.cell_value[c]), n_classes_, row);
      row[member.y] = fill_.cell(c);
    }
  }

  void many_classes(const Member* begin, const Member* end, uint32_t parent, const TrieLevel* above, double* node,
                    TrieLevel& level) {
    count_values(begin, end);
    const std::vector<uint32_t>& values = groups_.sorted();
    level.values.push(values.data(), values.data() + values.size());
    double* rows = append(values.size(), level);
    for (uint32_t i = 0; i < values.size(); ++i) {
      groups_.set(values[i], i);
      fill_.start(above, parent, values[i], n_classes_, rows + i * n_classes_);
    }
    for (const Member* m = begin; m != end; ++m) {
      node[m->y] = fill_.node(m->node);
      for (size_t i = 0; i < values.size(); ++i) {
        double& number = rows[i * n_classes_ + m->y];
        number = fill_.without_cell(number, node[m->y], values[i]);
      }
      for (int64_t c = tree_.cell_ptr[m->node]; c < tree_.cell_ptr[m->node + 1]; ++c)
        rows[groups_.rank(static_cast<uint32_t>(tree_.cell_value[c])) * n_classes_ + m->y] = fill_.cell(c);
    }
    groups_.clear();
  }

  const ContextTreeView& tree_;
  const size_t n_classes_;
  const Fill& fill_;
  Groups groups_;
};

// Sparse levels of a tree.
class SparseBuilder {
 public:
  SparseBuilder(const NodeView& view, uint32_t arity) : view_(view), tree_(view.tree), arity_(arity), groups_(arity) {}

  // Sparse levels add factors and take them back, which cannot be done with a factor of 0.
  bool is_possible() const {
    const int64_t n_nodes = tree_.level_ptr[tree_.n_levels];
    for (int64_t node = 0; node < n_nodes; ++node)
      if (view_.node[node] <= 0 && !is_full(node)) return false;
    return true;
  }

  // `depth`: of these contexts' nodes in the tree.
  void run(const Contexts& contexts, size_t depth, size_t n_classes, bool large, SparseLevel& level) {
    constexpr size_t most = std::numeric_limits<uint16_t>::max();
    if (large && n_classes <= most && static_cast<size_t>(arity_) <= most)
      fill(contexts, depth, level.span, level.short_item);
    else
      fill(contexts, depth, level.span, level.item);
  }

 private:
  bool is_full(int64_t node) const { return tree_.cell_ptr[node + 1] - tree_.cell_ptr[node] == arity_; }
  double log_factor(int32_t node) const { return is_full(node) ? 0.0 : std::log(view_.node[node]); }

  template <class Item>
  static Item item_of(double log, uint32_t y, uint32_t value) {
    return {static_cast<decltype(Item::log)>(log), static_cast<decltype(Item::y)>(y),
            static_cast<decltype(Item::value)>(value)};
  }

  template <class Item>
  void fill(const Contexts& contexts, size_t depth, std::vector<SparseLevel::Span>& span, std::vector<Item>& items) {
    const int64_t n_cells = tree_.cell_ptr[tree_.level_ptr[depth + 1]] - tree_.cell_ptr[tree_.level_ptr[depth]];
    span.reserve(contexts.size() + 1);
    items.reserve(contexts.member.size() + static_cast<size_t>(n_cells));
    for (size_t context = 0; context < contexts.size(); ++context) {
      const Member *begin = contexts.begin(context), *end = contexts.end(context);
      const auto nodes = static_cast<uint32_t>(items.size());
      span.push_back({nodes, nodes + static_cast<uint32_t>(end - begin)});
      for (const Member* m = begin; m != end; ++m) items.push_back(item_of<Item>(log_factor(m->node), m->y, 0));
      if (end - begin == 1)  // in order already
        for_cells<Item>(*begin, [&](const Item& item) { items.push_back(item); });
      else
        many_classes(begin, end, items);
    }
    const auto size = static_cast<uint32_t>(items.size());
    span.push_back({size, size});
  }

  // What is missing where the factor was added to log p of the node above. Its cells are sorted too, and include these.
  template <class Item, class F>
  void for_cells(const Member& member, F&& f) const {
    const double factor = log_factor(member.node);
    int64_t above = tree_.cell_ptr[tree_.parent[member.node]];
    for (int64_t c = tree_.cell_ptr[member.node]; c < tree_.cell_ptr[member.node + 1]; ++c) {
      while (tree_.cell_value[above] != tree_.cell_value[c]) ++above;
      const double change = std::log(view_.cell[c] / view_.cell[above]) - factor;
      f(item_of<Item>(change, member.y, static_cast<uint32_t>(tree_.cell_value[c])));
    }
  }

  template <class Item>
  void many_classes(const Member* begin, const Member* end, std::vector<Item>& items) {
    for (const Member* m = begin; m != end; ++m)
      for (int64_t c = tree_.cell_ptr[m->node]; c < tree_.cell_ptr[m->node + 1]; ++c)
        groups_.count(static_cast<uint32_t>(tree_.cell_value[c]));
    auto at = static_cast<uint32_t>(items.size());
    for (uint32_t value : groups_.sorted()) {
      const uint32_t size = groups_.size_of(value);
      groups_.set(value, at);
      at += size;
    }
    items.resize(at);
    for (const Member* m = begin; m != end; ++m)
      for_cells<Item>(*m, [&](const Item& item) { items[groups_.place(item.value)] = item; });
    groups_.clear();
  }

  const NodeView& view_;
  const ContextTreeView& tree_;
  const int64_t arity_;
  Groups groups_;
};

template <class Fill>
Trie build(const NodeView& view, const std::vector<uint32_t>& path_arity, uint32_t arity, const Fill& fill,
           Layout layout) {
  const size_t n_classes = path_arity[0], depth = path_arity.size() - 1;
  const ClassLast tree(view.tree);
  DenseBuilder<Fill> dense(view.tree, arity, n_classes, fill);
  SparseBuilder sparse(view, arity);
  if (layout.sparse_below > 0 && !sparse.is_possible()) layout.sparse_below = 0;
  Contexts contexts = tree.top();
  Trie trie;
  for (size_t level = 0; level <= depth; ++level) {
    const bool large = contexts.size() * n_classes > layout.large;
    const size_t below = layout.sparse_below > 0 && large ? 2 : layout.sparse_below;
    const bool few = contexts.member.size() * below < contexts.size() * n_classes;
    const uint32_t next_arity = level < depth ? path_arity[level + 1] : 1;
    Children next(next_arity);
    Contexts deeper;
    if (level < depth) deeper = tree.descend(contexts, next_arity, next);
    if (!trie.deep.empty() || (few && level > 0 && below > 0)) {
      trie.deep.push_back(SparseLevel{std::move(next), {}, {}, {}});
      sparse.run(contexts, level + 1, n_classes, large, trie.deep.back());
    } else {
      TrieLevel here{std::move(next), Children(arity), {}, {}, {}};
      dense.run(contexts, trie.levels.empty() ? nullptr : &trie.levels.back(), here);
      here.parent = std::move(contexts.parent);
      trie.levels.push_back(std::move(here));
    }
    contexts = std::move(deeper);
  }
  size_t n_numbers = 0;
  for (const TrieLevel& level : trie.levels) n_numbers += level.node.size() + level.entry.size();
  if (n_numbers >= layout.narrow)  // all levels or none: rows end at different ones, and which cannot be foreseen
    for (TrieLevel& level : trie.levels) {
      level.node.shorten();
      level.entry.shorten();
    }
  return trie;
}

}  // namespace

Trie log_proba_trie(const NodeView& view, const std::vector<uint32_t>& path_arity, const std::vector<double>& log_base,
                    bool hierarchical, const Layout& layout) {
  const auto arity = static_cast<uint32_t>(log_base.size());
  FillLogProba fill{view, hierarchical, log_base, std::vector<double>(arity, 0.0)};
  for (int64_t c = 0; c < view.tree.cell_ptr[1]; ++c) fill.root[view.tree.cell_value[c]] = std::log(view.cell[c]);
  return build(view, path_arity, arity, fill,
               Layout{hierarchical ? layout.sparse_below : 0, layout.large, layout.narrow});
}

std::vector<TrieLevel> count_trie(const NodeView& view, const std::vector<uint32_t>& path_arity, uint32_t arity) {
  return build(view, path_arity, arity, FillCounts{view}, Layout{0, 0, std::numeric_limits<size_t>::max()}).levels;
}

}  // namespace countwise
