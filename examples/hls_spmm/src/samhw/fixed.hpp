// Operations of integers and fixed point. A result out of range saturates in fixed point; in an integer it sets
// `overflow`, and what is returned does not matter.
#ifndef SAMHW_FIXED_HPP
#define SAMHW_FIXED_HPP

#include "values.hpp"

namespace samhw {

/// An exact integer as an ap_int<W>, or an overflow.
template <int W, int N>
ap_int<W> fit(const ap_int<N> &exact, bool &overflow) {
#pragma HLS INLINE
    const ap_int<W> cut = exact;
    overflow |= cut != exact;
    return cut;
}

/// An exact word of any width as a number of type T: saturated, or an overflow.
template <int W, int N>
void finish(const ap_int<N> &exact, ap_int<W> &result, bool &overflow) {
#pragma HLS INLINE
    result = fit<W>(exact, overflow);
}

template <int W, int I, int N>
void finish(const ap_int<N> &exact, ap_fixed<W, I, AP_RND_CONV, AP_SAT> &result, bool &) {
#pragma HLS INLINE
    const ap_int<N> highest = (ap_int<N>(1) << (W - 1)) - 1;
    const ap_int<N> lowest = -highest - 1;
    ap_int<N> nearest = exact > highest ? highest : exact;
    nearest = nearest < lowest ? lowest : nearest;
    const ap_uint<W> word = nearest;
    result = traits<ap_fixed<W, I, AP_RND_CONV, AP_SAT>>::from_word(word);
}

template <int W, int N>
void finish(const ap_int<N> &exact, ap_uint<W> &result, bool &overflow) {
#pragma HLS INLINE
    result = exact;
    overflow |= ap_int<N + 1>(result) != exact;
}

/// The word of a number, signed.
template <typename T>
ap_int<traits<T>::width> signed_word(const T &x) {
    return traits<T>::to_word(x);
}
template <int W>
ap_int<W + 1> signed_word(const ap_uint<W> &x) {
    return x;
}

/// The ends of the range of an integer.
template <typename T>
long long greatest() {
    return (1LL << (traits<T>::width - (T(-1) < 0))) - 1;
}
template <typename T>
long long least() {
    return T(-1) < 0 ? -greatest<T>() - 1 : 0;
}

/// One, or the greatest number where that is below one.
template <typename T>
T one() {
    const int fraction = traits<T>::fraction, width = traits<T>::width;
    return traits<T>::from_word(fraction < width - 1 ? 1u << fraction : (1u << (width - 1)) - 1);
}

/// What integers and fixed point have in common.
template <typename T>
struct fixed_operations {
    static const int width = traits<T>::width;

    static T truth(bool holds) { return holds ? one<T>() : T(0); }
    static T max(const T &a, const T &b, bool &) { return a >= b ? a : b; }
    static T min(const T &a, const T &b, bool &) { return a <= b ? a : b; }
    static T abs(const T &a, bool &overflow) {
        T result;
        const ap_int<width + 1> x = signed_word(a);
        finish<width>(x < 0 ? ap_int<width + 1>(-x) : x, result, overflow);
        return result;
    }
    static T lt(const T &a, const T &b, bool &) { return truth(a < b); }
    static T le(const T &a, const T &b, bool &) { return truth(a <= b); }
    static T eq(const T &a, const T &b, bool &) { return truth(a == b); }
    static T select(const T &c, const T &a, const T &b, bool &) { return c != 0 ? a : b; }
    static T relu(const T &a, bool &) { return a < 0 ? T(0) : a; }
    static bool is_zero(const T &a) { return a == 0; }
    static bool is_nan(const T &) { return false; }
    /// An integer that orders values.
    typedef ap_int<width + 1> order;
    static order ordered(const T &a) { return signed_word(a); }
};

template <typename T>
struct operations;

template <int W>
struct operations<ap_int<W>> : fixed_operations<ap_int<W>> {
    typedef ap_int<W> type;
    static type add(const type &a, const type &b, bool &overflow) { return fit<W, W + 1>(a + b, overflow); }
    static type sub(const type &a, const type &b, bool &overflow) { return fit<W, W + 1>(a - b, overflow); }
    static type mul(const type &a, const type &b, bool &overflow) { return fit<W, 2 * W>(a * b, overflow); }
    static type neg(const type &a, bool &overflow) { return fit<W, W + 1>(-ap_int<W + 1>(a), overflow); }
    static type leaky_relu(const type &a, const type &slope, bool &overflow) {
        return a < 0 ? mul(a, slope, overflow) : a;
    }
};

template <int W>
struct operations<ap_uint<W>> : fixed_operations<ap_uint<W>> {
    typedef ap_uint<W> type;
    /// An exact result, or an overflow.
    static type fitted(const ap_int<2 * W + 1> &exact, bool &overflow) {
        type result;
        finish(exact, result, overflow);
        return result;
    }
    static type add(const type &a, const type &b, bool &overflow) { return fitted(a + b, overflow); }
    static type sub(const type &a, const type &b, bool &overflow) { return fitted(a - b, overflow); }
    static type mul(const type &a, const type &b, bool &overflow) { return fitted(a * b, overflow); }
    static type neg(const type &a, bool &overflow) { return fitted(-signed_word(a), overflow); }
    static type leaky_relu(const type &a, const type &, bool &) { return a; }
};

template <int W, int I>
struct operations<ap_fixed<W, I, AP_RND_CONV, AP_SAT>> : fixed_operations<ap_fixed<W, I, AP_RND_CONV, AP_SAT>> {
    typedef ap_fixed<W, I, AP_RND_CONV, AP_SAT> type;
    static type add(const type &a, const type &b, bool &) { return a + b; }
    static type sub(const type &a, const type &b, bool &) { return a - b; }
    static type mul(const type &a, const type &b, bool &) { return a * b; }
    static type neg(const type &a, bool &) { return type(0) - a; }
    static type leaky_relu(const type &a, const type &slope, bool &overflow) {
        return a < 0 ? mul(a, slope, overflow) : a;
    }

    /// Rounded to nearest even; a number by zero saturates, zero by anything is zero.
    static type div(const type &a, const type &b, bool &overflow) {
        const int N = 2 * W - I + 2;
        const ap_int<W + 1> x = signed_word(a), y = signed_word(b);
        const bool negative = (x < 0) != (y < 0);
        const ap_int<W + 1> positive = y < 0 ? ap_int<W + 1>(-y) : y;
        const ap_uint<W + 1> divisor = y == 0 ? ap_int<W + 1>(1) : positive;
        const ap_uint<N> dividend = ap_uint<N>(x < 0 ? ap_int<W + 1>(-x) : x) << (W - I);
        const ap_uint<N> quotient = dividend / divisor;
        const ap_uint<N> twice_rest = (dividend - quotient * divisor) << 1;
        const bool up = twice_rest > divisor || (twice_rest == divisor && quotient[0]);
        const ap_int<N + 1> magnitude = y == 0 && x != 0 ? ap_int<N + 1>(1) << W : ap_int<N + 1>(quotient + up);
        type result;
        finish<W, I>(negative ? ap_int<N + 1>(-magnitude) : magnitude, result, overflow);
        return result;
    }
};

} // namespace samhw

#endif
