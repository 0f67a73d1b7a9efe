// hls::burst_maxi, as UG1399 describes it: requests, and lines in the order in which they were asked for.
#pragma once
#include <cstddef>
#include <queue>
#include <stdexcept>

#include "ap_int.h"

namespace hls {

template <typename T>
class burst_maxi {
  public:
    burst_maxi(T *memory) : memory(memory) {}
    void read_request(std::size_t offset, std::size_t length) { ask(reads, offset, length); }
    T read() { return memory[next(reads)]; }
    void write_request(std::size_t offset, std::size_t length) { ask(writes, offset, length); }
    void write(const T &value, ap_int<sizeof(T)> bytes = -1) {
        T &there = memory[next(writes)];
        for (int n = 0; n < int(sizeof(T)); ++n)
            if (bytes[n])
                there.range(8 * n + 7, 8 * n) = value.range(8 * n + 7, 8 * n);
    }
    void write_response() {}

  private:
    static void ask(std::queue<std::size_t> &places, std::size_t offset, std::size_t length) {
        for (std::size_t n = 0; n < length; ++n)
            places.push(offset + n);
    }
    static std::size_t next(std::queue<std::size_t> &places) {
        if (places.empty())
            throw std::runtime_error("not asked for");
        const std::size_t place = places.front();
        places.pop();
        return place;
    }
    T *memory;
    std::queue<std::size_t> reads, writes;
};

} // namespace hls
