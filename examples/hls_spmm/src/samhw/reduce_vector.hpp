// reduce_vector, recur_vector: sums fibers coordinate by coordinate, over the index directly outside of the kept levels.
//
// A fiber is accumulated in a memory with an entry for every coordinate and then drained, in ascending order, into the
// streams `addr` and `sum`. These hold a whole fiber, so that the next can come while this one leaves.
#ifndef SAMHW_REDUCE_VECTOR_HPP
#define SAMHW_REDUCE_VECTOR_HPP

#include "operations.hpp"
#include "token.hpp"

namespace samhw {

/// The number of the lowest bit that is set, each of whose bits is an OR of half of the word.
inline ap_uint<5> lowest_bit(const ap_uint<32> &word) {
#pragma HLS INLINE
    const ap_uint<32> only = word & ~ap_uint<32>(word - 1);
    ap_uint<5> result = 0;
    result[0] = (only & 0xaaaaaaaau) != 0;
    result[1] = (only & 0xccccccccu) != 0;
    result[2] = (only & 0xf0f0f0f0u) != 0;
    result[3] = (only & 0xff00ff00u) != 0;
    result[4] = (only & 0xffff0000u) != 0;
    return result;
}

/// The lowest B bits, which may be none.
template <unsigned B>
unsigned below(const index_t &x) {
#pragma HLS INLINE
    return x.to_uint() & ((1u << B) - 1);
}

/// 1 kept level, of 2^B0 coordinates, innermost first. Two elements of one entry are added at least SPACING iterations
/// apart, so that the adder may take as many cycles.
template <unsigned NODE, typename OP, unsigned SPACING, unsigned B0, typename T>
void reduce_vector_accumulate(stream<index_t> &crd0, stream<T> &val, stream<index_t> &addr, stream<T> &sum) {
#pragma HLS INLINE off
    const unsigned A = B0;
    const unsigned K = A <= 5 ? 1 : (A + 4) / 5; // Levels of bitmaps.
    const unsigned WORDS = A <= 5 ? 1 : 1u << (A - 5);
    const unsigned FAR = SPACING + 2; // So many iterations later a sum is found in the memory.
    const unsigned NEAR = 3;          // And so many iterations later a word of a bitmap.
    T values[1u << A];
    // Bit a % 32 of word a / 32 in bitmap 0 says that entry a is there; each further bitmap sums up the one below.
    ap_uint<32> bitmap[K][WORDS];
#pragma HLS ARRAY_PARTITION variable=bitmap dim=1 complete
#pragma HLS BIND_STORAGE variable=bitmap type=ram_2p impl=lutram
    for (unsigned w = 0; w < WORDS; ++w) {
#pragma HLS PIPELINE II=1
        for (unsigned k = 0; k < K; ++k)
            bitmap[k][w] = 0;
    }
    error_code error = 0;
    token<index_t> c0;
    token<T> x;
    bool running = true, fits = true;
    while (running) {
        // The sums of the last iterations, the youngest first, and their entries; the memory has them only later.
        T sums[FAR];
        unsigned entries[FAR];
        bool valid[FAR];
        // The words of the bitmaps that the last iterations have written.
        ap_uint<32> marks[NEAR][K];
#pragma HLS ARRAY_PARTITION variable=sums complete
#pragma HLS ARRAY_PARTITION variable=entries complete
#pragma HLS ARRAY_PARTITION variable=valid complete
#pragma HLS ARRAY_PARTITION variable=marks complete dim=0
        for (unsigned k = 0; k < FAR; ++k) {
#pragma HLS UNROLL
            valid[k] = false;
        }
        bool next = true, flush = false;
        while (running && !flush) {
#pragma HLS PIPELINE II=1 style=flp
#pragma HLS DEPENDENCE variable=values type=inter direction=RAW distance=FAR dependent=true
#pragma HLS DEPENDENCE variable=bitmap type=inter direction=RAW distance=NEAR dependent=true
            if (next) {
                c0 = crd0.read();
                x = val.read();
            }
            const bool payloads = x.is_payload() && c0.is_payload();
            fits = payloads || (same_end(x, c0));
            running = fits && x.kind != DONE;
            next = true;
            bool adds = false;
            unsigned wanted = 0;
            T total = traits<T>::from_word(0);
            ap_uint<32> words[K];
#pragma HLS ARRAY_PARTITION variable=words complete
            if (running && payloads) {
                if (c0.payload >> B0 != 0)
                    error = first(error, fault<NODE>(CAUSE_RANGE));
                wanted = below<B0>(c0.payload);
                T old = values[wanted];
                for (unsigned k = FAR; k-- > SPACING - 1;) {
#pragma HLS UNROLL
                    if (valid[k] && entries[k] == wanted)
                        old = sums[k];
                }
                // A younger sum is still in the adder, and the element waits.
                for (unsigned k = 0; k + 1 < SPACING; ++k) {
#pragma HLS UNROLL
                    if (valid[k] && entries[k] == wanted)
                        next = false;
                }
                adds = next;
                for (unsigned k = 0; k < K; ++k) {
#pragma HLS UNROLL
                    words[k] = bitmap[k][wanted >> (5 * k + 5)];
                    for (unsigned age = NEAR; age-- > 0;) {
#pragma HLS UNROLL
                        if (valid[age] && entries[age] >> (5 * k + 5) == wanted >> (5 * k + 5))
                            words[k] = marks[age][k];
                    }
                }
                if (adds) {
                    const bool present = words[0][wanted & 31];
                    bool overflow = false;
                    total = OP::apply(old, x.value(), overflow);
                    if (!present)
                        total = x.value();
                    else if (overflow)
                        error = first(error, fault<NODE>(CAUSE_OVERFLOW));
                    values[wanted] = total;
                    for (unsigned k = 0; k < K; ++k) {
#pragma HLS UNROLL
                        words[k][(wanted >> (5 * k)) & 31] = true;
                        bitmap[k][wanted >> (5 * k + 5)] = words[k];
                    }
                }
            } else if (running && x.hi() >= 1) {
                flush = x.lo() <= 1;
                if (!flush) {
                    addr.write(token<index_t>::stop(x.lo(), x.hi()));
                    sum.write(token<T>::stop(x.lo(), x.hi()));
                }
            }
            for (unsigned k = FAR; --k > 0;) {
#pragma HLS UNROLL
                sums[k] = sums[k - 1];
                entries[k] = entries[k - 1];
                valid[k] = valid[k - 1];
            }
            for (unsigned k = 0; k < K; ++k) {
#pragma HLS UNROLL
                for (unsigned age = NEAR; --age > 0;) {
#pragma HLS UNROLL
                    marks[age][k] = marks[age - 1][k];
                }
                marks[0][k] = words[k];
            }
            sums[0] = total;
            entries[0] = wanted;
            valid[0] = adds;
        }
        if (flush) {
            // Down the bitmaps, from the one that sums up all: a step goes to the next set bit, or one bitmap up or down.
            unsigned level = K - 1;
            ap_uint<32> left[K];
            unsigned base[K];
#pragma HLS ARRAY_PARTITION variable=left complete
#pragma HLS ARRAY_PARTITION variable=base complete
            base[K - 1] = 0;
            left[K - 1] = bitmap[K - 1][0];
            bitmap[K - 1][0] = 0;
            while (level < K - 1 || left[K - 1] != 0) {
#pragma HLS PIPELINE II=1
                if (left[level] == 0) {
                    ++level;
                } else {
                    const ap_uint<5> bit = lowest_bit(left[level]);
                    const unsigned child = base[level] * 32 + bit.to_uint();
                    left[level][bit] = false;
                    if (level == 0) {
                        addr.write(token<index_t>::val(child));
                        sum.write(token<T>::val(values[child]));
                    } else {
                        --level;
                        base[level] = child;
                        left[level] = bitmap[level][child];
                        bitmap[level][child] = 0;
                    }
                }
            }
            addr.write(token<index_t>::stop(x.lo(), x.hi()));
            sum.write(token<T>::stop(x.lo(), x.hi()));
        }
    }
    const error_code above = first(c0.error(), x.error());
    error = first(above, fits ? error : fault<NODE>(CAUSE_PROTOCOL));
    addr.write(token<index_t>::done(error));
    sum.write(token<T>::done(error));
    while (!(drained(crd0, c0) & drained(val, x))) {
    }
}

/// From entries to coordinates.
template <unsigned B0, typename T>
void reduce_vector_emit(stream<index_t> &addr, stream<T> &sum, stream<index_t> &crd0, stream<T> &val) {
#pragma HLS INLINE off
    token<index_t> a;
    token<T> x;
    do {
#pragma HLS PIPELINE II=1 style=flp
        a = addr.read();
        x = sum.read();
        if (a.kind == VAL) {
            const index_t k0 = below<B0>(a.payload);
            crd0.write(token<index_t>::val(k0));
            val.write(x);
        } else if (a.kind == STOP && a.lo() <= 1) {
            crd0.write(token<index_t>::stop(0, a.hi() - 1));
            val.write(token<T>::stop(0, a.hi() - 1));
        } else if (a.kind == STOP) {
            crd0.write(token<index_t>::stop(a.lo() - 1, a.hi() - 1));
            val.write(token<T>::stop(a.lo() - 1, a.hi() - 1));
        } else {
            crd0.write(a);
            val.write(x);
        }
    } while (a.kind != DONE);
}

} // namespace samhw

#endif
