// The end of a run: the first error that came with DONE to any writer.
#ifndef SAMHW_STATUS_HPP
#define SAMHW_STATUS_HPP

#include "token.hpp"

namespace samhw {

/// An error in the lowest 16 bits, and above it the number of the region in which it happened; 0 if nothing did.
typedef ap_uint<32> status_word;

/// The same error, of a region that calls the function of another one.
inline status_word in_region(status_word error, unsigned region) {
    return error == 0 ? error : status_word(region << 16 | (error.to_uint() & 0xffff));
}

template <unsigned REGION>
void report(error_code e0, error_code e1, error_code e2, status_word &status) {
#pragma HLS INLINE off
    const error_code error = first(e0, first(e1, e2));
    status = error == 0 ? status_word(0) : status_word(REGION << 16 | error.to_uint());
}

} // namespace samhw

#endif
