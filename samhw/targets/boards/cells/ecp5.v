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
  parameter STDBY_ENABLE = "DISABLED",
  parameter CLKOS_ENABLE = "DISABLED",
  parameter CLKOS_DIV = 1,
  parameter CLKOS_CPHASE = 0,
  parameter CLKOS_FPHASE = 0
) (
  input CLKI, CLKFB, RST, STDBY, PHASESEL0, PHASESEL1, PHASEDIR, PHASESTEP, PHASELOADREG, PLLWAKESYNC, ENCLKOP,
  input ENCLKOS,
  output CLKOP, CLKOS, LOCK
);
  reg [3:0] cycles = 0;
  always @(posedge CLKI) if (!LOCK) cycles <= cycles + 1;
  assign LOCK = &cycles;
  assign CLKOP = CLKI;
  // Late by half a period: without delays that is as good as any other time between two edges.
  assign CLKOS = ~CLKI;
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

module BB(input I, input T, output O, inout B);
  assign B = T ? 1'bz : I;
  assign O = B;
endmodule

module IFS1P3DX(input SCLK, SP, CD, D, output reg Q = 0);
  always @(posedge SCLK) if (CD) Q <= 0; else if (SP) Q <= D;
endmodule

module OFS1P3DX(input SCLK, SP, CD, D, output reg Q = 0);
  always @(posedge SCLK) if (CD) Q <= 0; else if (SP) Q <= D;
endmodule

// Without the two cycles that data take, which are always the same here.
module ODDRX1F(input SCLK, RST, D0, D1, output Q);
  assign Q = SCLK ? D0 : D1;
endmodule

module FD1S3AX(input CK, D, output reg Q = 0);
  always @(posedge CK) Q <= D;
endmodule
