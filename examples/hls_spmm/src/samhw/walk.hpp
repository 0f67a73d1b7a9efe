// Walking a fiber: what the level scanners share.
#ifndef SAMHW_WALK_HPP
#define SAMHW_WALK_HPP

#include "token.hpp"

namespace samhw {

/// Where a walk stands: the next coordinate, and whether a fiber has been enumerated whose stop is still owed.
struct walk_state {
    index_t c;
    bool open;
};

/// What a walk does next with the token at the head of its input.
struct walk_firing {
    bool take;  // The head is used up.
    bool point; // Push coordinate number c.
    bool stop;  // Push STOP(lo, hi).
    index_t c;
    ap_uint<4> lo, hi;
};

/// The firing for a head that stands for a fiber of n coordinates, or for a STOP or DONE.
template <typename T>
walk_firing walk(walk_state &s, const token<T> &head, index_t n) {
#pragma HLS INLINE
    walk_firing f = {true, false, false, s.c, 0, 0};
    if (head.is_payload() && s.open && s.c == 0) {
        f.take = n == 0;
        f.stop = true;
        s.open = n == 0;
    } else if (head.is_payload() && n == 0) {
        s.open = true;
    } else if (head.is_payload()) {
        f.take = s.c == n - 1;
        f.point = true;
        s.c = f.take ? index_t(0) : index_t(s.c + 1);
        s.open = f.take;
    } else if (head.kind == STOP) {
        f.stop = true;
        const ap_uint<4> bare = s.open ? 0 : 1; // A list without fibers ends with lo = 1.
        f.lo = head.lo() != 0 ? ap_uint<4>(head.lo() + 1) : bare;
        f.hi = head.hi() + 1;
        s.open = false;
    } else if (s.open) { // DONE, but a stop is owed.
        f.take = false;
        f.stop = true;
        s.open = false;
    }
    return f;
}

} // namespace samhw

#endif
