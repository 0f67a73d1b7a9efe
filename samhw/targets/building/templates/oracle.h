// The memories of docs/memory.md, "The memory as an oracle": when a request is accepted, and when it is answered.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <istream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Request {
    bool write;
    uint64_t address, offered;  // A byte address, and a cycle of the run.
};

struct Reply {
    uint64_t accepted;
    std::vector<uint64_t> answers;  // The cycles of the beats that were read, or of the one answer to a write.
};

// The memory of a master, for one run.
class Oracle {
    uint64_t free_read = 0, free_write = 0;  // The first cycles after all beats, and after all answers to writes.

protected:
    const uint64_t beats;

    uint64_t read_beat(uint64_t cycle) {
        cycle = std::max(cycle, free_read);
        free_read = cycle + 1;
        return cycle;
    }
    uint64_t write_answer(uint64_t cycle) {
        cycle = std::max(cycle, free_write);
        free_write = cycle + 1;
        return cycle;
    }

public:
    explicit Oracle(uint64_t beats) : beats(beats) {}
    virtual ~Oracle() = default;
    virtual Reply reply(const Request& request) = 0;  // For each request in order.
};

class ConstantOracle final : public Oracle {
    uint64_t latency;

public:
    ConstantOracle(uint64_t beats, uint64_t latency) : Oracle(beats), latency(latency) {}
    Reply reply(const Request& request) override {
        if (request.write) {
            const uint64_t accepted = request.offered + beats;
            return {accepted, {write_answer(accepted + latency)}};
        }
        Reply reply{request.offered, {}};
        for (uint64_t beat = 0; beat < beats; ++beat) reply.answers.push_back(read_beat(request.offered + latency));
        return reply;
    }
};

class RandomOracle final : public Oracle {
    uint32_t x;

    uint64_t draw(uint32_t k) {
        x = (1103515245u * x + 12345u) & 0x7fffffffu;
        return (x >> 16) % k;
    }
    uint64_t gap(uint32_t j, uint64_t k) {
        const uint64_t drawn = draw(j);
        return drawn > k ? drawn - k : 0;
    }

public:
    RandomOracle(uint64_t beats, uint64_t seed) : Oracle(beats), x(seed & 0x7fffffffu) {}
    Reply reply(const Request& request) override {
        const uint64_t accepted = request.offered + (request.write ? beats : 0) + gap(16, 8);
        uint64_t cycle = accepted + 1 + draw(32);
        if (request.write) return {accepted, {write_answer(cycle)}};
        Reply reply{accepted, {read_beat(cycle)}};
        while (reply.answers.size() < beats) reply.answers.push_back(read_beat(reply.answers.back() + 1 + gap(8, 5)));
        return reply;
    }
};

// The numbers of `Dram` (samhw/graph/dram.py), in their order, of which `channels` are those of one master.
struct DramNumbers {
    int64_t clock_ps, channels, groups, banks, row_bytes, burst_bytes, burst, cl, cwl, rcd, rp, ras, rtp, wr, ccd_s, ccd_l,
        rrd_s, rrd_l, faw, wtr_s, wtr_l, rfc, refi, frontend, backend, cycle_ps;
};

inline int64_t divided_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Banks, rows and commands of one channel; times are clocks.
class DramChannel {
    static constexpr int64_t never = INT64_MIN / 2;

    struct Bank {
        int64_t row = -1, activated = never, read = never, written = never;
    };
    const DramNumbers& n;
    std::vector<Bank> banks;                              // Of all groups.
    std::vector<int64_t> group_act, group_rd, group_wr;   // The last command of each group.
    std::array<int64_t, 4> acts{never, never, never, never};  // The last four, the oldest first.
    int64_t last_rd = never, last_wr = never, refresh, ready = never;

public:
    explicit DramChannel(const DramNumbers& n)
        : n(n), banks(n.groups * n.banks), group_act(n.groups, never), group_rd(n.groups, never), group_wr(n.groups, never),
          refresh(n.refi) {}

    // The clock of the RD or WR of a request that arrives in a clock.
    int64_t access(int64_t arrival, int64_t group, int64_t bank_of_group, int64_t row, bool write) {
        Bank& bank = banks[group * n.banks + bank_of_group];
        for (;;) {
            const int64_t begin = std::max(arrival, ready);
            int64_t at = begin, activated = bank.activated;
            const bool opens = bank.row != row;
            if (opens) {
                int64_t act = begin;
                if (bank.row >= 0) {
                    const int64_t precharge = std::max({begin, bank.activated + n.ras, bank.read + n.rtp,
                                                        bank.written + n.cwl + n.burst + n.wr});
                    act = std::max(act, precharge + n.rp);
                }
                act = std::max({act, acts[3] + n.rrd_s, group_act[group] + n.rrd_l, acts[0] + n.faw});
                activated = act;
            }
            at = std::max(at, activated + n.rcd);
            if (write)
                at = std::max({at, last_wr + n.ccd_s, group_wr[group] + n.ccd_l, last_rd + n.cl + n.burst + 2 - n.cwl,
                               last_rd + n.ccd_s});
            else
                at = std::max({at, last_rd + n.ccd_s, group_rd[group] + n.ccd_l, last_wr + n.cwl + n.burst + n.wtr_s,
                               group_wr[group] + n.cwl + n.burst + n.wtr_l});
            if (at >= refresh) {
                for (Bank& each : banks) each.row = -1;
                ready = refresh + n.rp + n.rfc;
                refresh += n.refi;
                continue;
            }
            if (opens) {
                bank.row = row;
                bank.activated = group_act[group] = activated;
                acts = {acts[1], acts[2], acts[3], activated};
            }
            (write ? bank.written : bank.read) = at;
            (write ? last_wr : last_rd) = at;
            (write ? group_wr : group_rd)[group] = at;
            return at;
        }
    }
};

class DramOracle final : public Oracle {
    const DramNumbers n;
    const int64_t line, beat;
    std::vector<DramChannel> channels;

    // The clock in which the data of a burst have come, or gone.
    int64_t end(int64_t burst, int64_t cycle, bool write) {
        auto digit = [&burst](int64_t base) {
            const int64_t value = burst % base;
            burst /= base;
            return value;
        };
        DramChannel& channel = channels[digit(n.channels)];
        const int64_t group = digit(n.groups);
        digit(n.row_bytes / n.burst_bytes);
        const int64_t bank = digit(n.banks);
        const int64_t arrival = divided_up(cycle * n.cycle_ps, n.clock_ps) + n.frontend;
        return channel.access(arrival, group, bank, burst, write) + (write ? n.cwl : n.cl) + n.burst + n.backend;
    }

public:
    DramOracle(uint64_t beats, int64_t line, const DramNumbers& numbers)
        : Oracle(beats), n(numbers), line(line), beat(line / static_cast<int64_t>(beats)) {
        for (int64_t channel = 0; channel < n.channels; ++channel) channels.emplace_back(n);
    }
    DramOracle(const DramOracle&) = delete;

    Reply reply(const Request& request) override {
        const auto accepted = static_cast<int64_t>(request.offered + (request.write ? beats : 0));
        const auto address = static_cast<int64_t>(request.address);
        const int64_t first = address / n.burst_bytes, last = (address + line - 1) / n.burst_bytes;
        std::vector<uint64_t> done;
        for (int64_t burst = first; burst <= last; ++burst)
            done.push_back(divided_up(end(burst, accepted, request.write) * n.clock_ps, n.cycle_ps));
        auto by = [&](int64_t from, int64_t to) {  // All bursts of these bytes are done.
            uint64_t cycle = accepted + 1;
            for (int64_t burst = from / n.burst_bytes; burst <= (to - 1) / n.burst_bytes; ++burst)
                cycle = std::max(cycle, done[burst - first]);
            return cycle;
        };
        Reply reply{static_cast<uint64_t>(accepted), {}};
        if (request.write) {
            reply.answers.push_back(write_answer(by(address, address + line)));
            return reply;
        }
        for (int64_t at = address; at < address + line; at += beat) reply.answers.push_back(read_beat(by(at, at + beat)));
        return reply;
    }
};

// What was recorded: requests and what came of them.
struct Recorded {
    Request request;
    Reply reply;
};

class LogOracle final : public Oracle {
    std::vector<Recorded> recorded;
    size_t next = 0;

public:
    LogOracle(uint64_t beats, std::vector<Recorded> recorded) : Oracle(beats), recorded(std::move(recorded)) {}
    Reply reply(const Request& request) override {
        const bool known = next < recorded.size();
        const Recorded& then = known ? recorded[next] : Recorded{};
        if (!known || then.request.write != request.write || then.request.address != request.address ||
            then.request.offered != request.offered)
            throw std::runtime_error("the run makes another request than the log has as number " + std::to_string(next));
        ++next;
        return then.reply;
    }
};

// What the memories of a run are to be, in words: `constant T`, `random SEED`, `dram` and its numbers in the order of
// `DramNumbers`, or `log`, and for each request a line of numbers: master, 1 for a write, address, o, e, answers.
class OracleChoice {
    std::string kind = "constant";
    std::vector<int64_t> numbers{1};
    std::vector<std::vector<Recorded>> logs;

    int64_t at(size_t place) const {
        if (place >= numbers.size()) throw std::invalid_argument("the memory '" + kind + "' lacks numbers");
        return numbers[place];
    }

public:
    OracleChoice() = default;
    OracleChoice(std::istream& words, size_t masters, uint64_t beats) : logs(masters) {
        words >> kind;
        numbers.clear();
        for (int64_t number; words >> number;) numbers.push_back(number);
        if (kind != "log") return;
        for (size_t place = 0; place < numbers.size();) {
            Recorded one{};
            const auto master = static_cast<size_t>(at(place++));
            one.request.write = at(place++);
            one.request.address = at(place++);
            one.request.offered = at(place++);
            one.reply.accepted = at(place++);
            for (uint64_t answer = 0; answer < (one.request.write ? 1 : beats); ++answer)
                one.reply.answers.push_back(at(place++));
            logs.at(master).push_back(one);
        }
    }

    // The memory of a master whose lines have that many beats.
    std::unique_ptr<Oracle> make(size_t master, uint64_t beats, uint64_t line) const {
        if (kind == "constant") return std::make_unique<ConstantOracle>(beats, at(0));
        if (kind == "random") return std::make_unique<RandomOracle>(beats, at(0) + master);
        if (kind == "log") return std::make_unique<LogOracle>(beats, logs.at(master));
        if (kind != "dram") throw std::invalid_argument("there is no memory '" + kind + "'");
        const DramNumbers n{at(0),  at(1),  at(2),  at(3),  at(4),  at(5),  at(6),  at(7),  at(8),
                            at(9),  at(10), at(11), at(12), at(13), at(14), at(15), at(16), at(17),
                            at(18), at(19), at(20), at(21), at(22), at(23), at(24), at(25)};
        return std::make_unique<DramOracle>(beats, line, n);
    }
};
