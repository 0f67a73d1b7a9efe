// The end of a run: the first error that came with DONE to any writer.
#ifndef SAMHW_STATUS_HPP
#define SAMHW_STATUS_HPP

#include "token.hpp"

namespace samhw {

inline void report(error_code e0, error_code e1, error_code e2, error_code *status) {
#pragma HLS INLINE off
    *status = first(e0, first(e1, e2));
}

} // namespace samhw

#endif
