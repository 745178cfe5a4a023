#include "row_keys.hpp"

namespace countwise {
namespace {

CW_CLONES void rank_keys(const uint64_t* bits, const uint32_t* rank, size_t n, uint64_t* keys) {
  for (size_t r = 0; r < n; ++r) {
    const uint64_t word = keys[r] >> 6, below = (uint64_t{1} << (keys[r] & 63)) - 1;
    keys[r] = rank[word] + static_cast<uint64_t>(popcount(bits[word] & below));
  }
}

}  // namespace

void RowKeys::rank_by_bitmap(std::vector<uint64_t>& distinct) {
  const size_t words = range_ / 64 + 1;
  std::vector<uint64_t> bits(words, 0);
  for (uint64_t key : keys_) bits[key >> 6] |= uint64_t{1} << (key & 63);
  std::vector<uint32_t> rank(words);
  for (size_t w = 0; w < words; ++w) {
    rank[w] = static_cast<uint32_t>(distinct.size());
    for (uint64_t word = bits[w]; word; word &= word - 1) distinct.push_back(w * 64 + lowest_bit(word));
  }
  rank_keys(bits.data(), rank.data(), keys_.size(), keys_.data());
}

}  // namespace countwise
