// locate: the reference of a coordinate in a dense level, without scanning it.
#ifndef SAMHW_LOCATE_HPP
#define SAMHW_LOCATE_HPP

#include "hold.hpp"

namespace samhw {

template <unsigned NODE, typename T>
void locate(stream<T> &ref, stream<index_t> &crd, stream<T> &out, index_t extent) {
#pragma HLS INLINE off
    error_code error = 0;
    hold<T> state;
    while (!state.end.heard) {
#pragma HLS PIPELINE II=1 style=stp
#pragma HLS LOOP_TRIPCOUNT min=1 max=most_tokens
        const hold_firing f = state.step(ref, crd);
        if (f.payload) {
            if (f.inner.value() >= extent)
                error = first(error, fault<NODE>(CAUSE_RANGE));
            const T located = state.payload.value() * extent + f.inner.value();
            out.write(state.payload.kind == VAL ? token<T>::val(located) : state.payload);
        } else if (f.stop) {
            out.write(token<T>::stop(f.inner.lo(), f.inner.hi()));
        }
    }
    out.write(token<T>::done(state.template error<NODE>(error)));
    while (!(drained(ref, state.next_outer.head) & drained(crd, state.next_inner.head))) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=most_tokens
    }
}

} // namespace samhw

#endif
