// The end of a run: the first error that came with DONE to any writer.
#ifndef SAMHW_STATUS_HPP
#define SAMHW_STATUS_HPP

#include "token.hpp"

namespace samhw {

/// An error in the lowest 16 bits, and above it the number of the region in which it happened; 0 if nothing did.
typedef ap_uint<32> status_word;

template <unsigned REGION>
void report(error_code e0, error_code e1, error_code e2, status_word &status) {
#pragma HLS INLINE off
    const error_code error = first(e0, first(e1, e2));
    status = error == 0 ? status_word(0) : status_word(REGION << 16 | error.to_uint());
}

} // namespace samhw

#endif
