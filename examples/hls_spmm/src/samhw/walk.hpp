// Walking a fiber: what the level scanners share.
#ifndef SAMHW_WALK_HPP
#define SAMHW_WALK_HPP

#include "token.hpp"

namespace samhw {

/// Where a walk stands: the next coordinate, whether a fiber has been enumerated whose stop is still owed, and whether
/// the head stays for a further firing.
struct walk_state {
    index_t c;
    bool open, waits;
};

/// What a walk does next with the token at the head of its input.
struct walk_firing {
    bool point; // Push coordinate number c.
    bool stop;  // Push STOP(lo, hi).
    bool done;  // Push DONE.
    index_t c;
    ap_uint<4> lo, hi;
};

/// The number of the last coordinate of a fiber of n, or EMPTY if it has none. So that a walk need only compare.
inline token<index_t> last_of(index_t n) {
#pragma HLS INLINE
    return n == 0 ? token<index_t>::empty() : token<index_t>::val(n - 1);
}

/// The firing for a head that stands for a fiber up to the coordinate number `last`, or for a STOP or DONE.
template <typename T>
walk_firing walk(walk_state &s, const token<T> &head, const token<index_t> &last) {
#pragma HLS INLINE
    const bool some = (head.kind == VAL) & (last.kind == VAL), done = head.kind == DONE;
    const bool owed = s.open & (some | done);
    const bool more = some & (s.c != last.payload);
    walk_firing f = {some && !s.open, owed, done && !s.open, s.c, 0, 0};
    if (head.is_payload()) {
        f.stop = s.open;
        s.c = f.point && more ? index_t(s.c + 1) : index_t(0);
    } else if (head.kind == STOP) {
        f.stop = true;
        const ap_uint<4> bare = s.open ? 0 : 1; // A list without fibers ends with lo = 1.
        f.lo = head.lo() != 0 ? ap_uint<4>(head.lo() + 1) : bare;
        f.hi = head.hi() + 1;
    }
    s.waits = owed | more;
    s.open = head.is_payload() && (some ? f.point && !more : true);
    return f;
}

} // namespace samhw

#endif
