// A context tree turned class-last: one walk over the parents' codes reaches the numbers of all classes at once.
#pragma once

#include <type_traits>

#include "class_last.hpp"

namespace countwise {

// Numbers of one level, [node or entry][class].
struct Numbers {
  std::vector<double> wide;
  std::vector<float> narrow;  // in the place of `wide`: of large trees, which cost what they take from memory

  size_t size() const { return narrow.empty() ? wide.size() : narrow.size(); }
  double operator[](size_t i) const { return narrow.empty() ? wide[i] : double{narrow[i]}; }

  template <class Number>
  const Number* as() const {
    if constexpr (std::is_same_v<Number, float>)
      return narrow.data();
    else
      return wide.data();
  }

  void shorten() {
    narrow.assign(wide.begin(), wide.end());
    std::vector<double>().swap(wide);
  }
};

// One level of contexts, with the numbers of all classes side by side. Nodes and entries are numbered per level.
struct TrieLevel {
  Children next;                 // contexts one level deeper, by the next parent's code
  Children values;               // entries, by the child's value
  std::vector<uint32_t> parent;  // per node, in the level above
  Numbers node, entry;
};

// One level of contexts that few classes have seen, with what it changes for those classes only: memory follows the
// tree's nodes and cells, not the number of classes. Numbers are added to the log probabilities of the level above: for
// a class with a node its log factor, which is right for a value without a cell, and for one with a cell what is
// missing.
struct SparseLevel {
  struct Item {
    double log;
    uint32_t y, value;
  };
  struct ShortItem {  // of large levels, which cost what they take from memory
    float log;
    uint16_t y, value;
  };
  struct Span {
    uint32_t nodes, cells;  // first item of each kind; the cells end where the next context's nodes begin
  };
  Children next;
  std::vector<Span> span;             // per context, and one for the end
  std::vector<Item> item;             // per context: nodes by class, then cells by value and class
  std::vector<ShortItem> short_item;  // in the place of `item`, or empty

  // Calls f with the first item; of either kind.
  template <class F>
  CW_INLINE auto items(F&& f) const {
    return short_item.empty() ? f(item.data()) : f(short_item.data());
  }
};

// Which levels are sparse: from the first one on whose contexts have been seen by less than one class in `sparse_below`
// on average, of large levels by less than one in two; 0: none, nor in a tree that gives some value no probability at
// all. So up to 8 classes small levels are dense, which is up to twice as fast. Large is a level that no cache holds,
// where small is fast: sparse items are short there. Numbers of dense levels are, if there are `narrow` in a tree.
struct Layout {
  uint32_t sparse_below = 8;
  size_t large = size_t{1} << 20;  // contexts x classes
  size_t narrow = size_t{1} << 18;
};

// Dense levels, then sparse ones.
struct Trie {
  std::vector<TrieLevel> levels;
  std::vector<SparseLevel> deep;
};

// What a tree stores per node and per cell, chosen by the caller: probabilities or counts.
struct NodeView {
  const ContextTreeView& tree;
  const double* cell;
  const double* node;
};

// A probability for every class of every context and value. A class that has not seen a context takes its
// estimate from the context above, a value without a cell takes `absent` times the estimate above (hierarchical)
// or absent * base (flat; log_base of every value; all levels dense). All numbers are natural logarithms.
Trie log_proba_trie(const NodeView& view, const std::vector<uint32_t>& path_arity, const std::vector<double>& log_base,
                    bool hierarchical, const Layout& layout);

// Counts: node = the context's total, entry = the value's count, 0 where a class has none.
std::vector<TrieLevel> count_trie(const NodeView& view, const std::vector<uint32_t>& path_arity, uint32_t arity);

}  // namespace countwise
