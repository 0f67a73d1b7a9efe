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
    token<index_t> inner;
};

/// The heads, and the outer payload that is held. An inner head comes an iteration before it is looked at, so that no read
/// waits for what it is.
template <typename T>
struct hold {
    token<T> outer, payload;
    early_head<T> next_outer;
    token<index_t> inner;
    early_head<index_t> next_inner;
    bool held;
    // What the inner head is, if there is one: inside of a fiber; the end of an innermost fiber and of its list; DONE.
    bool there, inside, outermost, done;
    ending end;

    hold() : held(false), there(false), inside(false), outermost(false), done(false) {}

    hold_firing step(stream<T> &outer_in, stream<index_t> &inner_in) {
#pragma HLS INLINE
        next_outer.look(outer_in);
        next_inner.look(inner_in);
        hold_firing f = {false, false, false, inner};
        // An empty fiber, the last of its list: its outer payload comes first, and the head stays.
        const bool goes_on = inside & held, fires = there & (goes_on | next_outer.there), begins = outermost & !held;
        const bool frees = (!there) | (fires & !begins & !done);
        if (fires) {
            note_taken(inner_in);
            if (!goes_on)
                outer = next_outer.take(outer_in);
            f = fire(begins);
        }
        if (frees) {
            there = next_inner.there;
            inner = next_inner.pass();
            const bool bare = (inner.kind == STOP) & (inner.lo() == 0);
            inside = (inner.kind == VAL) | (bare & (inner.hi() == 0));
            outermost = bare & (inner.hi() != 0);
            done = inner.kind == DONE;
        }
        return f;
    }

    hold_firing fire(bool begins) {
#pragma HLS INLINE
        hold_firing f = {false, false, false, inner};
        const bool value = inner.kind == VAL, stop = inner.kind == STOP;
        const bool bare = stop && inner.lo() == 0;
        bool fits = (held & inside) | outer.is_payload();
        if (!inside && !begins) {
            const ap_uint<4> lo = bare ? ap_uint<4>(0) : ap_uint<4>(inner.lo() - 1);
            fits = stop ? (bare || !held) && outer.is_stop(lo, inner.hi() - 1) : !held && done && outer.kind == DONE;
        }
        if (!held)
            payload = outer;
        held = value | begins;
        f.goes_on = end.goes_on(fits, done, first(outer.error(), inner.error()));
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
