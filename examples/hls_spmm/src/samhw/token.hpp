// Tokens and the streams that carry them.
#ifndef SAMHW_TOKEN_HPP
#define SAMHW_TOKEN_HPP

#include "hls_stream.h"
#include "values.hpp"

// An array that becomes a memory. It may be larger than the stack on which C simulation would have it.
#ifdef __SYNTHESIS__
#define SAMHW_MEMORY
#else
#define SAMHW_MEMORY static
#endif

namespace samhw {

/// The 2-bit kind of a token. VAL and EMPTY are payloads; a STOP ends fibers; DONE comes once, last.
enum token_kind {
    VAL = 0,
    STOP = 1,
    EMPTY = 2,
    DONE = 3
};

/// Iterations of a loop, for the estimates of reports alone: as many as the largest memory has words.
static const unsigned most_tokens = 1024;

/// What went wrong first (the lowest four bits) and in which node (the bits above); 0 if nothing did.
typedef ap_uint<16> error_code;

enum cause {
    CAUSE_OVERFLOW = 1,
    CAUSE_CAPACITY = 2,
    CAUSE_PROTOCOL = 4,
    CAUSE_RANGE = 8
};

template <unsigned NODE>
error_code fault(cause why) {
    return NODE << 4 | why;
}

/// The error of the node that lies further up, if there are two.
inline error_code first(error_code upper, error_code lower) { return upper != 0 ? upper : lower; }

/// A kind beside a payload word. The payload is that of a value (VAL, with the word 0 for EMPTY), the levels
/// lo + 16 * hi that a STOP ends, or the error that a DONE carries to the end of the run.
template <typename T>
struct token {
    static const int width = traits<T>::width > 16 ? traits<T>::width : 16;

    ap_uint<2> kind;
    ap_uint<width> payload;

    token() : kind(VAL), payload(0) {}
    token(token_kind k, const ap_uint<width> &p) : kind(k), payload(p) {}

    static token val(const T &x) { return token(VAL, traits<T>::to_word(x)); }
    static token stop(ap_uint<4> lo, ap_uint<4> hi) { return token(STOP, (hi, lo)); }
    static token empty() { return token(EMPTY, 0); }
    static token done(error_code error) { return token(DONE, error); }

    bool is_payload() const { return kind == VAL || kind == EMPTY; }
    /// The value of a payload; EMPTY is zero.
    T value() const { return traits<T>::from_word(payload); }
    ap_uint<4> lo() const { return payload; }
    ap_uint<4> hi() const { return payload >> 4; }
    error_code error() const { return kind == DONE ? error_code(payload) : error_code(0); }
    /// Whether its coordinate is less than another one; every STOP and DONE is after all coordinates.
    bool before(const token &other) const {
        const ap_uint<width + 2> here = (kind, payload), there = (other.kind, other.payload);
        return here < there;
    }
    bool is_stop(ap_uint<4> l, ap_uint<4> h) const { return kind == STOP && lo() == l && hi() == h; }
};

/// Whether two tokens are the same STOP, or both DONE.
template <typename A, typename B>
bool same_end(const token<A> &a, const token<B> &b) {
    if (a.kind == STOP)
        return b.kind == STOP && a.lo() == b.lo() && a.hi() == b.hi();
    return a.kind == DONE && b.kind == DONE;
}

#ifdef SAMHW_CSIM
template <typename T>
class recorded_stream;
template <typename T>
using stream = recorded_stream<T>;
#else
template <typename T>
using stream = hls::stream<token<T>>;
#endif

} // namespace samhw

#ifdef SAMHW_CSIM
#include "csim.hpp"
#endif

namespace samhw {

/// The error for heads that the rule of a node does not cover: the one that an early DONE brings, or a new one.
template <unsigned NODE, typename A>
error_code mismatch(const token<A> &a) {
    return first(a.error(), fault<NODE>(CAUSE_PROTOCOL));
}

template <unsigned NODE, typename A, typename B>
error_code mismatch(const token<A> &a, const token<B> &b) {
    return first(a.error(), mismatch<NODE>(b));
}

/// The end of a node's loop: a DONE, or heads that its rule does not cover. The loop hears of it two iterations later, so
/// that no read has to wait for it. Nothing is written in these two, and no stream is read after its DONE.
struct ending {
    error_code error; // What the heads said that ended it.
    bool fits;        // Whether the rule covers these.
    bool over, late, heard;

    ending() : error(0), fits(true), over(false), late(false), heard(false) {}

    /// Whether the iteration counts and is not the last one. `above` is the error that its heads bring.
    bool goes_on(bool heads_fit, bool done, error_code above) {
#pragma HLS INLINE
        heard = late;
        late = over;
        if (!over) {
            fits = heads_fit;
            error = above;
        }
        over = over || !heads_fit || done;
        return !over;
    }
};

/// Whether a stream has a token, where one is needed. An iteration that finds none does nothing, so that its pipeline never
/// stops for want of a token and delivers what it has.
template <typename T>
bool ready(stream<T> &in, bool needed = true) {
#pragma HLS INLINE
#ifdef SAMHW_CSIM
    return !needed || in.has_come();
#else
    return (!needed) | (!in.empty());
#endif
}

template <typename T>
bool look_at(stream<T> &in, token<T> &head) {
#pragma HLS INLINE
#ifdef SAMHW_CSIM
    return in.look(head);
#else
    return in.read_nb(head);
#endif
}

/// C simulation records a token when it is needed and not when it is looked at.
template <typename T>
void note_taken(stream<T> &in) {
#pragma HLS INLINE
#ifdef SAMHW_CSIM
    in.note_taken();
#else
    (void)in;
#endif
}

/// A head that may come before it is known whether it is needed. A DONE stays.
template <typename T>
struct early_head {
    token<T> head;
    bool there, done;

    early_head() : there(false), done(false) {}

    void look(stream<T> &in) {
#pragma HLS INLINE
        if (!there) {
            there = look_at(in, head);
            done = there & (head.kind == DONE);
        }
    }
    token<T> take(stream<T> &in) {
#pragma HLS INLINE
        note_taken(in);
        return pass();
    }
    token<T> pass() {
#pragma HLS INLINE
        there = done;
        return head;
    }
};

/// Reads a token, unless the last one was DONE; says whether it was. A node that has failed empties its inputs
/// with it, so that the nodes above can end.
template <typename T>
bool drained(stream<T> &in, token<T> &head) {
#pragma HLS INLINE
    if (head.kind != DONE)
        in.read_nb(head);
    return head.kind == DONE;
}

} // namespace samhw

#endif
