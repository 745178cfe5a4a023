// Joint counts of every pair of attributes with the class, and the sums that mutual information needs.
#pragma once

#include "common.hpp"

namespace countwise {

// The counts of the pairs (i, j), j > i, of first attributes i in [begin, end) in one flat array: for each i in
// turn a block [x_i][y][column of x_j], where the columns of the attributes j > i follow each other.
struct PairLayout {
  std::vector<uint32_t> arity;
  uint32_t n_classes;
  uint32_t begin, end;
  std::vector<uint32_t> first_column;  // of each attribute; the last entry is the total
  std::vector<size_t> block;           // offset of each first attribute's block; the last entry is the size

  PairLayout(std::vector<uint32_t> arity, uint32_t n_classes, uint32_t begin, uint32_t end);
  uint32_t row_length(uint32_t i) const { return first_column.back() - first_column[i + 1]; }
  size_t size() const { return block.back(); }
};

// out += the counts of these rows. Weighted rows need the double version.
void count_pairs(const PairLayout& layout, const std::vector<Column>& columns, const Column& target, size_t n_rows,
                 int n_threads, uint32_t* out);
void count_pairs_weighted(const PairLayout& layout, const std::vector<Column>& columns, const Column& target,
                          const double* weights, size_t n_rows, int n_threads, double* out);

// out[i * n + j] = sum of c log c over the cells of pair (i, j), for i in [begin, end) and j > i.
template <class Count>
void pair_entropies(const PairLayout& layout, const Count* counts, int n_threads, double* out);

// out: the counts of (x_i, y) of every attribute in turn, from a layout of all pairs of two or more attributes.
template <class Count>
void pair_margins(const PairLayout& layout, const Count* counts, double* out);

}  // namespace countwise
