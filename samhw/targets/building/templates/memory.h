// A memory at a master of AXI4, which accepts and answers as an oracle says. What a master may not do ends the simulation.
#pragma once

#include "dut.h"
#include "oracle.h"

#include <cstring>
#include <deque>
#include <sstream>

class Memory {
    struct Beat {
        uint64_t cycle;
        uint32_t id;
        std::vector<uint8_t> data;
        bool last;
    };

    MasterPins pins;
    std::vector<uint8_t> bytes;
    std::unique_ptr<Oracle> oracle;
    std::deque<Beat> beats, acknowledgements;
    std::vector<Recorded> log;

    // The request at the pins.
    bool waiting = false;
    Request request{};
    Reply reply{};
    uint32_t id = 0;
    uint64_t taken = 0;  // Beats of a write that have been accepted.

    // If something else answers: the address of a write has been accepted, and the requests that wait for answers.
    struct Unanswered {
        size_t number;
        uint32_t id;
    };
    bool addressed = false;
    // What a master has offered and not been rid of, which has to stay: an address, and a beat with its strobes.
    uint64_t offered_address = 0;
    std::vector<uint8_t> offered_beat;

    std::deque<Unanswered> unanswered_reads, unanswered_writes;

    [[noreturn]] static void wrong(const std::string& what) { throw std::runtime_error("a master of memory " + what); }

    uint64_t line() const { return uint64_t{pins.beat} * pins.beats; }

    void begin(bool write, uint64_t cycle) {
        const uint32_t address = write ? *pins.awaddr : *pins.araddr;
        const unsigned length = 1 + (write ? *pins.awlen : *pins.arlen);
        const unsigned size = 1u << (write ? *pins.awsize : *pins.arsize);
        if (address % line() || address + line() > bytes.size()) wrong("asks for address " + std::to_string(address));
        if (length != pins.beats || size != pins.beat || (write ? *pins.awburst : *pins.arburst) != 1)
            wrong("makes a burst that is no line");
        waiting = true;
        taken = 0;
        id = write ? *pins.awid : *pins.arid;
        request = {write, address, cycle};
        reply = oracle->reply(request);
        log.push_back({request, reply});
    }

    // After the inputs of a cycle are set.
    void check_offers() {
        const uint64_t address = *pins.awvalid   ? 1 | uint64_t{*pins.awaddr} << 2
                                 : *pins.arvalid ? 2 | uint64_t{*pins.araddr} << 2
                                                 : 0;
        if (offered_address && offered_address != address) wrong("takes back an address that it has offered");
        offered_address = (*pins.awvalid ? *pins.awready : *pins.arready) ? 0 : address;
        if (offered_beat.empty() && (!*pins.wvalid || *pins.wready)) return;
        std::vector<uint8_t> beat;
        if (*pins.wvalid) {
            beat.assign(pins.wdata, pins.wdata + pins.beat);
            beat.insert(beat.end(), pins.wstrb, pins.wstrb + (pins.beat + 7) / 8);
        }
        if (!offered_beat.empty() && offered_beat != beat) wrong("takes back a beat that it has offered");
        if (*pins.wready) beat.clear();
        offered_beat = std::move(beat);
    }

    // In the cycle in which it is accepted.
    void accept_read() {
        for (unsigned beat = 0; beat < pins.beats; ++beat) {
            const uint8_t* from = bytes.data() + request.address + beat * pins.beat;
            beats.push_back({reply.answers[beat], id, std::vector<uint8_t>(from, from + pins.beat), beat + 1 == pins.beats});
        }
        waiting = false;
    }

    void write_beat() {
        if (!*pins.wvalid) wrong("has no data to write in time");
        if (*pins.wlast != (taken + 1 == pins.beats)) wrong("ends the data of a write elsewhere than its line");
        for (unsigned byte = 0; byte < pins.beat; ++byte)
            if (pins.wstrb[byte / 8] >> byte % 8 & 1) bytes[request.address + taken * pins.beat + byte] = pins.wdata[byte];
        ++taken;
    }

    // The last beat of a write is accepted when the request is, and the address in one of several cycles.
    void accept_write(uint64_t cycle) {
        const bool is_last = taken + 1 == pins.beats;
        *pins.awready = cycle == (request.address / line() % 2 ? reply.accepted : request.offered);
        *pins.wready = is_last ? cycle == reply.accepted : cycle > request.offered + taken;
        if (*pins.wready) write_beat();
        if (cycle != reply.accepted) return;
        acknowledgements.push_back({reply.answers[0], id, {}, true});
        waiting = false;
    }

    static bool is_due(const std::deque<Beat>& answers, uint64_t cycle) {
        if (answers.empty()) return false;
        if (answers.front().cycle < cycle) wrong("was not answered in time");
        return answers.front().cycle == cycle;
    }

    // The answer belongs to the oldest request with its ID.
    void answered(std::deque<Unanswered>& requests, uint32_t id, bool last, uint64_t cycle) {
        auto found = requests.begin();
        while (found != requests.end() && found->id != id) ++found;
        if (found == requests.end()) throw std::runtime_error("a memory answers a request that nobody has made");
        Reply& reply = log[found->number].reply;
        reply.answers.push_back(cycle);
        if (last != (reply.answers.size() == (log[found->number].request.write ? 1 : pins.beats)))
            throw std::runtime_error("a memory gives another number of beats than a line has");
        if (last) requests.erase(found);
    }

public:
    explicit Memory(const MasterPins& pins) : pins(pins), bytes(pins.bytes) {}

    void begin_run(std::unique_ptr<Oracle> memory) {
        oracle = std::move(memory);
        beats.clear();
        acknowledgements.clear();
        log.clear();
        unanswered_reads.clear();
        unanswered_writes.clear();
        waiting = false;
        offered_address = 0;
        offered_beat.clear();
    }

    // Looks at the pins of a master for a cycle of a run, when everything is settled, if something else answers it.
    void look(uint64_t cycle) {
        if (!pins.observed) return;
        if (!waiting && (*pins.arvalid || *pins.awvalid)) {
            waiting = true;
            taken = 0;
            addressed = false;
            log.push_back({{*pins.awvalid != 0, *pins.awvalid ? *pins.awaddr : *pins.araddr, cycle}, {}});
            (*pins.awvalid ? unanswered_writes : unanswered_reads).push_back({log.size() - 1, *pins.awvalid ? *pins.awid : *pins.arid});
        }
        if (waiting) {
            Recorded& last = log.back();
            if (*pins.wvalid && *pins.wready) ++taken;
            if (*pins.awvalid && *pins.awready) addressed = true;
            if (last.request.write ? addressed && taken == pins.beats : *pins.arvalid && *pins.arready) {
                last.reply.accepted = cycle;
                waiting = false;
            }
        }
        if (*pins.rvalid) answered(unanswered_reads, *pins.rid, *pins.rlast, cycle);
        if (*pins.bvalid) answered(unanswered_writes, *pins.bid, true, cycle);
    }

    // Sets the inputs of a master for a cycle of a run, in which its outputs, all from registers, are there.
    void drive(uint64_t cycle) {
        if (pins.observed) return;
        *pins.arready = *pins.awready = *pins.wready = 0;
        if (!waiting && (*pins.arvalid || *pins.awvalid)) begin(*pins.awvalid, cycle);
        if (waiting && request.write) accept_write(cycle);
        if (waiting && !request.write && cycle == reply.accepted) {
            *pins.arready = 1;
            accept_read();
        }
        *pins.rvalid = is_due(beats, cycle);
        if (*pins.rvalid) {
            const Beat& beat = beats.front();
            *pins.rid = beat.id;
            *pins.rlast = beat.last;
            std::memcpy(pins.rdata, beat.data.data(), pins.beat);
            beats.pop_front();
        }
        *pins.bvalid = is_due(acknowledgements, cycle);
        if (*pins.bvalid) {
            *pins.bid = acknowledgements.front().id;
            acknowledgements.pop_front();
        }
        check_offers();
    }

    uint8_t* at(uint64_t address, uint64_t count) {
        if (address + count > bytes.size()) throw std::runtime_error("a memory has no address " + std::to_string(address + count));
        return bytes.data() + address;
    }

    // The requests of the last run, as the lines of a log.
    void write_log(std::ostream& to, size_t master) const {
        for (const auto& [request, reply] : log) {
            to << master << (request.write ? " write " : " read ") << request.address << ' ' << request.offered << ' '
               << reply.accepted;
            for (uint64_t cycle : reply.answers) to << ' ' << cycle;
            to << '\n';
        }
    }
};
