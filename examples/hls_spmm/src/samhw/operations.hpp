// The operations of the value types of this design, and what reductions do with two of their values.
#ifndef SAMHW_OPERATIONS_HPP
#define SAMHW_OPERATIONS_HPP

#include "fixed.hpp"

namespace samhw {

struct sum {
    template <typename T>
    static T apply(const T &a, const T &b, bool &overflow) { return operations<T>::add(a, b, overflow); }
};

struct prod {
    template <typename T>
    static T apply(const T &a, const T &b, bool &overflow) { return operations<T>::mul(a, b, overflow); }
};

struct max {
    template <typename T>
    static T apply(const T &a, const T &b, bool &overflow) { return operations<T>::max(a, b, overflow); }
};

struct min {
    template <typename T>
    static T apply(const T &a, const T &b, bool &overflow) { return operations<T>::min(a, b, overflow); }
};

/// h * r + x.
template <typename T>
T rescaled(const T &h, const T &r, const T &x, bool &overflow) {
#pragma HLS INLINE
    bool product_overflow = false, sum_overflow = false;
    const T product = operations<T>::mul(h, r, product_overflow);
    const T sum = operations<T>::add(product, x, sum_overflow);
    overflow = product_overflow || sum_overflow;
    return sum;
}

} // namespace samhw

#endif
