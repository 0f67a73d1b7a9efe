// Fan-out: every stream has one writer and one reader, so an output with several consumers is copied.
#ifndef SAMHW_FANOUT_HPP
#define SAMHW_FANOUT_HPP

#include "token.hpp"

namespace samhw {

/// Reads and forgets: the consumer of an output that nothing uses.
template <typename T>
void discard(stream<T> &in) {
#pragma HLS INLINE off
    token<T> t;
    while (true) {
#pragma HLS PIPELINE II=1 style=stp
#pragma HLS LOOP_TRIPCOUNT min=1 max=most_tokens
        if (!ready(in))
            continue;
        t = in.read();
        if (t.kind == DONE)
            break;
    }
}

/// One stream to 2 consumers.
template <typename T>
void copy(stream<T> &in, stream<T> &out0, stream<T> &out1) {
#pragma HLS INLINE off
    token<T> t;
    while (true) {
#pragma HLS PIPELINE II=1 style=stp
#pragma HLS LOOP_TRIPCOUNT min=1 max=most_tokens
        if (!ready(in))
            continue;
        t = in.read();
        out0.write(t);
        out1.write(t);
        if (t.kind == DONE)
            break;
    }
}

} // namespace samhw

#endif
