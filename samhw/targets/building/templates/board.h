// What the harness sees of a verilated board. The glue that implements it is generated for each build
// (board_glue.cpp.j2).
#pragma once

#include <cstdint>
#include <memory>

class BoardModel {
public:
    virtual ~BoardModel() = default;
    virtual void eval() = 0;
    virtual uint8_t& clk() = 0;  // The pin of the board's clock.
    virtual uint8_t& rx() = 0;   // The pin at which the board receives.
    virtual uint8_t tx() = 0;    // The pin at which it sends.
};

// A board that has just been configured.
std::unique_ptr<BoardModel> make_board();

// Beats of a line of the memory whose master the board shows (samhw_observer); 0 if it shows none.
unsigned line_beats();

// Cycles of a bit on the line.
double bit_cycles();
