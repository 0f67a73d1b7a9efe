// write_dense: checks that the coordinates of a dense level are all there. It stores nothing.
#ifndef SAMHW_WRITE_DENSE_HPP
#define SAMHW_WRITE_DENSE_HPP

#include "token.hpp"

namespace samhw {

template <unsigned NODE>
void write_dense(stream<index_t> &crd, index_t extent, error_code &error) {
#pragma HLS INLINE off
    error_code mine = 0;
    index_t expected = 0;
    token<index_t> c;
    while (true) {
#pragma HLS PIPELINE II=1 style=stp
#pragma HLS LOOP_TRIPCOUNT min=1 max=most_tokens
        if (!ready(crd))
            continue;
        c = crd.read();
        if (c.kind == VAL) {
            if (c.value() != expected || c.value() >= extent)
                mine = first(mine, fault<NODE>(CAUSE_RANGE));
            ++expected;
        } else if (c.kind == STOP && c.lo() == 0) {
            if (expected != extent)
                mine = first(mine, fault<NODE>(CAUSE_RANGE));
            expected = 0;
        } else if (c.kind == EMPTY) {
            mine = first(mine, fault<NODE>(CAUSE_PROTOCOL));
        }
        if (c.kind == DONE)
            break;
    }
    error = first(c.error(), mine);
}

} // namespace samhw

#endif
