// write_compressed: the level writer of a compressed level.
#ifndef SAMHW_WRITE_COMPRESSED_HPP
#define SAMHW_WRITE_COMPRESSED_HPP

#include "token.hpp"

namespace samhw {

/// `fibers` and `entries` are the words written to `pos` and `coordinates`.
template <unsigned NODE, unsigned POS, unsigned CRD>
void write_compressed(stream<index_t> &crd, traits<index_t>::memory pos[POS], traits<index_t>::memory coordinates[CRD],
                      unsigned &fibers, unsigned &entries, error_code &error) {
#pragma HLS INLINE off
    error_code mine = 0;
    unsigned f = 1, n = 0;
    pos[0] = 0;
    token<index_t> c;
    while (true) {
#pragma HLS PIPELINE II=1 style=stp
#pragma HLS LOOP_TRIPCOUNT min=1 max=most_tokens
        if (!ready(crd))
            continue;
        c = crd.read();
        if (c.kind == VAL && n < CRD) {
            coordinates[n++] = c.payload;
        } else if (c.kind == STOP && c.lo() == 0 && f < POS) {
            pos[f++] = n;
        } else if (c.kind == VAL || (c.kind == STOP && c.lo() == 0)) {
            mine = first(mine, fault<NODE>(CAUSE_CAPACITY));
        } else if (c.kind == EMPTY) {
            mine = first(mine, fault<NODE>(CAUSE_PROTOCOL));
        }
        if (c.kind == DONE)
            break;
    }

    fibers = f;
    entries = n;
    error = first(c.error(), mine);
}

} // namespace samhw

#endif
