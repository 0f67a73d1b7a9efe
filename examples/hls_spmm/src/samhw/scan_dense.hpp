// scan_dense: the level scanner of a dense level. Reference r stands for the fiber r * extent .. (r + 1) * extent - 1.
#ifndef SAMHW_SCAN_DENSE_HPP
#define SAMHW_SCAN_DENSE_HPP

#include "walk.hpp"

namespace samhw {

/// The first reference of each fiber.
inline void scan_dense_scale(stream<index_t> &ref, stream<index_t> &base, index_t extent) {
#pragma HLS INLINE off
    token<index_t> r;
    while (true) {
#pragma HLS PIPELINE II=1 style=stp
#pragma HLS LOOP_TRIPCOUNT min=1 max=most_tokens
        if (!ready(ref))
            continue;
        r = ref.read();
        base.write(r.kind == VAL ? token<index_t>::val(r.value() * extent) : r);
        if (r.kind == DONE)
            break;
    }
}

inline void scan_dense_walk(stream<index_t> &base, stream<index_t> &crd, stream<index_t> &ref, index_t extent) {
#pragma HLS INLINE off
    const token<index_t> last = last_of(extent);
    walk_state state = {0, false, false};
    token<index_t> b;
    walk_firing f = {};
    while (true) {
#pragma HLS PIPELINE II=1 style=stp
#pragma HLS LOOP_TRIPCOUNT min=1 max=most_tokens
        if (!ready(base, !state.waits))
            continue;
        if (!state.waits)
            b = base.read();
        f = walk(state, b, last);
        if (f.point || f.stop || f.done) {
            const token<index_t> end = f.done ? b : token<index_t>::stop(f.lo, f.hi);
            crd.write(f.point ? token<index_t>::val(f.c) : end);
            ref.write(f.point ? token<index_t>::val(b.value() + f.c) : end);
        }
        if (f.done)
            break;
    }
}

} // namespace samhw

#endif
