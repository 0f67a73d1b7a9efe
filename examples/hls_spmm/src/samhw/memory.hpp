// The host's memory: ports through which lines come and go by bursts, and copies between it and arrays on the chip.
//
// A line has 512 bits, the most that m_axi moves in a cycle. A copy takes a line a cycle: arrays that only a copy fills are
// reshaped to lines (ARRAY_RESHAPE), and those that a process fills word by word are partitioned, since no document says that a
// part of a reshaped word can be written in one cycle.
#ifndef SAMHW_MEMORY_HPP
#define SAMHW_MEMORY_HPP

#include "token.hpp"

namespace samhw {

typedef ap_uint<512> line_t;
/// A bit for each byte of a line that is written.
typedef ap_uint<64> line_mask;

/// Lines. The borders of 4 KB that no burst may cross are borders of this many lines, too.
static const unsigned longest_burst = 16;
/// Bursts that may be on their way to a port.
static const unsigned most_bursts = 16;
/// Iterations from the request of a burst until its first line is read. The ports themselves have latency=1, or the tool would
/// add its own.
static const unsigned port_latency = 64;

} // namespace samhw

#ifdef SAMHW_CSIM
#include "bursts_csim.hpp"
#else
#include "hls_burst_maxi.h"

namespace samhw {

typedef hls::burst_maxi<line_t> burst_port;

} // namespace samhw
#endif

namespace samhw {

/// The lines of some words, of which there are at most some.
template <typename W>
unsigned lines_of(unsigned words, unsigned most) {
#pragma HLS INLINE
    const unsigned in_line = line_t::width / W::width, lines = words / in_line + (words % in_line != 0);
    return lines < most ? lines : most;
}

/// The words of a line as those of an array from `first` on.
template <typename W>
void unpack(const line_t &line, W *array, unsigned first) {
#pragma HLS INLINE
    for (unsigned k = 0; k < line_t::width / W::width; ++k) {
#pragma HLS UNROLL
        array[first + k] = line.range((k + 1) * W::width - 1, k * W::width);
    }
}

/// The line of an array's words from `first` on.
template <typename W>
line_t pack(const W *array, unsigned first) {
#pragma HLS INLINE
    line_t line = 0;
    for (unsigned k = 0; k < line_t::width / W::width; ++k) {
#pragma HLS UNROLL
        line.range((k + 1) * W::width - 1, k * W::width) = array[first + k];
    }
    return line;
}

/// The bytes of a line's words from `begin` on and before `end`, where the line begins with word `first`.
template <typename W>
line_mask bytes_of(unsigned first, unsigned begin, unsigned end) {
#pragma HLS INLINE
    const unsigned bytes = W::width / 8;
    line_mask mask = 0;
    for (unsigned k = 0; k < line_t::width / W::width; ++k) {
#pragma HLS UNROLL
        if (begin <= first + k && first + k < end)
            mask.range((k + 1) * bytes - 1, k * bytes) = -1;
    }
    return mask;
}

/// Fills an array of whole lines with the words that the host has stored.
template <unsigned WORDS, typename W>
void load(burst_port memory, unsigned stored, W array[WORDS]) {
#pragma HLS INLINE off
    const unsigned in_line = line_t::width / W::width, most = WORDS / in_line + port_latency;
    const unsigned wanted = lines_of<W>(stored, most - port_latency);
    for (unsigned n = 0; n < wanted + port_latency; ++n) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=port_latency max=most
        if (n < wanted && n % longest_burst == 0)
            memory.read_request(n, wanted - n < longest_burst ? wanted - n : longest_burst);
        if (n >= port_latency)
            unpack(memory.read(), array, (n - port_latency) * in_line);
    }
}

/// Brings the host what a run has written: words from `begin` on and before `end`. The others are the host's.
template <unsigned WORDS, typename W>
void store(const W array[WORDS], burst_port memory, unsigned begin, unsigned end) {
#pragma HLS INLINE off
    const unsigned in_line = line_t::width / W::width, most = 2 * WORDS / in_line;
    const unsigned behind = begin == end ? 0 : lines_of<W>(end, most / 2);
    unsigned n = begin / in_line, left = 0, bursts = 0; // The line; those that are left of a burst.
    while (n < behind) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=0 max=most
        if (left == 0) {
            const unsigned border = longest_burst - n % longest_burst;
            left = behind - n < border ? behind - n : border;
            memory.write_request(n, left);
            ++bursts;
        } else {
            memory.write(pack(array, n * in_line), ap_int<64>(bytes_of<W>(n * in_line, begin, end)));
            ++n;
            --left;
            if (left == 0 && bursts == most_bursts) {
                memory.write_response();
                --bursts;
            }
        }
    }
    for (; bursts != 0; --bursts) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=0 max=most_bursts
        memory.write_response();
    }
}

/// What one region has written, for another array that a later one reads: the lines in which it lies.
template <unsigned WORDS, typename W>
void pass(const W from[WORDS], W to[WORDS], unsigned begin, unsigned end) {
#pragma HLS INLINE off
    const unsigned in_line = line_t::width / W::width, most = WORDS / in_line;
    const unsigned behind = begin == end ? 0 : lines_of<W>(end, most);
    for (unsigned n = begin / in_line; n < behind; ++n) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=0 max=most
        for (unsigned k = 0; k < in_line; ++k) {
#pragma HLS UNROLL
            to[n * in_line + k] = from[n * in_line + k];
        }
    }
}

} // namespace samhw

#endif
