// array: the values that references stand for. A missing reference (EMPTY) is zero.
#ifndef SAMHW_ARRAY_HPP
#define SAMHW_ARRAY_HPP

#include "token.hpp"

namespace samhw {

template <unsigned NODE, unsigned VALS, typename T>
void array(stream<index_t> &ref, stream<T> &val, const typename traits<T>::memory vals[VALS]) {
#pragma HLS INLINE off
    error_code error = 0;
    token<index_t> r;
    while (true) {
#pragma HLS PIPELINE II=1 style=stp
#pragma HLS LOOP_TRIPCOUNT min=1 max=most_tokens
        if (!ready(ref))
            continue;
        r = ref.read();
        if (r.kind == VAL) {
            if (r.payload >= VALS)
                error = first(error, fault<NODE>(CAUSE_RANGE));
            val.write(token<T>(VAL, vals[r.payload < VALS ? r.payload.to_uint() : 0]));
        } else if (r.kind == EMPTY) {
            val.write(token<T>(VAL, 0));
        } else if (r.kind == STOP) {
            val.write(token<T>::stop(r.lo(), r.hi()));
        } else {
            val.write(token<T>::done(first(r.error(), error)));
        }
        if (r.kind == DONE)
            break;
    }
}

} // namespace samhw

#endif
