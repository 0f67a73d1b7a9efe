// alu: an operation on the payloads of one to three streams.
#ifndef SAMHW_ALU_HPP
#define SAMHW_ALU_HPP

#include "operations.hpp"
#include "token.hpp"

namespace samhw {

struct mul {
    template <typename T>
    static T apply(const T &a, const T &b, bool &overflow) {
        return operations<T>::mul(a, b, overflow);
    }
};

template <unsigned NODE, typename OP, typename A, typename B, typename R>
void alu(stream<A> &a, stream<B> &b, stream<R> &val) {
#pragma HLS INLINE off
    error_code error = 0;
    token<A> head_a;
    token<B> head_b;
    ending end;
    while (!end.heard) {
#pragma HLS PIPELINE II=1 style=stp
#pragma HLS LOOP_TRIPCOUNT min=1 max=most_tokens
        if (!(ready(a, head_a.kind != DONE) & ready(b, head_b.kind != DONE)))
            continue;
        if (head_a.kind != DONE)
            head_a = a.read();
        if (head_b.kind != DONE)
            head_b = b.read();
        const bool payloads = head_a.is_payload() && head_b.is_payload();
        const bool fits = payloads || (same_end(head_a, head_b));
        const error_code above = first(head_a.error(), head_b.error());
        if (end.goes_on(fits, head_a.kind == DONE, above)) {
            bool overflow = false;
            const R result = OP::apply(head_a.value(), head_b.value(), overflow);
            val.write(payloads ? token<R>::val(result) : token<R>::stop(head_a.lo(), head_a.hi()));
            if (payloads && overflow)
                error = first(error, fault<NODE>(CAUSE_OVERFLOW));
        }
    }
    val.write(token<R>::done(first(end.error, end.fits ? error : fault<NODE>(CAUSE_PROTOCOL))));
    while (!(drained(a, head_a) & drained(b, head_b))) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=most_tokens
    }
}

} // namespace samhw

#endif
