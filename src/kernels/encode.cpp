#include "encode.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace countwise {
namespace {

constexpr size_t kBlock = 256;      // rows whose values are held in the cache
constexpr size_t kLinearCuts = 12;  // up to so many, comparing with all of them beats searching

// position[r] = the number of cuts below x[r]; comparisons of many rows run side by side, none is a branch.
CW_INLINE void count_below(const double* x, size_t rows, const double* cuts, size_t n_cuts, int64_t* position) {
  std::fill_n(position, rows, int64_t{0});
  if (n_cuts <= kLinearCuts) {
    for (size_t c = 0; c < n_cuts; ++c)
      for (size_t r = 0; r < rows; ++r) position[r] += cuts[c] < x[r];
    return;
  }
  // Halving steps of the same sizes for every row: the answer lies in [position, position + length].
  for (size_t length = n_cuts; length > 0;) {
    const int64_t half = static_cast<int64_t>((length + 1) / 2);
    for (size_t r = 0; r < rows; ++r) position[r] += (cuts[position[r] + half - 1] < x[r]) * half;
    length -= half;
  }
}

CW_CLONES bool count_below_block(const double* values, ptrdiff_t stride, size_t rows, const double* cuts, size_t n_cuts,
                                 double* x, int64_t* position) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  bool finite = true;
  for (size_t r = 0; r < rows; ++r) {
    x[r] = values[static_cast<ptrdiff_t>(r) * stride];
    finite &= std::fabs(x[r]) != kInfinity;
  }
  count_below(x, rows, cuts, n_cuts, position);
  return finite;
}

template <class From, class Code>
void recode_from(const From* codes, size_t n_rows, const Code* map, Code* out) {
  for (size_t r = 0; r < n_rows; ++r) out[r] = map[codes[r]];
}

}  // namespace

template <class Code>
bool bin_codes(const double* values, ptrdiff_t stride, size_t n_rows, const double* cuts, size_t n_cuts, Code missing,
               Code* out) {
  double x[kBlock];
  int64_t position[kBlock];
  bool finite = true;
  for (size_t start = 0; start < n_rows; start += kBlock) {
    const size_t rows = std::min(kBlock, n_rows - start);
    const double* first = values + static_cast<ptrdiff_t>(start) * stride;
    finite &= count_below_block(first, stride, rows, cuts, n_cuts, x, position);
    for (size_t r = 0; r < rows; ++r) out[start + r] = std::isnan(x[r]) ? missing : static_cast<Code>(position[r]);
  }
  return finite;
}

template bool bin_codes<uint8_t>(const double*, ptrdiff_t, size_t, const double*, size_t, uint8_t, uint8_t*);
template bool bin_codes<uint16_t>(const double*, ptrdiff_t, size_t, const double*, size_t, uint16_t, uint16_t*);
template bool bin_codes<uint32_t>(const double*, ptrdiff_t, size_t, const double*, size_t, uint32_t, uint32_t*);

template <class Code>
void recode(const Column& codes, size_t n_rows, const Code* map, Code* out) {
  if (codes.width == 1)
    recode_from(codes_of<uint8_t>(codes), n_rows, map, out);
  else if (codes.width == 2)
    recode_from(codes_of<uint16_t>(codes), n_rows, map, out);
  else
    recode_from(codes_of<uint32_t>(codes), n_rows, map, out);
}

template void recode<uint8_t>(const Column&, size_t, const uint8_t*, uint8_t*);
template void recode<uint16_t>(const Column&, size_t, const uint16_t*, uint16_t*);
template void recode<uint32_t>(const Column&, size_t, const uint32_t*, uint32_t*);

}  // namespace countwise
