// Copies between the host's memory and arrays on the chip, in bursts.
#ifndef SAMHW_MEMORY_HPP
#define SAMHW_MEMORY_HPP

namespace samhw {

template <unsigned WORDS, typename W>
void load(const W *from, W to[WORDS]) {
#pragma HLS INLINE off
    for (unsigned n = 0; n < WORDS; ++n) {
#pragma HLS PIPELINE II=1
        to[n] = from[n];
    }
}

/// Only words that the run has written, from `begin` on and before `end`: the others are the host's.
template <unsigned WORDS, typename W>
void store(const W from[WORDS], W *to, unsigned begin, unsigned end) {
#pragma HLS INLINE off
    for (unsigned n = begin; n < end; ++n) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=WORDS
#pragma HLS PIPELINE II=1
        to[n] = from[n];
    }
}

} // namespace samhw

#endif
