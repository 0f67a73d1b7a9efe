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

/// Only the words that the run has written: the others are the host's.
template <unsigned WORDS, typename W>
void store(const W from[WORDS], W *to, unsigned count) {
#pragma HLS INLINE off
    for (unsigned n = 0; n < count; ++n) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=WORDS
#pragma HLS PIPELINE II=1
        to[n] = from[n];
    }
}

} // namespace samhw

#endif
