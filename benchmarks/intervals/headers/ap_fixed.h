// ap_fixed as the analysis sees it: the word, with sums and products that round to nearest even and saturate.
#ifndef AP_FIXED_H
#define AP_FIXED_H

#include "ap_int.h"

enum ap_q_mode { AP_RND_CONV };
enum ap_o_mode { AP_SAT };

template <int W, int I, ap_q_mode Q, ap_o_mode O>
struct ap_fixed : ap_bits<W, true> {
    ap_fixed() {}
    ap_fixed(int whole) { *this = saturated(ap_int<32 + W>(whole) << (W - I)); }

    static ap_fixed word(const ap_int<W> &bits) {
        ap_fixed result;
        result.v = bits.v;
        return result;
    }
    template <int N>
    static ap_fixed saturated(const ap_int<N> &exact) {
        const ap_int<N> highest = (ap_int<N>(1) << (W - 1)) - 1, lowest = -highest - 1;
        return word(exact > highest ? highest : exact < lowest ? lowest : exact);
    }
};

#define AP_FIXED_TEMPLATE template <int W, int I, ap_q_mode Q, ap_o_mode O>
#define AP_FIXED const ap_fixed<W, I, Q, O> &

AP_FIXED_TEMPLATE AP_OPERATOR ap_fixed<W, I, Q, O> operator+(AP_FIXED a, AP_FIXED b) {
    return ap_fixed<W, I, Q, O>::saturated(ap_int<W + 1>(ap_int<W>(a) + ap_int<W>(b)));
}
AP_FIXED_TEMPLATE AP_OPERATOR ap_fixed<W, I, Q, O> operator-(AP_FIXED a, AP_FIXED b) {
    return ap_fixed<W, I, Q, O>::saturated(ap_int<W + 1>(ap_int<W>(a) - ap_int<W>(b)));
}
AP_FIXED_TEMPLATE AP_OPERATOR ap_fixed<W, I, Q, O> operator*(AP_FIXED a, AP_FIXED b) {
    const ap_int<2 * W> exact = ap_int<W>(a) * ap_int<W>(b);
    const int F = W - I;
    if (F == 0)
        return ap_fixed<W, I, Q, O>::saturated(exact);
    const ap_int<2 * W> half = ap_int<2 * W>(1) << (F - 1);
    const bool odd = exact[F];
    return ap_fixed<W, I, Q, O>::saturated(ap_int<2 * W>((exact + half - !odd) >> F));
}

#define AP_FIXED_COMPARISON(op)                                                                                        \
    AP_FIXED_TEMPLATE AP_OPERATOR bool operator op(AP_FIXED a, AP_FIXED b) { return a.v op b.v; }                      \
    AP_FIXED_TEMPLATE AP_OPERATOR bool operator op(AP_FIXED a, int b) { return a op ap_fixed<W, I, Q, O>(b); }

AP_FIXED_COMPARISON(==)
AP_FIXED_COMPARISON(!=)
AP_FIXED_COMPARISON(<)
AP_FIXED_COMPARISON(<=)
AP_FIXED_COMPARISON(>)
AP_FIXED_COMPARISON(>=)

#endif
