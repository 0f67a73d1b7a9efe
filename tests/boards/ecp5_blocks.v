// Models of the ECP5's block memory and multiplier, from Lattice's descriptions (FPGA-TN-02204, FPGA-TN-02205). They
// have no delays, and only what the tests use: a memory has a port that writes and one that reads, and no resets, chip
// selects and inverted clocks, and a multiplier has one register. What else a parameter asks for is a module that is
// not there.

// The outputs of a side of a block memory.
module BlockMemoryOutput #(
  parameter REGMODE = "NOREG"
) (
  input clk, ce, oce,
  input [17:0] word,
  output [17:0] out
);
  reg [17:0] latch = 0, register = 0;
  always @(posedge clk) begin
    if (ce) latch <= word;
    if (oce) register <= latch;
  end
  generate
    case (REGMODE)
      "NOREG": assign out = latch;
      "OUTREG": assign out = register;
      default: NOT_MODELLED regmode();
    endcase
  endgenerate
endmodule

// 18,432 bits: A writes and B reads. In words of 36, the inputs of both sides are those of A, and the outputs those of
// B. A word that is read while it is written is not defined, and becomes the inverse of what it was.
module DP16KD #(
  parameter DATA_WIDTH_A = 18, DATA_WIDTH_B = 18,
  parameter REGMODE_A = "NOREG", REGMODE_B = "NOREG",
  parameter WRITEMODE_A = "NORMAL", WRITEMODE_B = "NORMAL",
  parameter CLKAMUX = "CLKA", CLKBMUX = "CLKB",
  parameter CSDECODE_A = "0b000", CSDECODE_B = "0b000",
  parameter RESETMODE = "SYNC", ASYNC_RESET_RELEASE = "SYNC", GSR = "ENABLED",
  parameter [319:0] INITVAL_00 = 0, INITVAL_01 = 0, INITVAL_02 = 0, INITVAL_03 = 0,
  parameter [319:0] INITVAL_04 = 0, INITVAL_05 = 0, INITVAL_06 = 0, INITVAL_07 = 0,
  parameter [319:0] INITVAL_08 = 0, INITVAL_09 = 0, INITVAL_0A = 0, INITVAL_0B = 0,
  parameter [319:0] INITVAL_0C = 0, INITVAL_0D = 0, INITVAL_0E = 0, INITVAL_0F = 0,
  parameter [319:0] INITVAL_10 = 0, INITVAL_11 = 0, INITVAL_12 = 0, INITVAL_13 = 0,
  parameter [319:0] INITVAL_14 = 0, INITVAL_15 = 0, INITVAL_16 = 0, INITVAL_17 = 0,
  parameter [319:0] INITVAL_18 = 0, INITVAL_19 = 0, INITVAL_1A = 0, INITVAL_1B = 0,
  parameter [319:0] INITVAL_1C = 0, INITVAL_1D = 0, INITVAL_1E = 0, INITVAL_1F = 0,
  parameter [319:0] INITVAL_20 = 0, INITVAL_21 = 0, INITVAL_22 = 0, INITVAL_23 = 0,
  parameter [319:0] INITVAL_24 = 0, INITVAL_25 = 0, INITVAL_26 = 0, INITVAL_27 = 0,
  parameter [319:0] INITVAL_28 = 0, INITVAL_29 = 0, INITVAL_2A = 0, INITVAL_2B = 0,
  parameter [319:0] INITVAL_2C = 0, INITVAL_2D = 0, INITVAL_2E = 0, INITVAL_2F = 0,
  parameter [319:0] INITVAL_30 = 0, INITVAL_31 = 0, INITVAL_32 = 0, INITVAL_33 = 0,
  parameter [319:0] INITVAL_34 = 0, INITVAL_35 = 0, INITVAL_36 = 0, INITVAL_37 = 0,
  parameter [319:0] INITVAL_38 = 0, INITVAL_39 = 0, INITVAL_3A = 0, INITVAL_3B = 0,
  parameter [319:0] INITVAL_3C = 0, INITVAL_3D = 0, INITVAL_3E = 0, INITVAL_3F = 0
) (
  input DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2,
    DIA1, DIA0,
  input ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0,
  input CLKA, CEA, OCEA, WEA, RSTA, CSA2, CSA1, CSA0,
  output DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2,
    DOA1, DOA0,
  input DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2,
    DIB1, DIB0,
  input ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0,
  input CLKB, CEB, OCEB, WEB, RSTB, CSB2, CSB1, CSB0,
  output DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2,
    DOB1, DOB0
);
  localparam [64 * 320 - 1:0] INIT = {
    INITVAL_3F, INITVAL_3E, INITVAL_3D, INITVAL_3C, INITVAL_3B, INITVAL_3A, INITVAL_39, INITVAL_38,
    INITVAL_37, INITVAL_36, INITVAL_35, INITVAL_34, INITVAL_33, INITVAL_32, INITVAL_31, INITVAL_30,
    INITVAL_2F, INITVAL_2E, INITVAL_2D, INITVAL_2C, INITVAL_2B, INITVAL_2A, INITVAL_29, INITVAL_28,
    INITVAL_27, INITVAL_26, INITVAL_25, INITVAL_24, INITVAL_23, INITVAL_22, INITVAL_21, INITVAL_20,
    INITVAL_1F, INITVAL_1E, INITVAL_1D, INITVAL_1C, INITVAL_1B, INITVAL_1A, INITVAL_19, INITVAL_18,
    INITVAL_17, INITVAL_16, INITVAL_15, INITVAL_14, INITVAL_13, INITVAL_12, INITVAL_11, INITVAL_10,
    INITVAL_0F, INITVAL_0E, INITVAL_0D, INITVAL_0C, INITVAL_0B, INITVAL_0A, INITVAL_09, INITVAL_08,
    INITVAL_07, INITVAL_06, INITVAL_05, INITVAL_04, INITVAL_03, INITVAL_02, INITVAL_01, INITVAL_00
  };

  wire [13:0] ada = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0};
  wire [13:0] adb = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0};
  wire [17:0] dia = {DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4,
    DIA3, DIA2, DIA1, DIA0};
  wire [17:0] dib = {DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4,
    DIB3, DIB2, DIB1, DIB0};
  wire [17:0] doa, dob;
  assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2,
    DOA1, DOA0} = doa;
  assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2,
    DOB1, DOB0} = dob;

  reg [17:0] words [0:1023];
  integer k;
  initial for (k = 0; k < 1024; k = k + 1) words[k] = INIT[20 * k +: 18];

  generate
    if (CLKAMUX != "CLKA" || CLKBMUX != "CLKB" || CSDECODE_A != "0b000" || CSDECODE_B != "0b000") NOT_MODELLED pins();
    if (DATA_WIDTH_A != DATA_WIDTH_B) NOT_MODELLED widths();
  endgenerate

  // A word of 36 bits lies in two of `words`. Narrow ones lie in the bytes of nine bits: one of 9, or as many of 4, 2
  // or 1 as eight bits have.
  localparam WIDTH = DATA_WIDTH_A;
  localparam [17:0] ONES = WIDTH >= 18 ? 18'h3ffff : (18'h1 << WIDTH) - 1;
  localparam [13:0] PLACE = 14'h3fff << $clog2(WIDTH - WIDTH / 9);

  function [9:0] row(input [13:0] address);
    row = WIDTH == 36 ? {address[13:5], 1'b0} : address[13:4];
  endfunction

  function [4:0] first(input [13:0] address);
    first = WIDTH >= 18 ? 0 : (address[3] ? 9 : 0) + (WIDTH == 9 ? 0 : address[2:0] & -WIDTH);
  endfunction

  // Words of 18 and 36 have an enable for each byte.
  function [17:0] enabled(input [13:0] address, input [1:0] bytes);
    enabled = WIDTH >= 18 ? {{9{bytes[1]}}, {9{bytes[0]}}} : ONES << first(address);
  endfunction

  // What A writes.
  wire [17:0] into_low = enabled(ada, ada[1:0]), into_high = WIDTH == 36 ? enabled(ada, ada[3:2]) : 0;
  wire writes = CEA && WEA && |{into_high, into_low};
  always @(posedge CLKA) if (writes) begin
    words[row(ada)] <= (words[row(ada)] & ~into_low) | ((dia << first(ada)) & into_low);
    if (WIDTH == 36) words[row(ada) + 1] <= (words[row(ada) + 1] & ~into_high) | (dib & into_high);
  end

  // What B reads. Of a narrow word, nobody may ask A.
  wire [17:0] undefined = {18{writes && !((ada ^ adb) & PLACE)}};
  wire [17:0] low = (words[row(adb)] >> first(adb)) & ONES ^ undefined, high = words[row(adb) + 1] ^ undefined;
  BlockMemoryOutput #(.REGMODE(REGMODE_B)) b(
    .clk(CLKB), .ce(CEB), .oce(OCEB), .word(WIDTH == 36 ? high : low), .out(dob)
  );
  BlockMemoryOutput #(.REGMODE(REGMODE_A)) a(
    .clk(CLKB), .ce(CEB), .oce(OCEA), .word(WIDTH == 36 ? low : ~low), .out(doa)
  );
endmodule

module MULT18X18D #(
  parameter REG_INPUTA_CLK = "NONE", REG_INPUTB_CLK = "NONE", REG_INPUTC_CLK = "NONE", REG_PIPELINE_CLK = "NONE",
  parameter REG_OUTPUT_CLK = "NONE", REG_OUTPUT_CE = "CE0", REG_OUTPUT_RST = "RST0"
) (
  input A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0,
  input B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0,
  input C17, C16, C15, C14, C13, C12, C11, C10, C9, C8, C7, C6, C5, C4, C3, C2, C1, C0,
  input SIGNEDA, SIGNEDB, SOURCEA, SOURCEB, CLK0, CE0, RST0,
  output P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18, P17, P16, P15,
    P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0
);
  wire [17:0] a = {A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0};
  wire [17:0] b = {B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0};
  wire [35:0] product = {{18{SIGNEDA & a[17]}}, a} * {{18{SIGNEDB & b[17]}}, b};
  reg [35:0] register = 0;
  always @(posedge CLK0)
    if (RST0) register <= 0;
    else if (CE0) register <= product;
  wire [35:0] p;
  assign {P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18, P17, P16, P15,
    P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0} = p;
  generate
    if (REG_INPUTA_CLK != "NONE" || REG_INPUTB_CLK != "NONE" || REG_INPUTC_CLK != "NONE" || REG_PIPELINE_CLK !=
      "NONE")
      NOT_MODELLED registers();
    if (REG_OUTPUT_CLK == "NONE") assign p = product;
    else if (REG_OUTPUT_CLK == "CLK0" && REG_OUTPUT_CE == "CE0" && REG_OUTPUT_RST == "RST0") assign p = register;
    else NOT_MODELLED output_register();
  endgenerate
endmodule
