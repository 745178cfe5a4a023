#include "encode.hpp"

#include <cmath>
#include <limits>

namespace countwise {

template <class Code>
bool bin_codes(const double* values, ptrdiff_t stride, size_t n_rows, const double* cuts, size_t n_cuts, Code missing,
               Code* out) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  bool finite = true;
  for (size_t r = 0; r < n_rows; ++r) {
    const double x = values[static_cast<ptrdiff_t>(r) * stride];
    finite &= !(std::fabs(x) == kInfinity);
    // Branch-free lower bound: the halving steps do not depend on the value, so nothing is mispredicted.
    const double* base = cuts;
    for (size_t length = n_cuts; length > 0;) {
      const size_t half = (length + 1) / 2;
      base += (base[half - 1] < x) ? half : 0;
      length -= half;
    }
    out[r] = x != x ? missing : static_cast<Code>(base - cuts);
  }
  return finite;
}

template bool bin_codes<uint8_t>(const double*, ptrdiff_t, size_t, const double*, size_t, uint8_t, uint8_t*);
template bool bin_codes<uint16_t>(const double*, ptrdiff_t, size_t, const double*, size_t, uint16_t, uint16_t*);
template bool bin_codes<uint32_t>(const double*, ptrdiff_t, size_t, const double*, size_t, uint32_t, uint32_t*);

}  // namespace countwise
