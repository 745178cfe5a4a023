// A context tree turned class-last: one walk over the parents' codes reaches the numbers of all classes at once.
#pragma once

#include <algorithm>

#include "context.hpp"

namespace countwise {

constexpr uint32_t kNone = 0xffffffffu;

// The sorted codes of the children of each node of a level, with constant-time look-up of a child's number.
class Children {
 public:
  explicit Children(uint32_t arity) : words_(arity <= 256 ? (arity + 63) / 64 : 0) {}

  // Appends a node with these codes, ascending.
  void push(const std::vector<uint32_t>& codes) {
    if (words_ == 0) {
      codes_.insert(codes_.end(), codes.begin(), codes.end());
      end_.push_back(static_cast<uint32_t>(codes_.size()));
    } else {
      const size_t base = bits_.size();
      bits_.resize(base + words_, Word{0, 0});
      for (uint32_t code : codes) bits_[base + code / 64].mask |= uint64_t{1} << (code % 64);
      for (size_t w = 0; w < words_; ++w) {
        bits_[base + w].first = size_;
        size_ += static_cast<uint32_t>(popcount(bits_[base + w].mask));
      }
    }
  }

  CW_INLINE uint32_t find(uint32_t node, uint32_t code) const {
    if (words_ != 0) {
      if (code >= words_ * 64) return kNone;
      const Word& word = bits_[node * words_ + code / 64];
      const uint64_t bit = uint64_t{1} << (code % 64);
      return word.mask & bit ? word.first + static_cast<uint32_t>(popcount(word.mask & (bit - 1))) : kNone;
    }
    const uint32_t *begin = codes_.data() + (node ? end_[node - 1] : 0), *end = codes_.data() + end_[node];
    const uint32_t* at = std::lower_bound(begin, end, code);
    return at != end && *at == code ? static_cast<uint32_t>(at - codes_.data()) : kNone;
  }

 private:
  struct Word {
    uint64_t mask;
    uint32_t first;
  };
  size_t words_;  // 0: arity too large for bitmaps, so sorted codes and binary search
  std::vector<Word> bits_;
  uint32_t size_ = 0;
  std::vector<uint32_t> codes_, end_;
};

// One level of contexts: (), (p1), (p1, p2), ... seen under any class. Nodes and entries are numbered per level.
struct TrieLevel {
  Children next;                 // contexts one level deeper, by the next parent's code
  Children values;               // entries, by the child's value
  std::vector<uint32_t> parent;  // per node, in the level above
  std::vector<double> node;      // [node][class]
  std::vector<double> entry;     // [entry][class]
};

// What a tree stores per node and per cell, chosen by the caller: probabilities or counts.
struct NodeView {
  const ContextTreeView& tree;
  const double* cell;
  const double* node;
};

// A probability for every class of every context and value. A class that has not seen a context takes its
// estimate from the context above, a value without a cell takes `absent` times the estimate above (hierarchical)
// or absent * base (flat; log_base of every value). All numbers are natural logarithms.
std::vector<TrieLevel> log_proba_trie(const NodeView& view, const std::vector<uint32_t>& path_arity,
                                      const std::vector<double>& log_base, bool hierarchical);

// Counts: node = the context's total, entry = the value's count, 0 where a class has none.
std::vector<TrieLevel> count_trie(const NodeView& view, const std::vector<uint32_t>& path_arity, uint32_t arity);

}  // namespace countwise
