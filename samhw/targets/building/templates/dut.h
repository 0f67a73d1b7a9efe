// What the harness sees of a verilated design. The glue that implements it is generated for each build (glue.cpp.j2),
// so that the harness itself is compiled once for all designs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

// A token that was popped from a channel in a cycle of the run; the layout of the records in a trace file.
struct TraceRecord {
    uint64_t cycle;
    uint32_t payload;
    uint16_t channel;
    uint8_t kind;
    uint8_t unused;
};

class Trace {
public:
    std::vector<TraceRecord> records;
    uint64_t cycle = 0;
    void token(uint16_t channel, uint8_t kind, uint32_t payload) {
        records.push_back({cycle, payload, channel, kind, 0});
    }
};

// The storage of the top level's ports. Bit ports are bytes, words are 32 bits wide, as addresses are here: the glue
// passes on the bits that the top level has.
struct Pins {
    uint8_t *aclk, *aresetn;
    uint32_t* awaddr;
    uint8_t *awvalid, *awready;
    uint32_t* wdata;
    uint8_t *wstrb, *wvalid, *wready;
    uint8_t *bresp, *bvalid, *bready;
    uint32_t* araddr;
    uint8_t *arvalid, *arready;
    uint32_t* rdata;
    uint8_t *rresp, *rvalid, *rready;
    uint8_t *running, *done, *error;
    uint64_t* cycle;
    uint8_t *awlen, *wlast, *arlen;  // Of AXI4; none if the port is one of AXI4-Lite.
    uint8_t *host_clock, *host_resetn;  // Of a port with a clock of its own; else none.
};

// The pins of a master of memory off the chip, and what it is for: `bytes` of memory, moved in bursts of `beats` of
// `beat` bytes. Words of any width lie in the order of bytes of this machine, the lowest first.
struct MasterPins {
    uint32_t *awaddr, *araddr;
    uint8_t *awid, *awlen, *awsize, *awburst, *awvalid, *awready;
    uint8_t *wdata, *wstrb, *wlast, *wvalid, *wready;
    uint8_t *bid, *bvalid;
    uint8_t *arid, *arlen, *arsize, *arburst, *arvalid, *arready;
    uint8_t *rid, *rdata, *rlast, *rvalid;
    unsigned beat, beats;
    uint64_t bytes;
    bool observed;  // What answers is in the design, and all pins are outputs.
};

// The part of the address map that the harness itself uses: byte addresses, a length in words, and the bytes of the
// port's range.
struct Registers {
    uint32_t control, status, channels, channel_words;
    uint64_t range;
};

class Dut {
public:
    virtual ~Dut() = default;
    virtual Pins pins() = 0;
    virtual Registers registers() const = 0;
    virtual std::vector<MasterPins> masters() { return {}; }
    virtual void eval() = 0;
    virtual unsigned stall_width() const = 0;
    virtual void stall(const uint32_t* words) = 0;
    virtual bool has_probes() const = 0;
    virtual void sample(Trace& trace) = 0;
    virtual void open_wave(const char* path) = 0;
    virtual void dump_wave(uint64_t time) = 0;
    virtual void close_wave() = 0;
};

// A design as it is at power-on.
std::unique_ptr<Dut> make_dut();
