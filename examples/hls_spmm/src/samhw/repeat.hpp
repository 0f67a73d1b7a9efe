// repeat: repeats an outer reference or value once for each coordinate of the inner fiber.
#ifndef SAMHW_REPEAT_HPP
#define SAMHW_REPEAT_HPP

#include "hold.hpp"

namespace samhw {

template <unsigned NODE, typename T>
void repeat(stream<T> &ref, stream<index_t> &crd, stream<T> &out) {
#pragma HLS INLINE off
    hold<T> state;
    while (!state.end.heard) {
#pragma HLS PIPELINE II=1 style=stp
#pragma HLS LOOP_TRIPCOUNT min=1 max=most_tokens
        const hold_firing f = state.step(ref, crd);
        if (f.payload) {
            out.write(state.payload);
        } else if (f.stop) {
            out.write(token<T>::stop(f.inner.lo(), f.inner.hi()));
        }
    }
    out.write(token<T>::done(state.template error<NODE>(0)));
    while (!(drained(ref, state.next_outer.head) & drained(crd, state.next_inner.head))) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=most_tokens
    }
}

} // namespace samhw

#endif
