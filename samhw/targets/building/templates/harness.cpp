// Drives one verilated design through its host port, in bursts if it is one of AXI4. Reads commands from stdin, one a line, and answers each on
// stdout with one line of JSON. The word that a command ends with counts the bytes that follow its line; the answer's
// "bytes" counts those that follow it. Words are 32 bits wide, in the order of bytes of this machine.
//
//   load ADDR BYTES        writes the words that follow, back to back
//   read ADDR COUNT        reads words back to back; they follow the answer
//   load-file ADDR FILE    writes the words of a binary file
//   read-file ADDR COUNT FILE  reads words into a binary file
//   start                  starts a run
//   wait LIMIT             clocks until the run ends, at most LIMIT cycles; the trace follows the answer
//   stall BYTES            for the next run: for each bit of `stall`, the period (a word), then a byte for each cycle
//   trace                  for the next run: record the tokens that are popped (TraceRecord)
//   wave FILE              until the next reset: records every signal
//   memory WORDS..         for the next runs: what the memories off the chip are (OracleChoice in oracle.h)
//   log BYTES              likewise, a log, whose numbers follow
//   load-memory MASTER ADDR BYTES  writes the bytes that follow into a master's memory
//   read-memory MASTER ADDR COUNT  reads bytes of it; they follow the answer
//   load-memory-file MASTER ADDR FILE  writes the bytes of a file into a master's memory
//   read-memory-file MASTER ADDR COUNT FILE  reads bytes of it into a file
//   memory-log             the requests of the last run, as lines of a log; they follow the answer
//   host-clock PERIOD      from now on, the period of a host's own clock, in hundredths of the design's
//   reset                  takes the design back to power-on; the memories keep what they hold
//
// A failure is one sentence on stderr; the exit code is 2 for a bad command and 1 for anything else.

#include "dut.h"
#include "memory.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace {

using Words = std::vector<uint32_t>;

class BadCommand : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Processor time: the design runs in one thread, and other processes shall not count.
class Stopwatch {
    std::clock_t begin = std::clock();

public:
    double seconds() const { return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC; }
};

// An answer: the members of a JSON object, and the bytes after it.
struct Answer {
    std::string members;
    std::string bytes;
};

template <class T> std::string to_bytes(const std::vector<T>& items) {
    return {reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T)};
}

Words to_words(const std::string& bytes) {
    Words words(bytes.size() / sizeof(uint32_t));
    std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint32_t));
    return words;
}

// For each bit of `stall` a pattern that repeats over the cycles of a run.
class StallPatterns {
    std::vector<std::vector<uint8_t>> patterns;
    Words row;

public:
    StallPatterns() = default;
    StallPatterns(const std::string& bytes, unsigned width) : row((width + 31) / 32) {
        std::istringstream stream(bytes);
        for (unsigned bit = 0; bit < width; ++bit) {
            uint32_t period = 0;
            stream.read(reinterpret_cast<char*>(&period), sizeof period);
            patterns.emplace_back(period);
            stream.read(reinterpret_cast<char*>(patterns.back().data()), period);
            if (period == 0 || !stream) throw BadCommand("the stall patterns are too short");
        }
    }
    bool empty() const { return patterns.empty(); }
    const uint32_t* at(uint64_t cycle) {
        for (auto& word : row) word = 0;
        for (size_t bit = 0; bit < patterns.size(); ++bit)
            row[bit / 32] |= uint32_t{patterns[bit][cycle % patterns[bit].size()] != 0} << bit % 32;
        return row.data();
    }
};

class Harness {
    static constexpr uint64_t patience = 100000;  // Cycles that the host port may take for an answer: an SDRAM has to be made ready first.

    // Of the design's clock. A host's own has another period, unless it is told, and begins elsewhere.
    static constexpr uint64_t period = 100;

    std::unique_ptr<Dut> dut;
    Pins pins;
    uint64_t ticks = 0, host_ticks = 0;
    uint64_t host_period = 73, next_edge = period, next_host_edge = 31;
    uint64_t moments = 0;
    bool waving = false;
    bool started = false;
    StallPatterns stalls;
    std::vector<Memory> memories;
    OracleChoice oracle;
    // The cycle of the run for the memories, which answer what was asked in it after its end, too.
    uint64_t memory_cycle = 0;
    bool over = true;
    bool tracing = false;
    Trace trace;

    // Everything settles, and is recorded.
    void look() {
        dut->eval();
        if (waving) dut->dump_wave(moments);
        ++moments;
    }

    // The first half of a clock cycle: after it, everything that depends on inputs is settled and may be sampled.
    void settle() {
        if (!stalls.empty()) dut->stall(stalls.at(*pins.cycle));
        const bool asks = started || *pins.running;
        if (asks) {
            over |= !*pins.running || *pins.cycle < memory_cycle;
            memory_cycle = over ? memory_cycle + 1 : *pins.cycle;
            for (Memory& memory : memories) memory.drive(memory_cycle);
        }
        look();
        if (asks)
            for (Memory& memory : memories) memory.look(memory_cycle);
        if (*pins.running) {
            started = true;
            if (tracing) {
                trace.cycle = *pins.cycle;
                dut->sample(trace);
            }
        }
    }

    // The second half: the rising edge.
    void edge() {
        *pins.aclk = 1;
        look();
        *pins.aclk = 0;
        ++ticks;
        next_edge += period;
    }

    // A cycle of the design, and all that have begun on the host's own clock, whose pins stay.
    void tick() {
        while (pins.host_clock && next_host_edge < next_edge) {
            look();
            host_edge();
        }
        settle();
        edge();
    }

    // The same for a cycle of the host's clock: the design goes on to where it ends.
    void host_settle() {
        if (!pins.host_clock) return settle();
        while (next_edge <= next_host_edge) tick();
        look();
    }

    void host_edge() {
        ++host_ticks;
        if (!pins.host_clock) return edge();
        *pins.host_clock = 1;
        look();
        *pins.host_clock = 0;
        next_host_edge += host_period;
    }

    [[noreturn]] void no_answer(uint32_t address) {
        throw std::runtime_error("the host port does not answer at address " + std::to_string(address));
    }

    [[noreturn]] void refused(const char* what, uint32_t address) {
        throw std::runtime_error(std::string("the host port refuses to ") + what + " address " + std::to_string(address));
    }

public:
    Harness() { power_on(); }

    void power_on() {
        close_wave();
        dut = make_dut();
        pins = dut->pins();
        started = false;
        connect_memories();
        reset(0);
        // Those of two clocks hold each other, for some cycles of the slower one.
        for (uint64_t held = ticks + (pins.host_clock ? 8 + 8 * host_period / period : 2); ticks < held;) tick();
        reset(1);
    }

    void reset(uint8_t level) {
        *pins.aresetn = level;
        if (pins.host_clock) *pins.host_resetn = level;
    }

    void set_host_clock(uint64_t hundredths) {
        if (!pins.host_clock) throw BadCommand("this build has one clock");
        if (hundredths == 0) throw BadCommand("a clock has a period");
        host_period = hundredths;
        next_host_edge = next_edge + host_period;
    }

    // After power-on, the memories have the pins of another design, and what they held.
    void connect_memories() {
        const std::vector<MasterPins> masters = dut->masters();
        std::vector<Memory> before = std::move(memories);
        memories.clear();
        for (size_t k = 0; k < masters.size(); ++k) {
            memories.emplace_back(masters[k]);
            if (k < before.size()) std::memcpy(memories[k].at(0, masters[k].bytes), before[k].at(0, masters[k].bytes), masters[k].bytes);
        }
    }

    void set_memory(const std::string& words) {
        const std::vector<MasterPins> masters = dut->masters();
        if (masters.empty()) throw BadCommand("this build has no memory off the chip");
        std::istringstream stream(words);
        oracle = OracleChoice(stream, masters.size(), masters[0].beats);
    }

    Memory& memory(size_t master) {
        if (master >= memories.size()) throw BadCommand("this build has no master " + std::to_string(master));
        return memories[master];
    }

    std::string memory_log() const {
        std::ostringstream lines;
        for (size_t k = 0; k < memories.size(); ++k) memories[k].write_log(lines, k);
        return lines.str();
    }

    uint64_t clock() const { return pins.host_clock ? host_ticks : ticks; }

    // The port would take an address after its range for one in it.
    void check_range(const char* what, uint32_t base, size_t words) {
        const uint64_t range = dut->registers().range;
        if (base + 4 * uint64_t{words} > range) refused(what, std::max(base, static_cast<uint32_t>(range)));
    }

    // The words of the longest burst from an address on: one, if the port is one of AXI4-Lite.
    size_t burst(uint32_t address, size_t words) const {
        const size_t page = (4096 - address % 4096) / 4;
        return pins.awlen ? std::min({words, page, size_t{256}}) : 1;
    }

    void write(uint32_t base, const Words& words) {
        check_range("write to", base, words.size());
        size_t addressed = 0, sent = 0, answered = 0, ends = 0;
        *pins.wstrb = 0xf;
        *pins.bready = 1;
        for (uint64_t deadline = ticks + patience; answered < words.size();) {
            const uint32_t at = base + 4 * static_cast<uint32_t>(addressed);
            const size_t beats = burst(at, words.size() - addressed);
            *pins.awvalid = addressed < words.size();
            *pins.awaddr = at;
            *pins.wvalid = sent < words.size();
            *pins.wdata = sent < words.size() ? words[sent] : 0;
            if (pins.awlen) {
                if (sent == ends && *pins.wvalid)
                    ends += burst(base + 4 * static_cast<uint32_t>(sent), words.size() - sent);
                *pins.awlen = static_cast<uint8_t>(beats - 1);
                *pins.wlast = sent + 1 == ends;
            }
            host_settle();
            if (*pins.awvalid && *pins.awready) addressed += beats;
            sent += *pins.wvalid && *pins.wready;
            if (*pins.bvalid) {
                const uint32_t written = base + 4 * static_cast<uint32_t>(answered);
                if (*pins.bresp) refused("write to", written);
                answered += burst(written, words.size() - answered);
                deadline = ticks + patience;
            }
            if (ticks > deadline) no_answer(base + 4 * static_cast<uint32_t>(answered));
            host_edge();
        }
        *pins.awvalid = *pins.wvalid = *pins.bready = 0;
    }

    Words read(uint32_t base, size_t count) {
        check_range("read", base, count);
        Words words;
        words.reserve(count);
        size_t addressed = 0;
        *pins.rready = 1;
        for (uint64_t deadline = ticks + patience; words.size() < count;) {
            const uint32_t at = base + 4 * static_cast<uint32_t>(addressed);
            const size_t beats = burst(at, count - addressed);
            *pins.arvalid = addressed < count;
            *pins.araddr = at;
            if (pins.arlen) *pins.arlen = static_cast<uint8_t>(beats - 1);
            host_settle();
            if (*pins.arvalid && *pins.arready) addressed += beats;
            if (*pins.rvalid) {
                if (*pins.rresp) refused("read", base + 4 * static_cast<uint32_t>(words.size()));
                words.push_back(*pins.rdata);
                deadline = ticks + patience;
            }
            if (ticks > deadline) no_answer(base + 4 * static_cast<uint32_t>(words.size()));
            host_edge();
        }
        *pins.arvalid = *pins.rready = 0;
        return words;
    }

    void start() {
        started = over = false;
        memory_cycle = 0;
        trace.records.clear();
        if (stalls.empty()) dut->stall(Words((dut->stall_width() + 31) / 32).data());
        const std::vector<MasterPins> masters = dut->masters();
        for (size_t k = 0; k < memories.size(); ++k)
            memories[k].begin_run(oracle.make(k, masters[k].beats, uint64_t{masters[k].beat} * masters[k].beats));
        write(dut->registers().control, {1});
    }

    // Clocks until the run ends; gives the answer to `wait`.
    Answer wait(uint64_t limit) {
        Stopwatch stopwatch;
        const uint64_t begin = ticks;
        while (!(started && !*pins.running) && !*pins.error && ticks - begin < limit) {
            tick();
            if (!started && ticks - begin > patience) throw std::runtime_error("the design does not start");
        }
        const double seconds = stopwatch.seconds();
        tracing = false;
        stalls = {};

        const Registers at = dut->registers();
        const Words status = read(at.status, 5);  // STATUS, ERROR, ERROR_NODE, CYCLES_LO, CYCLES_HI
        const bool failed = status[0] & 4, done = status[0] & 2;
        std::ostringstream answer;
        answer << "\"status\": \"" << (failed ? "error" : done ? "done" : "limit") << "\", \"error\": " << status[1]
               << ", \"error_node\": " << status[2] << ", \"cycles\": " << (status[3] | uint64_t{status[4]} << 32)
               << ", \"channels\": [";
        if (!done && at.channel_words) {
            const char* comma = "";
            for (uint32_t word : read(at.channels, at.channel_words)) {
                answer << comma << word;
                comma = ", ";
            }
        }
        answer << "], \"seconds\": " << seconds;
        return {answer.str(), to_bytes(trace.records)};
    }

    void set_stalls(const std::string& bytes) {
        if (dut->stall_width() == 0) throw BadCommand("this build has no stall input");
        stalls = StallPatterns(bytes, dut->stall_width());
    }

    void set_trace() {
        if (!dut->has_probes()) throw BadCommand("this build has no probes");
        tracing = true;
    }

    void set_wave(const std::string& path) {
        dut->open_wave(path.c_str());
        waving = true;
    }

    void close_wave() {
        if (waving) dut->close_wave();
        waving = false;
    }
};

template <class T> T argument(std::istream& line) {
    T value;
    if (!(line >> value)) throw BadCommand("a command lacks a number");
    return value;
}

std::string file_name(std::istream& line) {
    std::string path;
    if (!std::getline(line >> std::ws, path)) throw BadCommand("a command lacks the name of a file");
    return path;
}

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw BadCommand("cannot read the file '" + path + "'");
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& bytes) {
    std::ofstream file(path, std::ios::binary);
    if (!file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush())
        throw BadCommand("cannot write the file '" + path + "'");
}

std::string data(std::istream& line, std::istream& input) {
    std::string bytes(argument<size_t>(line), '\0');
    if (!input.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) throw BadCommand("a command lacks its data");
    return bytes;
}

Answer execute(Harness& harness, const std::string& text, std::istream& input) {
    std::istringstream line(text);
    const auto command = argument<std::string>(line);
    const Stopwatch stopwatch;
    const uint64_t begin = harness.clock();
    std::string bytes;
    if (command == "load") {
        const auto address = argument<uint32_t>(line);
        harness.write(address, to_words(data(line, input)));
    } else if (command == "read") {
        const auto address = argument<uint32_t>(line);
        bytes = to_bytes(harness.read(address, argument<size_t>(line)));
    } else if (command == "load-file") {
        const auto address = argument<uint32_t>(line);
        harness.write(address, to_words(read_file(file_name(line))));
    } else if (command == "read-file") {
        const auto address = argument<uint32_t>(line);
        const auto count = argument<size_t>(line);
        write_file(file_name(line), to_bytes(harness.read(address, count)));
    } else if (command == "start") {
        harness.start();
    } else if (command == "wait") {
        return harness.wait(argument<uint64_t>(line));
    } else if (command == "stall") {
        harness.set_stalls(data(line, input));
    } else if (command == "trace") {
        harness.set_trace();
    } else if (command == "wave") {
        harness.set_wave(file_name(line));
    } else if (command == "memory") {
        harness.set_memory({std::istreambuf_iterator<char>(line), {}});
    } else if (command == "log") {
        harness.set_memory("log " + data(line, input));
    } else if (command == "load-memory" || command == "load-memory-file") {
        const auto master = argument<size_t>(line);
        const auto address = argument<uint64_t>(line);
        const std::string given = command == "load-memory" ? data(line, input) : read_file(file_name(line));
        std::memcpy(harness.memory(master).at(address, given.size()), given.data(), given.size());
    } else if (command == "read-memory" || command == "read-memory-file") {
        const auto master = argument<size_t>(line);
        const auto address = argument<uint64_t>(line);
        const auto count = argument<size_t>(line);
        const uint8_t* from = harness.memory(master).at(address, count);
        const std::string found(from, from + count);
        if (command == "read-memory")
            bytes = found;
        else
            write_file(file_name(line), found);
    } else if (command == "host-clock") {
        harness.set_host_clock(argument<uint64_t>(line));
    } else if (command == "memory-log") {
        bytes = harness.memory_log();
    } else if (command == "reset") {
        harness.power_on();
    } else {
        throw BadCommand("there is no command '" + command + "'");
    }
    std::ostringstream answer;
    answer << "\"host_cycles\": " << harness.clock() - begin << ", \"seconds\": " << stopwatch.seconds();
    return {answer.str(), bytes};
}

}  // namespace

int main() {
    try {
        std::ios::sync_with_stdio(false);
        Harness harness;
        for (std::string line; std::getline(std::cin, line);) {
            const Answer answer = execute(harness, line, std::cin);
            std::cout << "{" << answer.members << ", \"bytes\": " << answer.bytes.size() << "}\n" << answer.bytes << std::flush;
        }
        harness.close_wave();
        return 0;
    } catch (const BadCommand& error) {
        std::cerr << error.what() << ".\n";
        return 2;
    } catch (const std::exception& error) {
        std::cerr << error.what() << ".\n";
        return 1;
    }
}
