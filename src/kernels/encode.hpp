// Numbers to bin codes, and codes to coarser ones.
#pragma once

#include "common.hpp"

namespace countwise {

// out[r] = the number of cut points below values[r * stride]; NaN gets `missing`. Returns false when a value is
// infinite (out is then incomplete).
template <class Code>
bool bin_codes(const double* values, ptrdiff_t stride, size_t n_rows, const double* cuts, size_t n_cuts, Code missing,
               Code* out);

// out[r] = map[codes[r]].
template <class Code>
void recode(const Column& codes, size_t n_rows, const Code* map, Code* out);

}  // namespace countwise
