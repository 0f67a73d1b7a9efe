// Clocks one verilated board, and talks to it at the pins of its UART, bit by bit. Reads commands from stdin and answers
// them on stdout, in the form of harness.cpp.
//
//   send BYTES       puts the bytes that follow on the line, after those that are not yet sent
//   receive LIMIT    clocks until the board has sent something and falls silent, or has been silent for LIMIT cycles;
//                    what it has sent follows the answer
//   configure        configures the board again: everything in it is as at power-on
//   memory-log       what the memory of the last run did, as the lines of a log, follows the answer

#include "board.h"
#include "memory.h"

#include <deque>
#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace {

// A frame of ten bits: start, eight of data, stop.
constexpr int frame_bits = 10;

// Sends bytes on a line, at times that do not depend on what the board does.
class Sender {
    std::deque<uint8_t> waiting;
    unsigned frame = 0;
    int left = 0;
    double end_of_bit = 0;

public:
    void put(const std::string& bytes) { waiting.insert(waiting.end(), bytes.begin(), bytes.end()); }
    bool idle() const { return left == 0 && waiting.empty(); }
    void clear() {
        waiting.clear();
        left = 0;
    }

    // The level of the line in a cycle.
    bool level(double cycle) {
        while (left > 0 && cycle >= end_of_bit) {
            --left;
            frame >>= 1;
            end_of_bit += bit_cycles();
        }
        if (left == 0) {
            if (waiting.empty()) return true;
            frame = 1u << (frame_bits - 1) | unsigned{waiting.front()} << 1;
            waiting.pop_front();
            left = frame_bits;
            end_of_bit = cycle + bit_cycles();
        }
        return frame & 1;
    }
};

// Samples a line in the middle of its bits.
class Receiver {
    unsigned frame = 0;
    int left = 0;
    double next_sample = 0;
    bool was_high = true;

public:
    std::string bytes;

    bool idle() const { return left == 0; }
    void clear() {
        left = 0;
        was_high = true;
        bytes.clear();
    }

    void look(double cycle, bool level) {
        if (left == 0) {
            if (was_high && !level) {
                left = frame_bits;
                frame = 0;
                next_sample = cycle + bit_cycles() / 2;
            }
        } else if (cycle >= next_sample) {
            frame |= unsigned{level} << (frame_bits - left);
            next_sample += bit_cycles();
            const bool is_start = left == frame_bits;
            if (--left == 0 && level) bytes.push_back(static_cast<char>(frame >> 1 & 0xff));
            if (is_start && level) left = 0;
        }
        was_high = level;
    }
};

// The pins of a master, as the board shows them.
class Observed {
    uint32_t awaddr = 0, araddr = 0;
    uint8_t arvalid = 0, arready = 0, awvalid = 0, awready = 0, wvalid = 0, wready = 0, rvalid = 0, rlast = 0, bvalid = 0;
    uint8_t awid = 0, arid = 0, rid = 0, bid = 0;
    std::unique_ptr<Memory> memory;

public:
    void connect() {
        MasterPins pins{};
        pins.awaddr = &awaddr, pins.araddr = &araddr;
        pins.arvalid = &arvalid, pins.arready = &arready, pins.awvalid = &awvalid, pins.awready = &awready;
        pins.wvalid = &wvalid, pins.wready = &wready;
        pins.rvalid = &rvalid, pins.rlast = &rlast, pins.bvalid = &bvalid;
        pins.awid = &awid, pins.arid = &arid, pins.rid = &rid, pins.bid = &bid;
        pins.beats = line_beats();
        pins.observed = true;
        memory = std::make_unique<Memory>(pins);
    }

    void look(bool begins, uint64_t cycle, uint32_t ids, uint32_t flags, uint32_t write_to, uint32_t read_from) {
        if (begins) memory->begin_run(nullptr);
        awaddr = write_to, araddr = read_from;
        for (uint8_t* flag : {&arvalid, &arready, &awvalid, &awready, &wvalid, &wready, &rvalid, &rlast, &bvalid}) {
            *flag = flags & 1;
            flags >>= 1;
        }
        for (uint8_t* id : {&awid, &arid, &rid, &bid}) {
            *id = ids & 0xff;
            ids >>= 8;
        }
        memory->look(cycle);
    }

    std::string log() const {
        std::ostringstream lines;
        memory->write_log(lines, 0);
        return lines.str();
    }
};

Observed observed;

class Harness {
    std::unique_ptr<BoardModel> board;
    Sender sender;
    Receiver receiver;
    uint64_t cycles = 0;

    void tick() {
        const auto now = static_cast<double>(cycles);
        board->rx() = sender.level(now);
        board->clk() = 0;
        board->eval();
        receiver.look(now, board->tx());
        board->clk() = 1;
        board->eval();
        ++cycles;
    }

public:
    Harness() { configure(); }

    uint64_t clock() const { return cycles; }

    void configure() {
        observed.connect();
        board = make_board();
        sender.clear();
        receiver.clear();
        for (int n = 0; n < 64; ++n) tick();
    }

    void send(const std::string& bytes) { sender.put(bytes); }

    std::string receive(uint64_t limit) {
        const auto pause = static_cast<uint64_t>(4 * frame_bits * bit_cycles());
        uint64_t silent = 0;
        size_t seen = receiver.bytes.size();
        while (silent < (seen ? pause : limit)) {
            tick();
            silent = receiver.idle() && receiver.bytes.size() == seen ? silent + 1 : 0;
            seen = receiver.bytes.size();
        }
        std::string found;
        found.swap(receiver.bytes);
        return found;
    }
};

std::string execute(Harness& harness, const std::string& text, std::istream& input) {
    std::istringstream line(text);
    std::string command;
    uint64_t number = 0;
    line >> command >> number;
    if (command == "send") {
        std::string bytes(number, '\0');
        if (!input.read(bytes.data(), static_cast<std::streamsize>(number))) throw std::runtime_error("a command lacks its data");
        harness.send(bytes);
    } else if (command == "receive") {
        return harness.receive(number);
    } else if (command == "memory-log") {
        return observed.log();
    } else if (command == "configure") {
        harness.configure();
    } else {
        throw std::runtime_error("there is no command '" + command + "'");
    }
    return {};
}

}  // namespace

// Called by samhw_observer.
extern "C" void samhw_observe(
    unsigned char begins, unsigned long long cycle, unsigned ids, unsigned flags, unsigned write_to, unsigned read_from) {
    observed.look(begins, cycle, ids, flags, write_to, read_from);
}

int main() {
    try {
        std::ios::sync_with_stdio(false);
        Harness harness;
        for (std::string line; std::getline(std::cin, line);) {
            const std::string bytes = execute(harness, line, std::cin);
            std::cout << "{\"cycles\": " << harness.clock() << ", \"bytes\": " << bytes.size() << "}\n" << bytes << std::flush;
        }
        return 0;
    } catch (const std::exception& error) {
        std::cerr << error.what() << ".\n";
        return 1;
    }
}
