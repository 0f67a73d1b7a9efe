// scan_compressed: the level scanner of a compressed level. Reference r stands for crd[pos[r]] .. crd[pos[r + 1] - 1].
#ifndef SAMHW_SCAN_COMPRESSED_HPP
#define SAMHW_SCAN_COMPRESSED_HPP

#include "walk.hpp"

namespace samhw {

/// Start and end of each fiber.
template <unsigned NODE, unsigned POS>
void scan_compressed_fetch(stream<index_t> &ref, stream<index_t> &start, stream<index_t> &end,
                           const traits<index_t>::memory pos[POS]) {
#pragma HLS INLINE off
    error_code error = 0;
    token<index_t> r;
    do {
#pragma HLS PIPELINE II=1 style=flp
        r = ref.read();
        token<index_t> s = r, e = r;
        if (r.kind == VAL) {
            const bool inside = r.payload < POS - 1;
            const unsigned n = inside ? r.payload.to_uint() : 0;
            if (!inside)
                error = first(error, fault<NODE>(CAUSE_RANGE));
            s = token<index_t>::val(pos[n]);
            e = token<index_t>::val(pos[n + 1]);
        } else if (r.kind == DONE) {
            s = e = token<index_t>::done(first(r.error(), error));
        }
        start.write(s);
        end.write(e);
    } while (r.kind != DONE);
}

template <unsigned NODE, unsigned CRD>
void scan_compressed_walk(stream<index_t> &start, stream<index_t> &end, stream<index_t> &crd, stream<index_t> &ref,
                          const traits<index_t>::memory coordinates[CRD], index_t extent) {
#pragma HLS INLINE off
    error_code error = 0;
    walk_state state = {0, false};
    index_t last = 0;
    token<index_t> s, e;
    bool next = true, running = true;
    while (running) {
#pragma HLS PIPELINE II=1 style=flp
        if (next) {
            s = start.read();
            e = end.read();
        }
        const bool ordered = s.payload <= e.payload;
        if (s.kind == VAL && !ordered)
            error = first(error, fault<NODE>(CAUSE_PROTOCOL));
        const walk_firing f = walk(state, s, s.kind == VAL && ordered ? index_t(e.value() - s.value()) : index_t(0));
        next = f.take;
        running = s.kind != DONE || !f.take;
        if (f.point) {
            const index_t r = s.value() + f.c;
            if (r >= CRD)
                error = first(error, fault<NODE>(CAUSE_RANGE));
            const index_t x = coordinates[r < CRD ? r.to_uint() : 0];
            if (x >= extent)
                error = first(error, fault<NODE>(CAUSE_RANGE));
            if (f.c != 0 && x <= last)
                error = first(error, fault<NODE>(CAUSE_PROTOCOL));
            last = x;
            crd.write(token<index_t>::val(x));
            ref.write(token<index_t>::val(r));
        } else if (f.stop) {
            crd.write(token<index_t>::stop(f.lo, f.hi));
            ref.write(token<index_t>::stop(f.lo, f.hi));
        } else if (!running) {
            crd.write(token<index_t>::done(first(s.error(), error)));
            ref.write(token<index_t>::done(first(s.error(), error)));
        }
    }
}

} // namespace samhw

#endif
