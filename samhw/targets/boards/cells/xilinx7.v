// Models of the 7-series cells that board tops use, for emulation. They have no delays, and the PLL does not multiply: in
// emulation the board's clock pin runs at the frequency that the PLL would make of it.

module PLLE2_BASE #(
  parameter DIVCLK_DIVIDE = 1,
  parameter CLKFBOUT_MULT = 5,
  parameter CLKOUT0_DIVIDE = 1,
  parameter CLKIN1_PERIOD = 0.0
) (
  input CLKIN1, CLKFBIN, RST, PWRDWN,
  output CLKFBOUT, CLKOUT0, LOCKED
);
  reg [3:0] cycles = 0;
  always @(posedge CLKIN1) if (!LOCKED) cycles <= cycles + 1;
  assign LOCKED = &cycles;
  assign CLKOUT0 = CLKIN1;
  assign CLKFBOUT = CLKIN1;
endmodule

module BUFG(input I, output O);
  assign O = I;
endmodule

module IBUF(input I, output O);
  assign O = I;
endmodule

module OBUFT(input I, input T, output O);
  assign O = I & ~T;
endmodule

module FDPE #(parameter [0:0] INIT = 1) (input C, input CE, input PRE, input D, output reg Q);
  initial Q = INIT;
  always @(posedge C or posedge PRE)
    if (PRE) Q <= 1;
    else if (CE) Q <= D;
endmodule
