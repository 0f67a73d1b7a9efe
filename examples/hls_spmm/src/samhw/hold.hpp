// Holding an outer payload while the coordinates of the inner fiber pass: what repeat, crd_hold and locate share.
#ifndef SAMHW_HOLD_HPP
#define SAMHW_HOLD_HPP

#include "token.hpp"

namespace samhw {

/// The outer payload that is held.
template <typename T>
struct hold_state {
    token<T> payload;
    bool held;
};

/// Whether the outer head is looked at; if not, the firing follows from what is held.
template <typename T>
bool hold_looks(const hold_state<T> &s, const token<index_t> &inner) {
#pragma HLS INLINE
    const bool inside = inner.kind == VAL || (inner.kind == STOP && inner.payload == 0);
    return !inside || !s.held;
}

/// What a hold does next. It always takes the outer head if it looks at it.
struct hold_firing {
    bool take;    // The inner head is used up.
    bool payload; // Push what the held payload and the inner coordinate give.
    bool fits;    // The heads are covered by the rule.
};

template <typename T>
hold_firing hold(hold_state<T> &s, const token<T> &outer, const token<index_t> &inner) {
#pragma HLS INLINE
    hold_firing f = {true, false, true};
    if (inner.kind == VAL) {
        f.fits = s.held || outer.is_payload();
        f.payload = true;
        if (!s.held)
            s.payload = outer;
        s.held = true;
    } else if (inner.kind == STOP && inner.payload == 0) {
        f.fits = s.held || outer.is_payload();
        s.held = false;
    } else if (inner.kind == STOP && inner.lo() == 0 && !s.held) {
        // An empty fiber, the last of its list: its outer payload comes first.
        f.fits = outer.is_payload();
        f.take = false;
        s.payload = outer;
        s.held = true;
    } else if (inner.kind == STOP && inner.lo() == 0) {
        f.fits = outer.is_stop(0, inner.hi() - 1);
        s.held = false;
    } else if (inner.kind == STOP) {
        f.fits = !s.held && outer.is_stop(inner.lo() - 1, inner.hi() - 1);
    } else {
        f.fits = !s.held && inner.kind == DONE && outer.kind == DONE;
    }
    return f;
}

} // namespace samhw

#endif
