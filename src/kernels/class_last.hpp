// A context tree read class-last: contexts by the parents' codes alone, and which classes have a node in each.
#pragma once

#include <algorithm>

#include "context.hpp"

namespace countwise {

constexpr uint32_t kNone = 0xffffffffu;

// The sorted codes of the children of each node of a level, with constant-time look-up of a child's number.
class Children {
 public:
  explicit Children(uint32_t arity) : words_(arity <= 256 ? (arity + 63) / 64 : 0) {}

  void reserve(size_t n_nodes) {
    if (words_ == 0)
      end_.reserve(n_nodes);
    else
      bits_.reserve(n_nodes * words_);
  }

  // Appends a node with these codes, ascending.
  template <class Code>
  void push(const Code* begin, const Code* end) {
    if (words_ == 0) {
      codes_.insert(codes_.end(), begin, end);
      end_.push_back(static_cast<uint32_t>(codes_.size()));
    } else if (words_ == 1) {
      uint64_t mask = 0;
      for (const Code* code = begin; code != end; ++code) mask |= uint64_t{1} << *code;
      bits_.push_back({mask, size_});
      size_ += static_cast<uint32_t>(end - begin);
    } else {
      push_words(begin, end);
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

  // Asks for what find(node, code) reads first.
  CW_INLINE void ask_for(uint32_t node, uint32_t code) const {
    if (words_ == 0)
      prefetch(&end_[node]);
    else
      prefetch(&bits_[node * words_ + std::min<size_t>(code / 64, words_ - 1)]);
  }

 private:
  struct Word {
    uint64_t mask;
    uint32_t first;
  };

  template <class Code>
  void push_words(const Code* begin, const Code* end) {
    const size_t base = bits_.size();
    bits_.resize(base + words_, Word{0, 0});
    for (const Code* code = begin; code != end; ++code) bits_[base + *code / 64].mask |= uint64_t{1} << (*code % 64);
    for (size_t w = 0; w < words_; ++w) {
      bits_[base + w].first = size_;
      size_ += static_cast<uint32_t>(popcount(bits_[base + w].mask));
    }
  }

  size_t words_;  // 0: arity too large for bitmaps, so sorted codes and binary search
  std::vector<Word> bits_;
  uint32_t size_ = 0;
  std::vector<uint32_t> codes_, end_;
};

// The distinct codes of several lists, ascending, and a number for each: its rank, or where its group begins.
class Groups {
 public:
  explicit Groups(uint32_t arity) : at_(arity, 0) {}

  void count(uint32_t code) {
    if (at_[code]++ == 0) codes_.push_back(code);
  }
  const std::vector<uint32_t>& sorted() {
    if (!std::is_sorted(codes_.begin(), codes_.end())) std::sort(codes_.begin(), codes_.end());
    return codes_;
  }
  size_t size() const { return codes_.size(); }
  uint32_t size_of(uint32_t code) const { return at_[code]; }
  void set(uint32_t code, uint32_t number) { at_[code] = number; }
  uint32_t rank(uint32_t code) const { return at_[code]; }
  uint32_t place(uint32_t code) { return at_[code]++; }  // for the next of its group

  void clear() {
    for (uint32_t code : codes_) at_[code] = 0;
    codes_.clear();
  }

 private:
  std::vector<uint32_t> at_, codes_;
};

// A class that has seen a context, and its node there.
struct Member {
  uint32_t y;
  int32_t node;
};

// The contexts of one level: (), (p1), (p1, p2), ... seen under any class.
struct Contexts {
  std::vector<uint32_t> first{0};  // members of context c: first[c] .. first[c + 1]
  std::vector<Member> member;      // by class
  std::vector<uint32_t> parent;    // per context, in the level above

  size_t size() const { return first.size() - 1; }
  const Member* begin(size_t context) const { return member.data() + first[context]; }
  const Member* end(size_t context) const { return member.data() + first[context + 1]; }
};

// The levels of a tree one after the other.
class ClassLast {
 public:
  explicit ClassLast(const ContextTreeView& tree) : tree_(tree), first_child_(first_children(tree)) {}

  Contexts top() const;

  // The contexts one level deeper, found by `next`.
  Contexts descend(const Contexts& contexts, uint32_t arity, Children& next) const;

 private:
  void descend_many(const Member* begin, const Member* end, Groups& groups, Contexts& deeper, Children& next) const;

  const ContextTreeView& tree_;
  std::vector<int32_t> first_child_;
};

}  // namespace countwise
