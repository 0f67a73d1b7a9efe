// hls::burst_maxi, as UG1399 describes it: requests, and lines in the order in which they were asked for.
//
// The memory is 64 ticks away and answers up to 64 later, at random. A tick is a call. A line is read from the memory at some
// time between its request and its use; what is written gets there at some time before the answer, or never without one.
#pragma once
#include <algorithm>
#include <cstddef>
#include <deque>
#include <random>
#include <stdexcept>

#include "ap_int.h"

namespace hls {

inline unsigned long &tick() {
    static unsigned long now = 0;
    return now;
}

inline unsigned long later() {
    static std::minstd_rand random(1);
    return tick() + 64 + random() % 64;
}

template <typename T>
class burst_maxi {
  public:
    burst_maxi(T *first) : memory(first) {}
    ~burst_maxi() {
        if (!reads.empty())
            fail("lines that were asked for are not read");
    }
    void read_request(std::size_t offset, std::size_t length) {
        pass();
        for (std::size_t n = 0; n < length; ++n)
            reads.push_back({offset + n, later(), false, T(0), 0});
    }
    T read() {
        pass();
        if (reads.empty())
            fail("a line is read that was not asked for");
        tick() = std::max(tick(), reads.front().when);
        pass();
        const T found = reads.front().value;
        reads.pop_front();
        return found;
    }
    void write_request(std::size_t offset, std::size_t length) {
        pass();
        for (std::size_t n = 0; n < length; ++n)
            places.push_back(offset + n);
        ++unanswered;
    }
    void write(const T &value, ap_int<sizeof(T)> bytes = -1) {
        pass();
        if (places.empty())
            fail("a line is written that was not asked for");
        writes.push_back({places.front(), later(), false, value, bytes});
        places.pop_front();
    }
    void write_response() {
        pass();
        if (unanswered-- == 0)
            fail("an answer without a request");
        if (unanswered != 0)
            return;
        for (const access &one : writes)
            tick() = std::max(tick(), one.when);
        pass();
    }

  private:
    struct access {
        std::size_t place;
        unsigned long when;
        bool is_done;
        T value;
        ap_int<sizeof(T)> bytes;
    };

    [[noreturn]] static void fail(const char *what) { throw std::runtime_error(what); }

    /// A tick, and what the memory does until then.
    void pass() {
        ++tick();
        for (access &one : reads)
            if (!one.is_done && one.when <= tick()) {
                one.value = memory[one.place];
                one.is_done = true;
            }
        while (!writes.empty() && writes.front().when <= tick()) {
            const access &one = writes.front();
            for (int n = 0; n < int(sizeof(T)); ++n)
                if (one.bytes[n])
                    memory[one.place].range(8 * n + 7, 8 * n) = one.value.range(8 * n + 7, 8 * n);
            writes.pop_front();
        }
    }

    T *memory;
    std::deque<access> reads, writes;
    std::deque<std::size_t> places;
    unsigned unanswered = 0;
};

} // namespace hls
