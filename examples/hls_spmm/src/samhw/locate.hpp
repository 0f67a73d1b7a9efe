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
    while (!state.over()) {
#pragma HLS PIPELINE II=1 style=flp
        const hold_firing f = state.step(ref, crd);
        if (f.payload) {
            if (state.inner.value() >= extent)
                error = first(error, fault<NODE>(CAUSE_RANGE));
            const T located = state.payload.value() * extent + state.inner.value();
            out.write(state.payload.kind == VAL ? token<T>::val(located) : state.payload);
        } else if (f.stop) {
            out.write(token<T>::stop(state.inner.lo(), state.inner.hi()));
        }
    }
    out.write(token<T>::done(state.template error<NODE>(error)));
    while (!(drained(ref, state.outer) & drained(crd, state.inner))) {
    }
}

} // namespace samhw

#endif
