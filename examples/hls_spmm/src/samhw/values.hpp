// Value types and their words: the bit patterns that memories and tokens carry.
#ifndef SAMHW_VALUES_HPP
#define SAMHW_VALUES_HPP

#include <cstring>

#include "ap_fixed.h"
#include "ap_int.h"

namespace samhw {

/// Coordinates and references.
typedef ap_uint<32> index_t;

/// W bits, F of them after the point; rounds to nearest even and saturates.
template <int W, int F>
using fixed = ap_fixed<W, W - F, AP_RND_CONV, AP_SAT>;

/// bfloat16 by its word; the operations are in float.hpp.
struct bf16 {
    ap_uint<16> word;
};

/// Floating point with subnormals, of E bits for the exponent and M for the mantissa, by its word.
template <int E, int M>
struct small {
    ap_uint<1 + E + M> word;
};

/// The memory word of a given width: the next of 8, 16 and 32 bits, so that ports need no packing.
template <int W>
struct memory_word {
    static const int above_byte = W <= 16 ? 16 : 32;
    typedef ap_uint<(W <= 8 ? 8 : above_byte)> type;
};

/// What is known of a value type: its width, and the way to its word and back.
template <typename T>
struct traits;

template <int W>
struct traits<ap_uint<W>> {
    static const int width = W;
    static const int fraction = 0;
    typedef typename memory_word<W>::type memory;
    static ap_uint<W> to_word(const ap_uint<W> &x) { return x; }
    static ap_uint<W> from_word(const ap_uint<W> &word) { return word; }
};

template <int W>
struct traits<ap_int<W>> {
    static const int width = W;
    static const int fraction = 0;
    typedef typename memory_word<W>::type memory;
    static ap_uint<W> to_word(const ap_int<W> &x) { return x; }
    static ap_int<W> from_word(const ap_uint<W> &word) { return word; }
};

template <int W, int I>
struct traits<ap_fixed<W, I, AP_RND_CONV, AP_SAT>> {
    typedef ap_fixed<W, I, AP_RND_CONV, AP_SAT> type;
    static const int width = W;
    static const int fraction = W - I;
    typedef typename memory_word<W>::type memory;
    static ap_uint<W> to_word(const type &x) {
        type copy = x;
        return copy.range(W - 1, 0);
    }
    static type from_word(const ap_uint<W> &word) {
        type x;
        x.range(W - 1, 0) = word;
        return x;
    }
};

template <int E, int M>
struct traits<small<E, M>> {
    static const int width = 1 + E + M;
    static const int mantissa = 2 * M + 3; // Of the format in which sums and products are exact, but for one rounding.
    typedef ap_uint<width> memory;
    static ap_uint<width> to_word(const small<E, M> &x) { return x.word; }
    static small<E, M> from_word(const ap_uint<width> &word) {
        small<E, M> x;
        x.word = word;
        return x;
    }
};

template <>
struct traits<bf16> {
    static const int width = 16;
    static const int mantissa = 7;
    typedef ap_uint<16> memory;
    static ap_uint<16> to_word(const bf16 &x) { return x.word; }
    static bf16 from_word(const ap_uint<16> &word) {
        bf16 x;
        x.word = word;
        return x;
    }
};

template <>
struct traits<float> {
    static const int width = 32;
    static const int mantissa = 23;
    typedef ap_uint<32> memory;
    static ap_uint<32> to_word(float x) {
        unsigned word;
        std::memcpy(&word, &x, sizeof word);
        return word;
    }
    static float from_word(const ap_uint<32> &word) {
        const unsigned plain = word.to_uint();
        float x;
        std::memcpy(&x, &plain, sizeof x);
        return x;
    }
};

} // namespace samhw

#endif
