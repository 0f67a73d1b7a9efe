// write_val: the value writer.
#ifndef SAMHW_WRITE_VAL_HPP
#define SAMHW_WRITE_VAL_HPP

#include "token.hpp"

namespace samhw {

/// `entries` is the number of words written.
template <unsigned NODE, unsigned VALS, typename T>
void write_val(stream<T> &val, typename traits<T>::memory vals[VALS], unsigned &entries, error_code &error) {
#pragma HLS INLINE off
    error_code mine = 0;
    unsigned n = 0;
    token<T> x;
    while (true) {
#pragma HLS PIPELINE II=1 style=stp
#pragma HLS LOOP_TRIPCOUNT min=1 max=most_tokens
        if (!ready(val))
            continue;
        x = val.read();
        if (x.is_payload() && n < VALS) {
            vals[n++] = traits<T>::to_word(x.value());
        } else if (x.is_payload()) {
            mine = first(mine, fault<NODE>(CAUSE_CAPACITY));
        }
        if (x.kind == DONE)
            break;
    }
    entries = n;
    error = first(x.error(), mine);
}

} // namespace samhw

#endif
