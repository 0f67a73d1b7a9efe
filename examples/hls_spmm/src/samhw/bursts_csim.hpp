// The m_axi ports of lines in C simulation: as hls::burst_maxi, but each burst is checked and counted. Never synthesised.
#ifndef SAMHW_BURSTS_CSIM_HPP
#define SAMHW_BURSTS_CSIM_HPP

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <queue>

#include "memory.hpp"

namespace samhw {

/// What a memory's ports have moved.
struct traffic {
    std::size_t lines, most; // That the memory has, and that may be on their way to one of its ports.
    std::uint64_t read_bursts, read_lines, write_bursts, write_lines;
};

/// The memories, by where they begin.
inline std::map<const line_t *, traffic> &memories() {
    static std::map<const line_t *, traffic> all;
    return all;
}

class burst_port {
  public:
    burst_port(line_t *first) : memory(first), moved(&memories().at(first)) {}

    void read_request(std::size_t line, std::size_t length) {
        ask(reads, line, length);
        ++moved->read_bursts;
        moved->read_lines += length;
    }

    line_t read() { return memory[next(reads, "read")]; }

    void write_request(std::size_t line, std::size_t length) {
        ask(writes, line, length);
        ++moved->write_bursts;
        moved->write_lines += length;
        ++unanswered;
    }

    void write(const line_t &line, ap_int<64> bytes) {
        line_t &there = memory[next(writes, "written")];
        for (int n = 0; n < 64; ++n)
            if (bytes[n])
                there.range(8 * n + 7, 8 * n) = line.range(8 * n + 7, 8 * n);
    }

    void write_response() {
        if (unanswered-- == 0)
            fail("answers for a burst that was not asked for");
    }

  private:
    static void fail(const char *what) {
        std::fprintf(stderr, "m_axi: %s\n", what);
        std::exit(2);
    }

    void ask(std::queue<std::size_t> &lines, std::size_t line, std::size_t length) {
        if (length == 0 || length > longest_burst || line % longest_burst + length > longest_burst)
            fail("a burst is too long, or crosses a border");
        if (line + length > moved->lines)
            fail("a burst goes beyond the memory");
        for (std::size_t n = 0; n < length; ++n)
            lines.push(line + n);
        if (lines.size() > moved->most)
            fail("too many lines are on their way");
    }

    static std::size_t next(std::queue<std::size_t> &lines, const char *what) {
        if (lines.empty()) {
            std::fprintf(stderr, "m_axi: a line is %s that was not asked for\n", what);
            std::exit(2);
        }
        const std::size_t line = lines.front();
        lines.pop();
        return line;
    }

    line_t *memory;
    traffic *moved;
    std::queue<std::size_t> reads, writes;
    unsigned unanswered = 0;
};

} // namespace samhw

#endif
