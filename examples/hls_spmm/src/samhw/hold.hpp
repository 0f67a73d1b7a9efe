// Holding an outer payload while the coordinates of the inner fiber pass: what repeat, crd_hold and locate share.
#ifndef SAMHW_HOLD_HPP
#define SAMHW_HOLD_HPP

#include "token.hpp"

namespace samhw {

/// What a hold does next. It takes the outer head if it looks at it.
struct hold_firing {
    bool payload; // Push what the held payload and the inner coordinate give.
    bool stop;    // Push the inner head.
    bool goes_on; // The firing is one of the rule, and not the last one.
};

/// The heads, and the outer payload that is held. Whether the next inner head is read depends on the inner stream alone,
/// so that an outer head may come a cycle later.
template <typename T>
struct hold {
    token<T> outer, payload;
    token<index_t> inner;
    bool held;
    bool ends, alone; // The inner head ends a list; nothing was held when it came. With both it stays for a second firing.
    ending end;

    hold() : held(false), ends(false), alone(false) {}

    bool over() const { return inner.kind == DONE || end.heard; }

    hold_firing step(stream<T> &outer_in, stream<index_t> &inner_in) {
#pragma HLS INLINE
        if (!(ends & alone))
            inner = inner_in.read();
        const bool value = inner.kind == VAL, stop = inner.kind == STOP;
        const bool bare = stop && inner.lo() == 0; // It ends the innermost fiber.
        const bool inside = value || (bare && inner.hi() == 0);
        if (!(inside && held) && outer.kind != DONE)
            outer = outer_in.read();
        // An empty fiber, the last of its list: its outer payload comes first.
        ends = (inner.lo() == 0) & (inner.hi() != 0);
        alone = stop & !held;
        const bool begins = ends & alone;
        bool fits = (held & inside) | outer.is_payload();
        if (!inside && !begins) {
            const ap_uint<4> lo = bare ? ap_uint<4>(0) : ap_uint<4>(inner.lo() - 1);
            fits = stop ? (bare || !held) && outer.is_stop(lo, inner.hi() - 1) : !held && inner.kind == DONE && outer.kind == DONE;
        }
        if (!held)
            payload = outer;
        held = value | begins;
        hold_firing f;
        f.goes_on = end.goes_on(fits, inner.kind == DONE, first(outer.error(), inner.error()));
        f.payload = f.goes_on && value;
        f.stop = f.goes_on && stop && !begins;
        return f;
    }

    /// The error of the end, where the node has met `own`.
    template <unsigned NODE>
    error_code error(error_code own) const {
        return first(end.error, end.fits ? own : fault<NODE>(CAUSE_PROTOCOL));
    }
};

} // namespace samhw

#endif
