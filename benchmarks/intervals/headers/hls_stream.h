// hls::stream as the analysis sees it: each access is a call that the optimiser cannot look into.
#ifndef HLS_STREAM_H
#define HLS_STREAM_H

#include "ap_int.h"

extern "C" {
/// What names the token at the head of a stream. Its parts are wires: 0 is the kind, the others are the payload, in
/// words of 64 bits from the lowest.
unsigned long hls_read(const void *stream);
unsigned long hls_part(unsigned long token, unsigned part) __attribute__((const));
void hls_write(const void *stream, unsigned long kind, unsigned long a, unsigned long b, unsigned long c,
               unsigned long d, unsigned long e, unsigned long f, unsigned long g, unsigned long h);
/// Whether nothing is at the head of a stream.
bool hls_empty(const void *stream);
/// What stands for the pragmas PIPELINE and DEPENDENCE of a loop.
void hls_pipeline() __attribute__((convergent)); // So that an iteration without a token is one of the same loop.
void hls_dependence(const void *array, unsigned distance);
}

namespace hls {

template <typename T>
class stream {
    static_assert(T::width <= 512, "the analysis has room for payloads of 512 bits");
    typedef ap_uint<512> widest;

  public:
    T read() {
        const unsigned long token = hls_read(this);
        widest payload = 0;
        for (unsigned n = 0; 64 * n < T::width; ++n)
            payload |= widest(hls_part(token, n + 1)) << (64 * n);
        T head;
        head.kind = hls_part(token, 0);
        head.payload = payload;
        return head;
    }
    bool empty() { return hls_empty(this); }
    bool read_nb(T &head) {
        const bool there = !empty();
        if (there)
            head = read();
        return there;
    }
    void write(const T &token) {
        const widest p = token.payload;
        hls_write(this, token.kind.to_uint64(), p.to_uint64(), (p >> 64).to_uint64(), (p >> 128).to_uint64(),
                  (p >> 192).to_uint64(), (p >> 256).to_uint64(), (p >> 320).to_uint64(), (p >> 384).to_uint64(),
                  (p >> 448).to_uint64());
    }

  private:
    char own;
};

} // namespace hls

#endif
