// An SDRAM chip by the data sheet of the Micron MT48LC16M16A2, -75 and slower, with bursts of one word. What the sheet
// forbids ends the simulation: a command to a bank that is not in the state for it or that comes too early, a refresh
// that comes too late, data from both sides.

module samhw_sdram #(
  parameter CYCLE_PS = 20000, BANK_BITS = 2, ROW_BITS = 13, COLUMN_BITS = 9, BYTES = 2, LATENCY = 2
) (
  input clk, cke, cs_n, ras_n, cas_n, we_n,
  input [BANK_BITS-1:0] ba,
  input [ROW_BITS-1:0] a,
  input [BYTES-1:0] dqm,
  inout [8*BYTES-1:0] dq
);
  // In picoseconds.
  localparam tWAKE = 100000000, tRP = 20000, tRCD = 20000, tRAS = 44000, tRC = 66000, tRFC = 66000, tRRD = 15000,
             tWR = 15000, tREFI = 7812500;
  localparam tMRD = 2;  // Clocks.
  localparam OWED = 8;  // Refreshes that may be late.
  localparam BANKS = 1 << BANK_BITS;

  reg [8*BYTES-1:0] words [0:(1 << (BANK_BITS + ROW_BITS + COLUMN_BITS))-1];
  reg open [0:BANKS-1];
  reg [ROW_BITS-1:0] row [0:BANKS-1];
  reg [63:0] activated [0:BANKS-1], precharged [0:BANKS-1], written [0:BANKS-1];
  reg [63:0] now = 1, refreshed = 0, activation = 0, mode_set = 0;
  reg [63:0] refreshes = 0, first_refresh = 0;
  reg has_mode = 0;

  // Reads on their way, and the masks of their clocks.
  reg [LATENCY:0] coming = 0;
  reg [8*BYTES-1:0] fetched [0:LATENCY];
  reg [BYTES-1:0] masked [0:LATENCY];

  wire driving = coming[LATENCY-1];
  genvar byte_;
  generate
    for (byte_ = 0; byte_ < BYTES; byte_ = byte_ + 1) begin : bytes
      assign dq[8*byte_ +: 8] =
        driving && !masked[1][byte_] ? fetched[LATENCY-1][8*byte_ +: 8] : 8'bz;
    end
  endgenerate

  task forbid(input wrong, input [8*64-1:0] what);
    if (wrong) begin
      $fwrite(32'h80000002, "the SDRAM: %0s\n", what);
      $stop;
    end
  endtask

  // Whether fewer picoseconds have passed since a clock than they must.
  function early(input [63:0] since, input integer least);
    early = since != 0 && (now < since || (now - since) * CYCLE_PS < least);
  endfunction

  // The clock in which a row that closes itself does so: not before tRAS, and after a write not before tWR.
  function [63:0] closed(input [63:0] since, input integer wait_ps);
    reg [63:0] own, other;
    begin
      own = now + (wait_ps + CYCLE_PS - 1) / CYCLE_PS;
      other = since + (tRAS + CYCLE_PS - 1) / CYCLE_PS;
      closed = own > other ? own : other;
    end
  endfunction

  integer n;
  initial
    for (n = 0; n < BANKS; n = n + 1) begin
      open[n] = 0;
      activated[n] = 0;
      precharged[n] = 0;
      written[n] = 0;
    end

  wire [BANK_BITS+ROW_BITS+COLUMN_BITS-1:0] at = {row[ba], ba, a[COLUMN_BITS-1:0]};
  wire reads = cke && !cs_n && ras_n && !cas_n && we_n;
  wire writes = cke && !cs_n && ras_n && !cas_n && !we_n;
  wire [BANKS-1:0] closes = a[10] ? {BANKS{1'b1}} : 1 << ba;

  always @(posedge clk) begin
    now <= now + 1;
    coming <= {coming[LATENCY-1:0], reads};
    for (n = LATENCY; n > 0; n = n - 1) begin
      fetched[n] <= fetched[n-1];
      masked[n] <= masked[n-1];
    end
    fetched[0] <= words[at];
    masked[0] <= dqm;
    if (cke && !cs_n && !(ras_n && cas_n && we_n)) begin
      forbid(now * CYCLE_PS < tWAKE, "a command before it is awake");
      forbid(early(refreshed, tRFC), "a command during a refresh");
      forbid(mode_set != 0 && now - mode_set < tMRD, "a command before the mode is set");
      case ({ras_n, cas_n, we_n})
        3'b011: begin  // ACTIVE
          forbid(!has_mode, "ACTIVE without a mode");
          forbid(open[ba], "ACTIVE in a bank with an open row");
          forbid(early(precharged[ba], tRP), "ACTIVE within tRP");
          forbid(early(activated[ba], tRC), "ACTIVE within tRC");
          forbid(early(activation, tRRD), "ACTIVE within tRRD");
          open[ba] <= 1;
          row[ba] <= a;
          activated[ba] <= now;
          activation <= now;
        end
        3'b101, 3'b100: begin  // READ, WRITE
          forbid(!open[ba], "an access to a bank without an open row");
          forbid(early(activated[ba], tRCD), "an access within tRCD");
          if (writes) begin
            for (n = 0; n < BYTES; n = n + 1) if (!dqm[n]) words[at][8*n +: 8] <= dq[8*n +: 8];
            forbid(driving, "data from both sides");
            written[ba] <= now;
          end
          if (a[10]) begin
            open[ba] <= 0;
            precharged[ba] <= closed(activated[ba], writes ? tWR : 0);
          end
        end
        3'b010:  // PRECHARGE
          for (n = 0; n < BANKS; n = n + 1)
            if (closes[n] && open[n]) begin
              forbid(early(activated[n], tRAS), "a precharge within tRAS");
              forbid(early(written[n], tWR), "a precharge within tWR");
              open[n] <= 0;
              precharged[n] <= now;
            end
        3'b001: begin  // AUTO REFRESH
          for (n = 0; n < BANKS; n = n + 1) begin
            forbid(open[n], "a refresh with an open row");
            forbid(early(precharged[n], tRP), "a refresh within tRP");
          end
          refreshed <= now;
          refreshes <= refreshes + 1;
          if (refreshes == 0) first_refresh <= now;
        end
        3'b000: begin  // LOAD MODE REGISTER
          for (n = 0; n < BANKS; n = n + 1) forbid(open[n], "a mode with an open row");
          forbid(refreshes < 2, "a mode before two refreshes");
          forbid(a != LATENCY << 4, "another mode than bursts of a word");
          has_mode <= 1;
          mode_set <= now;
        end
        default: forbid(1, "a command that it does not have");
      endcase
    end
    forbid(refreshes != 0 && (now - first_refresh) * CYCLE_PS > (refreshes + OWED) * tREFI, "too few refreshes");
  end
endmodule

// The chip with the registers that a board has at its pins (docs/memory.md, "SDRAM"). Without delays, half a cycle is as
// good as a quarter.
module samhw_sdram_registered #(
  parameter CYCLE_PS = 20000, BANK_BITS = 2, ROW_BITS = 13, COLUMN_BITS = 9, BYTES = 2, LATENCY = 2
) (
  input clk, cke, cs_n, ras_n, cas_n, we_n,
  input [BANK_BITS-1:0] ba,
  input [ROW_BITS-1:0] a,
  input [BYTES-1:0] dqm,
  input [8*BYTES-1:0] dq_o,
  input dq_oe,
  output reg [8*BYTES-1:0] dq_i
);
  reg [4:0] command = 5'b01111;
  reg [BANK_BITS-1:0] bank;
  reg [ROW_BITS-1:0] address;
  reg [BYTES-1:0] mask;
  reg [8*BYTES-1:0] data;
  reg drive = 0;
  wire [8*BYTES-1:0] dq = drive ? data : {8*BYTES{1'bz}};
  always @(posedge clk) begin
    command <= {cke, cs_n, ras_n, cas_n, we_n};
    bank <= ba;
    address <= a;
    mask <= dqm;
    data <= dq_o;
    drive <= dq_oe;
    dq_i <= dq;
  end
  samhw_sdram #(CYCLE_PS, BANK_BITS, ROW_BITS, COLUMN_BITS, BYTES, LATENCY) chip (
    ~clk, command[4], command[3], command[2], command[1], command[0], bank, address, mask, dq
  );
endmodule

// Shows the pins of a master to the harness, in each cycle of a run.
module samhw_observer(
  input clk, running,
  input [63:0] cycle,
  input [31:0] ids, awaddr, araddr,
  input [8:0] flags
);
  import "DPI-C" function void samhw_observe(
    input byte unsigned begins, input longint unsigned at, input int unsigned who, input int unsigned what,
    input int unsigned write_to, input int unsigned read_from
  );
  reg was_running = 0;
  always @(posedge clk) begin
    was_running <= running;
    if (running) samhw_observe({7'b0, !was_running}, cycle, ids, {23'b0, flags}, awaddr, araddr);
  end
endmodule
