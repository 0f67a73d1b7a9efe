// ap_int and ap_uint as the analysis sees them: integers of exactly this many bits, which Clang calls _BitInt. Only what
// the HLS library uses of them.
#ifndef AP_INT_H
#define AP_INT_H

#include <cstddef>
#include <type_traits>

#define AP_OPERATOR static inline __attribute__((always_inline))

template <int W, bool S>
struct ap_raw {
    typedef unsigned _BitInt(W) type;
};
template <int W>
struct ap_raw<W, true> {
    typedef signed _BitInt(W < 2 ? 2 : W) type;
};

template <int W, bool S>
struct ap_bits;

/// A bit that can be written.
template <int W, bool S>
struct ap_bit {
    ap_bits<W, S> &of;
    int at;
    typedef typename ap_raw<W, false>::type plain;
    operator bool() const { return (plain(of.v) >> at) & 1; }
    ap_bit &operator=(bool bit) {
        of.v = (plain(of.v) & ~(plain(1) << at)) | (plain(bit) << at);
        return *this;
    }
};

/// All bits, as `range` gives them.
template <int W, bool S>
struct ap_all {
    ap_bits<W, S> &of;
    template <int V, bool R>
    ap_all &operator=(const ap_bits<V, R> &word) {
        of.v = word.v;
        return *this;
    }
};

template <int W, bool S>
struct ap_bits {
    static const int width = W;
    typename ap_raw<W, S>::type v;

    ap_bits() {}
    constexpr ap_bits(typename ap_raw<W, S>::type value, std::nullptr_t) : v(value) {}
    // No plain copies, which would lay the members of a token into one word.
    constexpr ap_bits(const ap_bits &other) : v(other.v) {}
    ap_bits &operator=(const ap_bits &other) {
        v = other.v;
        return *this;
    }

    ap_bit<W, S> operator[](int at) { return {*this, at}; }
    bool operator[](int at) const { return (typename ap_raw<W, false>::type(v) >> at) & 1; }
    ap_all<W, S> range(int, int) { return {*this}; }
    operator std::conditional_t<S, long, unsigned long>() const { return v; }
    unsigned to_uint() const { return v; }
    int to_int() const { return v; }
    unsigned long to_uint64() const { return v; }
    int countLeadingZeros() const { return v == 0 ? W : __builtin_clzg(typename ap_raw<W, false>::type(v)); }
};

template <int W>
struct ap_uint;

#define AP_CLASS(name, S)                                                                                              \
    template <int W>                                                                                                   \
    struct name : ap_bits<W, S> {                                                                                      \
        typedef typename ap_raw<W, S>::type raw;                                                                       \
        name() {}                                                                                                      \
        template <typename T, typename = std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>>>                 \
        constexpr name(T x) : ap_bits<W, S>(raw(x), nullptr) {}                                                        \
        template <int V, bool R>                                                                                       \
        constexpr name(const ap_bits<V, R> &x) : ap_bits<W, S>(raw(x.v), nullptr) {}                                   \
        template <int V, bool R>                                                                                       \
        name(const ap_all<V, R> &x) : ap_bits<W, S>(raw(typename ap_raw<V, false>::type(x.of.v)), nullptr) {}          \
        template <typename T>                                                                                          \
        name &operator+=(const T &x) {                                                                                 \
            return *this = *this + x;                                                                                  \
        }                                                                                                              \
        template <typename T>                                                                                          \
        name &operator-=(const T &x) {                                                                                 \
            return *this = *this - x;                                                                                  \
        }                                                                                                              \
        template <typename T>                                                                                          \
        name &operator<<=(const T &x) {                                                                                \
            return *this = *this << x;                                                                                 \
        }                                                                                                              \
        template <typename T>                                                                                          \
        name &operator>>=(const T &x) {                                                                                \
            return *this = *this >> x;                                                                                 \
        }                                                                                                              \
        template <typename T>                                                                                          \
        name &operator|=(const T &x) {                                                                                 \
            return *this = *this | x;                                                                                  \
        }                                                                                                              \
        template <typename T>                                                                                          \
        name &operator&=(const T &x) {                                                                                 \
            return *this = *this & x;                                                                                  \
        }                                                                                                              \
        name &operator++() { return *this = *this + 1; }                                                               \
        name operator++(int) {                                                                                         \
            const name before = *this;                                                                                 \
            ++*this;                                                                                                   \
            return before;                                                                                             \
        }                                                                                                              \
        name &operator--() { return *this = *this - 1; }                                                               \
    };

AP_CLASS(ap_int, true)
AP_CLASS(ap_uint, false)

template <int W, bool S>
using ap_value = std::conditional_t<S, ap_int<W>, ap_uint<W>>;

/// Numbers of C as what they are beside others.
template <typename T>
using ap_number = ap_value<std::is_same_v<T, bool> ? 1 : int(8 * sizeof(T)), std::is_signed_v<T>>;
template <typename T>
using ap_if_number = std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>>;

constexpr int ap_larger(int a, int b) { return a > b ? a : b; }

/// Widths: in bits that hold both operands, signed if either is.
#define AP_BOTH(W, S, V, R) ap_larger(W + (R && !S), V + (S && !R))

#define AP_MIXED(op)                                                                                                   \
    template <int W, bool S, typename T, typename = ap_if_number<T>>                                                   \
    AP_OPERATOR auto operator op(const ap_bits<W, S> &a, T b) {                                                        \
        return a op ap_number<T>(b);                                                                                   \
    }                                                                                                                  \
    template <int W, bool S, typename T, typename = ap_if_number<T>>                                                   \
    AP_OPERATOR auto operator op(T a, const ap_bits<W, S> &b) {                                                        \
        return ap_number<T>(a) op b;                                                                                   \
    }

#define AP_BINARY(op, WIDTH, SIGN)                                                                                     \
    template <int W, bool S, int V, bool R>                                                                            \
    AP_OPERATOR auto operator op(const ap_bits<W, S> &a, const ap_bits<V, R> &b) {                                     \
        typedef ap_value<(WIDTH), (SIGN)> result;                                                                      \
        result c;                                                                                                      \
        c.v = typename result::raw(a.v) op typename result::raw(b.v);                                                  \
        return c;                                                                                                      \
    }                                                                                                                  \
    AP_MIXED(op)

AP_BINARY(+, AP_BOTH(W, S, V, R) + 1, S || R)
AP_BINARY(-, AP_BOTH(W, S, V, R) + 1, true)
AP_BINARY(*, W + V, S || R)
AP_BINARY(/, W + R, S || R)
AP_BINARY(%, AP_BOTH(W, S, V, R), S)
AP_BINARY(&, AP_BOTH(W, S, V, R), S || R)
AP_BINARY(|, AP_BOTH(W, S, V, R), S || R)
AP_BINARY(^, AP_BOTH(W, S, V, R), S || R)

#define AP_COMPARISON(op)                                                                                              \
    template <int W, bool S, int V, bool R>                                                                            \
    AP_OPERATOR bool operator op(const ap_bits<W, S> &a, const ap_bits<V, R> &b) {                                     \
        typedef typename ap_value<AP_BOTH(W, S, V, R), S || R>::raw both;                                              \
        return both(a.v) op both(b.v);                                                                                 \
    }                                                                                                                  \
    AP_MIXED(op)

AP_COMPARISON(==)
AP_COMPARISON(!=)
AP_COMPARISON(<)
AP_COMPARISON(<=)
AP_COMPARISON(>)
AP_COMPARISON(>=)

/// A shift keeps the width; all bits may go.
template <int W, bool S, typename T, typename = ap_if_number<T>>
AP_OPERATOR ap_value<W, S> operator<<(const ap_bits<W, S> &a, T bits) {
    const unsigned by = bits;
    ap_value<W, S> c;
    c.v = by < W ? typename ap_raw<W, S>::type(a.v << by) : typename ap_raw<W, S>::type(0);
    return c;
}
template <int W, bool S, typename T, typename = ap_if_number<T>>
AP_OPERATOR ap_value<W, S> operator>>(const ap_bits<W, S> &a, T bits) {
    const unsigned by = bits;
    ap_value<W, S> c;
    c.v = a.v >> (by < W ? by : W - 1);
    if (by >= W && !S)
        c.v = 0;
    return c;
}
template <int W, bool S, int V, bool R>
AP_OPERATOR ap_value<W, S> operator<<(const ap_bits<W, S> &a, const ap_bits<V, R> &by) {
    return a << by.to_uint();
}
template <int W, bool S, int V, bool R>
AP_OPERATOR ap_value<W, S> operator>>(const ap_bits<W, S> &a, const ap_bits<V, R> &by) {
    return a >> by.to_uint();
}

template <int W, bool S>
AP_OPERATOR ap_value<W, S> operator~(const ap_bits<W, S> &a) {
    ap_value<W, S> c;
    c.v = ~a.v;
    return c;
}
template <int W, bool S>
AP_OPERATOR ap_int<W + 1> operator-(const ap_bits<W, S> &a) {
    ap_int<W + 1> c;
    c.v = -typename ap_int<W + 1>::raw(a.v);
    return c;
}
template <int W, bool S>
AP_OPERATOR bool operator!(const ap_bits<W, S> &a) {
    return a.v == 0;
}

/// (a, b): the bits of a above those of b.
template <int W, bool S, int V, bool R>
AP_OPERATOR ap_uint<W + V> operator,(const ap_bits<W, S> &a, const ap_bits<V, R> &b) {
    typedef typename ap_raw<W + V, false>::type both;
    ap_uint<W + V> c;
    c.v = (both(typename ap_raw<W, false>::type(a.v)) << V) | both(typename ap_raw<V, false>::type(b.v));
    return c;
}

#endif
