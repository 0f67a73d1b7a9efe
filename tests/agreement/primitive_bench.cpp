// Runs the cases of primitive_bench.py: reads them from stdin and writes what comes of them to stdout, as 32-bit words.
#include "Vtop.h"

#include <cstdint>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <vector>

namespace {

using Words = std::vector<uint32_t>;

// Cycles in which nothing may come after the end of a case, after which a case has got stuck, and in which the largest
// memory has been swept, as it is after each reset.
constexpr unsigned rest = 40, patience = 1000, sweep = 2100;

VerilatedContext context;
Vtop top{&context};

struct Lane {
    uint8_t *go, *ready, *kind;
    uint32_t* payload;
};
const std::vector<Lane> inputs{INPUT_LANES}, outputs{OUTPUT_LANES};

void settle() {
    top.clk = 0;
    top.eval();
}

void edge() {
    top.clk = 1;
    top.eval();
}

void idle(unsigned cycles) {
    for (auto& lane : inputs) *lane.go = 0;
    for (auto& lane : outputs) *lane.ready = 0;
    top.start = top.mem_write = 0;
    for (; cycles; --cycles) {
        settle();
        edge();
    }
}

bool read_words(Words& words) {
    uint32_t count;
    if (std::fread(&count, sizeof count, 1, stdin) != 1) return false;
    words.resize(count);
    return std::fread(words.data(), sizeof(uint32_t), count, stdin) == count;
}

Words read_words() {
    Words words;
    if (!read_words(words)) throw std::runtime_error("a case is cut short");
    return words;
}

void write_words(const Words& words) { std::fwrite(words.data(), sizeof(uint32_t), words.size(), stdout); }

// Both are asked once a cycle, and answer whether something is still to come without the primitive's doing: a token has
// moved, or one waits for its cycle.

struct Source {
    Lane lane;
    Words words;  // Earliest cycle, kind and payload of each token.
    Words pushed;  // Cycle of each push.

    bool exhausted() const { return 3 * pushed.size() == words.size(); }
    bool drive(uint32_t cycle) {
        const uint32_t* token = words.data() + 3 * pushed.size();
        const bool early = !exhausted() && token[0] > cycle;
        *lane.go = !exhausted() && *lane.ready && !early;
        if (!*lane.go) return early;
        *lane.kind = token[1];
        *lane.payload = token[2];
        pushed.push_back(cycle);
        return true;
    }
};

struct Sink {
    Lane lane;
    Words releases;
    Words popped;  // Cycle, kind and payload of each token.
    bool done = false;

    size_t count() const { return popped.size() / 3; }
    bool drive(uint32_t cycle) {
        const bool early = *lane.go && count() < releases.size() && releases[count()] > cycle;
        *lane.ready = *lane.go && !early;
        if (!*lane.ready) return early;
        done = *lane.kind == 3;
        popped.insert(popped.end(), {cycle, *lane.kind, *lane.payload});
        return true;
    }
};

void load_memory(const Words& words) {
    top.mem_select = words[0];
    for (size_t k = 1; k < words.size(); ++k) {
        top.mem_addr = k - 1;
        top.mem_wdata = words[k];
        top.mem_write = 1;
        settle();
        edge();
    }
    top.mem_write = 0;
}

Words store_memory(const Words& request) {
    Words words;
    top.mem_select = request[0];
    for (uint32_t k = 0; k < request[1]; ++k) {
        top.mem_addr = k;
        idle(2);
        words.push_back(top.mem_rdata);
    }
    return words;
}

// An instance has a clock only while it is selected, so each sweeps when it is selected first.
std::set<uint32_t> swept;

void run(const Words& head) {
    top.selected = head[0] + 1;
    top.extent = head[1];
    if (swept.insert(head[0]).second) idle(sweep);
    const Words ports = read_words();
    std::vector<Source> sources;
    std::vector<Sink> sinks;
    for (size_t k = 0; k < ports[0]; ++k) sources.push_back({inputs[k], read_words(), {}});
    for (size_t k = 0; k < ports[1]; ++k) sinks.push_back({outputs[k], read_words(), {}});
    const Words memories = read_words();
    for (size_t k = 0; k < memories[0]; ++k) load_memory(read_words());
    idle(2);

    uint32_t error = 0, committed = 0, last = 0;
    bool ended = false;
    for (uint32_t cycle = 0; cycle < last + (ended ? rest : patience); ++cycle) {
        bool complete = true;
        for (auto& source : sources) {
            if (source.drive(cycle)) last = cycle;
            complete &= source.exhausted();
        }
        for (auto& sink : sinks) {
            if (sink.drive(cycle)) last = cycle;
            complete &= sink.done;
        }
        top.start = cycle == 0;
        settle();
        error |= top.error;
        if (top.committed && !committed) committed = cycle + 1;
        ended = complete && (!sinks.empty() || committed);
        edge();
    }
    const bool clean = ended && top.idle;

    write_words({clean, error, committed});
    for (auto& source : sources) {
        write_words({static_cast<uint32_t>(source.pushed.size())});
        write_words(source.pushed);
    }
    for (auto& sink : sinks) {
        write_words({static_cast<uint32_t>(sink.count())});
        write_words(sink.popped);
    }
    for (size_t k = 0; k < memories[1]; ++k) write_words(store_memory(read_words()));
    if (!clean) {  // Back to a fresh start, with time for memories that are swept.
        top.rst = 1;
        idle(2);
        top.rst = 0;
        idle(sweep);
    }
}

}  // namespace

int main() {
    try {
        top.rst = 1;
        idle(2);
        top.rst = 0;
        for (Words head; read_words(head);) run(head);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s.\n", error.what());
        return 1;
    }
}
