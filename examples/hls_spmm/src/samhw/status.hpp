// The end of a run: the first error that came with DONE to any writer.
#ifndef SAMHW_STATUS_HPP
#define SAMHW_STATUS_HPP

#include "token.hpp"

namespace samhw {

/// An error in the lowest 16 bits, and above it the number of the region in which it happened; 0 if nothing did.
typedef ap_uint<32> status_word;

/// The same for the host, and after it the words that lie in each memory to which the kernel has copied some.
inline void tell(error_code e0, error_code e1, error_code e2, unsigned w0, unsigned w1, unsigned w2, status_word *status) {
#pragma HLS INLINE off
    status[0] = first(e0, first(e1, e2));
    status[1] = w0;
    status[2] = w1;
    status[3] = w2;
}

} // namespace samhw

#endif
