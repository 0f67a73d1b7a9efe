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

/// Whether an entry is one of the N from FROM on, by a tree.
template <unsigned FROM, unsigned N>
struct among {
    template <unsigned ALL>
    static bool has(const unsigned (&entries)[ALL], unsigned entry) {
#pragma HLS INLINE
        return among<FROM, N / 2>::has(entries, entry) | among<FROM + N / 2, N - N / 2>::has(entries, entry);
    }
};
template <unsigned FROM>
struct among<FROM, 1> {
    template <unsigned ALL>
    static bool has(const unsigned (&entries)[ALL], unsigned entry) { return entries[FROM] == entry; }
};
template <unsigned FROM>
struct among<FROM, 0> {
    template <unsigned ALL>
    static bool has(const unsigned (&)[ALL], unsigned) { return false; }
};

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
    const unsigned FAR = SPACING + 3; // This many iterations later a sum is found in the memory.
    const unsigned NEAR = 3;          // And this many iterations later a word of a bitmap.
    const unsigned AWAY = 3;          // This many steps of a drain a word of a bitmap is on its way.
    const unsigned ENTRIES = 1u << A;
    const unsigned NONE = 1u << (5 * K); // What an iteration without a sum has for its entry.
    SAMHW_MEMORY T values[ENTRIES];
    // Bit a % 32 of word a / 32 in bitmap 0 says that entry a is there; each further bitmap sums up the one below.
    SAMHW_MEMORY ap_uint<32> bitmap[K][WORDS];
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
    ending end;
    while (!end.over) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=most_tokens
        // The sums of the last iterations, the youngest first, and their entries; the memory has them only later.
        T sums[FAR];
        unsigned entries[FAR];
        // The element's entry, or with a STOP what none is.
        unsigned wanted = 0;
        // The words of the bitmaps that the last iterations have written.
        ap_uint<32> marks[NEAR][K];
#pragma HLS ARRAY_PARTITION variable=sums complete
#pragma HLS ARRAY_PARTITION variable=entries complete
#pragma HLS ARRAY_PARTITION variable=marks complete dim=0
        for (unsigned k = 0; k < FAR; ++k) {
#pragma HLS UNROLL
            entries[k] = NONE;
        }
        bool waits = false; // The last sum of the element's entry is still in the adder.
        bool last = false;  // The heads end a fiber, or the run.
        while (!last && !end.heard) {
#pragma HLS PIPELINE II=1 style=stp
#pragma HLS LOOP_TRIPCOUNT min=1 max=most_tokens
#pragma HLS DEPENDENCE variable=values type=inter direction=RAW distance=FAR dependent=true
#pragma HLS DEPENDENCE variable=bitmap type=inter direction=RAW distance=NEAR dependent=true
            if (!(ready(crd0, !waits) & ready(val, !waits)))
                continue;
            // Both branches look the entry up, so that nothing is chosen between a read and what decides about the next one.
            if (!waits) {
                c0 = crd0.read();
                x = val.read();
                last = ((x.hi() >= 1) & (x.kind == STOP)) | ((x.kind == DONE) | (c0.kind == DONE));
                wanted = below<B0>(c0.payload) | (c0.kind.to_uint() & 1) << (5 * K + 1);
                waits = among<0, SPACING - 1>::has(entries, wanted);
            } else {
                last = false;
                waits = among<0, SPACING - 1>::has(entries, wanted);
            }
            const bool payloads = x.is_payload() && c0.is_payload();
            const bool adds = payloads && !waits;
            T old = values[wanted & (ENTRIES - 1)];
            for (unsigned k = FAR; k-- > SPACING - 1;) {
#pragma HLS UNROLL
                if (entries[k] == wanted)
                    old = sums[k];
            }
            ap_uint<32> words[K];
#pragma HLS ARRAY_PARTITION variable=words complete
            for (unsigned k = 0; k < K; ++k) {
#pragma HLS UNROLL
                const unsigned place = wanted >> (5 * k + 5);
                words[k] = bitmap[k][place & (WORDS - 1)];
                for (unsigned age = NEAR; age-- > 0;) {
#pragma HLS UNROLL
                    if (entries[age] >> (5 * k + 5) == place)
                        words[k] = marks[age][k];
                }
            }
            const bool present = words[0][wanted & 31];
            bool overflow = false;
            const T joined = OP::apply(old, x.value(), overflow);
            const T total = present ? joined : x.value();
            if (adds) {
                values[wanted & (ENTRIES - 1)] = total;
                for (unsigned k = 0; k < K; ++k) {
#pragma HLS UNROLL
                    words[k][(wanted >> (5 * k)) & 31] = true;
                    bitmap[k][(wanted >> (5 * k + 5)) & (WORDS - 1)] = words[k];
                }
            }
            for (unsigned k = FAR; --k > 0;) {
#pragma HLS UNROLL
                sums[k] = sums[k - 1];
                entries[k] = entries[k - 1];
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
            entries[0] = adds ? wanted : NONE;
            if (payloads && (c0.payload >> B0 != 0))
                error = first(error, fault<NODE>(CAUSE_RANGE));
            else if (adds && present && overflow)
                error = first(error, fault<NODE>(CAUSE_OVERFLOW));
            const bool fits = payloads || (same_end(x, c0));
            const error_code above = first(c0.error(), x.error());
            end.goes_on(fits, x.kind == DONE, above);
        }
        if (!end.over) {
            // Down the bitmaps, from the one that sums up all: a step goes to the next set bit, or one bitmap up or down.
            unsigned level = K - 1;
            ap_uint<32> left[K];
            unsigned base[K];
            // The words that were read last, the youngest first: one is taken when AWAY further steps have passed.
            ap_uint<32> words[AWAY];
            ap_uint<2> pause = 0;
#pragma HLS ARRAY_PARTITION variable=left complete
#pragma HLS ARRAY_PARTITION variable=base complete
#pragma HLS ARRAY_PARTITION variable=words complete
            base[K - 1] = 0;
            left[K - 1] = bitmap[K - 1][0];
            bitmap[K - 1][0] = 0;
            while (level < K - 1 || left[K - 1] != 0) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=ENTRIES
                ap_uint<32> word = 0;
                if (pause != 0) {
                    pause = pause - 1;
                    if (pause == 0)
                        left[level] = words[AWAY - 1];
                } else if (left[level] == 0) {
                    ++level;
                } else {
                    const unsigned child = base[level] * 32 + lowest_bit(left[level]).to_uint();
                    left[level] = left[level] & (left[level] - 1);
                    if (level == 0) {
                        addr.write(token<index_t>::val(child));
                        sum.write(token<T>::val(values[child]));
                    } else {
                        --level;
                        base[level] = child;
                        word = bitmap[level][child];
                        bitmap[level][child] = 0;
                        pause = AWAY;
                    }
                }
                for (unsigned k = AWAY; --k > 0;) {
#pragma HLS UNROLL
                    words[k] = words[k - 1];
                }
                words[0] = word;
            }
            addr.write(token<index_t>::stop(x.lo(), x.hi()));
            sum.write(token<T>::stop(x.lo(), x.hi()));
        }
    }
    error = first(end.error, end.fits ? error : fault<NODE>(CAUSE_PROTOCOL));
    addr.write(token<index_t>::done(error));
    sum.write(token<T>::done(error));
    while (!(drained(crd0, c0) & drained(val, x))) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=most_tokens
    }
}

/// From entries to coordinates.
template <unsigned B0, typename T>
void reduce_vector_emit(stream<index_t> &addr, stream<T> &sum, stream<index_t> &crd0, stream<T> &val) {
#pragma HLS INLINE off
    token<index_t> a;
    token<T> x;
    while (true) {
#pragma HLS PIPELINE II=1 style=stp
#pragma HLS LOOP_TRIPCOUNT min=1 max=most_tokens
        if (!(ready(addr) & ready(sum)))
            continue;
        a = addr.read();
        x = sum.read();
        const index_t k0 = below<B0>(a.payload);
        if (a.kind == VAL) {
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
        if (a.kind == DONE)
            break;
    }
}

} // namespace samhw

#endif
