// scan_dense: the level scanner of a dense level. Reference r stands for the fiber r * extent .. (r + 1) * extent - 1.
#ifndef SAMHW_SCAN_DENSE_HPP
#define SAMHW_SCAN_DENSE_HPP

#include "walk.hpp"

namespace samhw {

/// The first reference of each fiber.
inline void scan_dense_scale(stream<index_t> &ref, stream<index_t> &base, index_t extent) {
#pragma HLS INLINE off
    token<index_t> r;
    do {
#pragma HLS PIPELINE II=1 style=flp
        r = ref.read();
        base.write(r.kind == VAL ? token<index_t>::val(r.value() * extent) : r);
    } while (r.kind != DONE);
}

inline void scan_dense_walk(stream<index_t> &base, stream<index_t> &crd, stream<index_t> &ref, index_t extent) {
#pragma HLS INLINE off
    walk_state state = {0, false};
    token<index_t> b;
    bool next = true, running = true;
    while (running) {
#pragma HLS PIPELINE II=1 style=flp
        if (next)
            b = base.read();
        const walk_firing f = walk(state, b, b.kind == VAL ? extent : index_t(0));
        next = f.take;
        running = b.kind != DONE || !f.take;
        if (f.point) {
            crd.write(token<index_t>::val(f.c));
            ref.write(token<index_t>::val(b.value() + f.c));
        } else if (f.stop) {
            crd.write(token<index_t>::stop(f.lo, f.hi));
            ref.write(token<index_t>::stop(f.lo, f.hi));
        } else if (!running) {
            crd.write(b);
            ref.write(b);
        }
    }
}

} // namespace samhw

#endif
