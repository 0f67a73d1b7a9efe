// hls::burst_maxi as the analysis sees it: requests, lines and answers are accesses of channels of their own.
#ifndef HLS_BURST_MAXI_H
#define HLS_BURST_MAXI_H

#include "hls_stream.h"

namespace hls {

template <typename T>
class burst_maxi {
    struct line {
        static const int width = T::width;
        ap_uint<2> kind;
        T payload;
    };

  public:
    void read_request(std::size_t offset, std::size_t length) { hls_write(&own[0], offset, length, 0, 0, 0, 0, 0, 0, 0); }
    T read() { return lines.read().payload; }
    void write_request(std::size_t offset, std::size_t length) { hls_write(&own[1], offset, length, 0, 0, 0, 0, 0, 0, 0); }
    void write(const T &value, ap_int<64> bytes) {
        line whole;
        whole.kind = 0;
        whole.payload = value;
        written.write(whole);
        hls_write(&own[2], bytes.to_uint64(), 0, 0, 0, 0, 0, 0, 0, 0);
    }
    void write_response() { hls_read(&own[3]); }

  private:
    stream<line> lines, written;
    char own[4];
};

} // namespace hls

#endif
