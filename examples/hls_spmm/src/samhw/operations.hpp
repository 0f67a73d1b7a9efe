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

} // namespace samhw

#endif
