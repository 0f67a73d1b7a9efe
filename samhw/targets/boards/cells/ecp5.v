// Models of the ECP5 cells that board tops use, for emulation. They have no delays, and the PLL does not multiply: in
// emulation the board's clock pin runs at the frequency that the PLL would make of it.

module EHXPLLL #(
  parameter CLKI_DIV = 1,
  parameter CLKFB_DIV = 1,
  parameter CLKOP_DIV = 1,
  parameter CLKOP_CPHASE = 0,
  parameter CLKOP_FPHASE = 0,
  parameter CLKOP_ENABLE = "ENABLED",
  parameter FEEDBK_PATH = "CLKOP",
  parameter DPHASE_SOURCE = "DISABLED",
  parameter INTFB_WAKE = "DISABLED",
  parameter PLLRST_ENA = "DISABLED",
  parameter STDBY_ENABLE = "DISABLED"
) (
  input CLKI, CLKFB, RST, STDBY, PHASESEL0, PHASESEL1, PHASEDIR, PHASESTEP, PHASELOADREG, PLLWAKESYNC, ENCLKOP,
  output CLKOP, LOCK
);
  reg [3:0] cycles = 0;
  always @(posedge CLKI) if (!LOCK) cycles <= cycles + 1;
  assign LOCK = &cycles;
  assign CLKOP = CLKI;
endmodule

module IB(input I, output O);
  assign O = I;
endmodule

module OB(input I, output O);
  assign O = I;
endmodule

module OBZ(input I, input T, output O);
  assign O = I & ~T;
endmodule
