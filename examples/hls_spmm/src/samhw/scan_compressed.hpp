// scan_compressed: the level scanner of a compressed level. Reference r stands for crd[pos[r]] .. crd[pos[r + 1] - 1].
#ifndef SAMHW_SCAN_COMPRESSED_HPP
#define SAMHW_SCAN_COMPRESSED_HPP

#include "walk.hpp"

namespace samhw {

/// Whether a fiber ends before it starts: EMPTY, with a one instead of a coordinate.
inline bool is_backward(const token<index_t> &last) { return last.kind == EMPTY && last.payload != 0; }

/// The number of the last coordinate of a fiber between two positions, for is_backward.
inline token<index_t> last_between(const index_t &from, const index_t &to) {
#pragma HLS INLINE
    return from > to ? token<index_t>(EMPTY, 1) : last_of(to - from);
}

/// The start of each fiber, and the number of its last coordinate.
template <unsigned NODE, unsigned POS>
void scan_compressed_fetch(stream<index_t> &ref, stream<index_t> &start, stream<index_t> &last,
                           const traits<index_t>::memory pos[POS]) {
#pragma HLS INLINE off
    error_code error = 0;
    token<index_t> r;
    while (true) {
#pragma HLS PIPELINE II=1 style=stp
#pragma HLS LOOP_TRIPCOUNT min=1 max=most_tokens
        if (!ready(ref))
            continue;
        r = ref.read();
        token<index_t> s = r, l = r;
        if (r.kind == VAL) {
            const bool inside = r.payload < POS - 1;
            const unsigned n = inside ? r.payload.to_uint() : 0;
            const index_t from = pos[n], to = pos[n + 1];
            if (!inside)
                error = first(error, fault<NODE>(CAUSE_RANGE));
            s = token<index_t>::val(from);
            l = last_between(from, to);
        } else if (r.kind == DONE) {
            s = l = token<index_t>::done(first(r.error(), error));
        }
        start.write(s);
        last.write(l);
        if (r.kind == DONE)
            break;
    }
}

template <unsigned NODE, unsigned CRD>
void scan_compressed_walk(stream<index_t> &start, stream<index_t> &last, stream<index_t> &crd, stream<index_t> &ref,
                          const traits<index_t>::memory coordinates[CRD], index_t extent) {
#pragma HLS INLINE off
    error_code error = 0;
    walk_state state = {0, false, false};
    index_t before = 0;
    token<index_t> s, l;
    walk_firing f = {};
    while (true) {
#pragma HLS PIPELINE II=1 style=stp
#pragma HLS LOOP_TRIPCOUNT min=1 max=most_tokens
        if (!(ready(start, !state.waits) & ready(last, !state.waits)))
            continue;
        if (!state.waits) {
            s = start.read();
            l = last.read();
        }
        if (is_backward(l))
            error = first(error, fault<NODE>(CAUSE_PROTOCOL));
        f = walk(state, s, l);
        if (f.point) {
            const index_t r = s.value() + f.c;
            const index_t x = coordinates[r < CRD ? r.to_uint() : 0];
            const bool outside = r >= CRD || x >= extent, unordered = f.c != 0 && x <= before;
            if (outside || unordered)
                error = first(error, fault<NODE>(outside ? CAUSE_RANGE : CAUSE_PROTOCOL));
            before = x;
            crd.write(token<index_t>::val(x));
            ref.write(token<index_t>::val(r));
        } else if (f.stop) {
            crd.write(token<index_t>::stop(f.lo, f.hi));
            ref.write(token<index_t>::stop(f.lo, f.hi));
        } else if (f.done) {
            crd.write(token<index_t>::done(first(s.error(), error)));
            ref.write(token<index_t>::done(first(s.error(), error)));
        }
        if (f.done)
            break;
    }
}

} // namespace samhw

#endif
