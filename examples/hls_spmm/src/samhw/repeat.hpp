// repeat: repeats an outer reference or value once for each coordinate of the inner fiber.
#ifndef SAMHW_REPEAT_HPP
#define SAMHW_REPEAT_HPP

#include "hold.hpp"

namespace samhw {

template <unsigned NODE, typename T>
void repeat(stream<T> &ref, stream<index_t> &crd, stream<T> &out) {
#pragma HLS INLINE off
    error_code error = 0;
    hold_state<T> state = {token<T>(), false};
    token<T> outer;
    token<index_t> inner;
    bool next = true, running = true, fits = true;
    while (running) {
#pragma HLS PIPELINE II=1 style=flp
        if (next)
            inner = crd.read();
        if (hold_looks(state, inner))
            outer = ref.read();
        const hold_firing f = hold(state, outer, inner);
        next = f.take;
        fits = f.fits;
        running = fits && inner.kind != DONE;
        if (f.fits && f.payload) {
            out.write(state.payload);
        } else if (f.fits && f.take && inner.kind == STOP) {
            out.write(token<T>::stop(inner.lo(), inner.hi()));
        }
    }
    error = fits ? first(first(outer.error(), inner.error()), error) : mismatch<NODE>(outer, inner);
    out.write(token<T>::done(error));
    while (!(drained(ref, outer) & drained(crd, inner))) {
    }
}

} // namespace samhw

#endif
