"""A design in hand-written Verilog with the ports of the generated top level, to test the harness by itself.

A run copies A.vals to C.vals, a word a cycle. The word 0xDEAD is an overflow of the node `array`, the word
0xBEEF makes the run stand still until the watchdog reports a deadlock, and 0xF00D makes it go on forever.
"""

from samhw.graph import (
    Arch,
    Channel,
    Design,
    Endpoint,
    Graph,
    Memory,
    MemoryRole,
    Node,
    Payload,
    Port,
    Stream,
    StreamKind,
    TensorBinding,
)
from samhw.graph.address_map import AddressMap
from samhw.graph.numerics import value_type

__all__ = ["ARCH", "CAPACITY", "DESIGN", "GRAPH", "verilog"]

CAPACITY = 8
ARCH = Arch()

_IN, _OUT = MemoryRole.INPUT, MemoryRole.OUTPUT


def _port(name: str, kind: StreamKind, depth: int) -> tuple[Port, ...]:
    return (Port(name, Stream(Payload(kind), depth)),)


def _channel(source: str, sink: str) -> Channel:
    return Channel(Endpoint(*source.split(".")), Endpoint(*sink.split(".")), 1, 2)


GRAPH = Graph(
    name="copy",
    value=value_type("i32"),
    nodes=(
        Node("root", "root", {}, (), _port("out", StreamKind.REF, 0)),
        Node(
            "scan",
            "scan_dense",
            {"extent": "i"},
            _port("ref", StreamKind.REF, 0),
            (*_port("crd", StreamKind.CRD, 1), *_port("ref", StreamKind.REF, 1)),
        ),
        Node(
            "array",
            "array",
            {"vals": "A.vals"},
            _port("ref", StreamKind.REF, 1),
            _port("val", StreamKind.VAL, 1),
        ),
        Node("write", "write_val", {"vals": "C.vals"}, _port("val", StreamKind.VAL, 1), ()),
    ),
    channels=(
        _channel("root.out", "scan.ref"),
        _channel("scan.ref", "array.ref"),
        _channel("array.val", "write.val"),
    ),
    memories=(
        Memory("A.vals", "A", "vals", _IN, CAPACITY),
        Memory("C.vals", "C", "vals", _OUT, CAPACITY),
    ),
    tensors=(
        TensorBinding("A", _IN, "dense", ("i",), (CAPACITY,)),
        TensorBinding("C", _OUT, "dense", ("i",), (CAPACITY,)),
    ),
    extents={"i": CAPACITY},
)

DESIGN = Design.of(GRAPH)


def verilog(*, identity: int | None = None, starts: bool = True) -> str:
    """The text, with stall ports and probes; it may claim another identity, or ignore `start`."""
    map = AddressMap(DESIGN, ARCH)
    return _TEXT % {
        "identity": map.identity if identity is None else identity,
        "starts": int(starts),
        "top_bit": map.address_bits - 1,
        "extent": map.extents["i"],
        "ends": map.region_cycles.start,
        "states": map.channel_states.start,
        "input": map.windows["A.vals"].base,
        "output": map.windows["C.vals"].base,
        "bytes": 4 * CAPACITY,
    }


_TEXT = """
module samhw_top(
  input aclk, input aresetn,
  input [%(top_bit)d:0] s_axi_awaddr, input [2:0] s_axi_awprot, input s_axi_awvalid, output s_axi_awready,
  input [31:0] s_axi_wdata, input [3:0] s_axi_wstrb, input s_axi_wvalid, output s_axi_wready,
  output reg [1:0] s_axi_bresp, output reg s_axi_bvalid, input s_axi_bready,
  input [%(top_bit)d:0] s_axi_araddr, input [2:0] s_axi_arprot, input s_axi_arvalid, output s_axi_arready,
  output reg [31:0] s_axi_rdata, output reg [1:0] s_axi_rresp, output reg s_axi_rvalid, input s_axi_rready,
  output reg running, output reg done, output error, output [63:0] cycle,
  input [1:0] stall,
  output probe0_valid, output [1:0] probe0_kind, output [31:0] probe0_payload,
  output probe1_valid, output [1:0] probe1_kind, output [31:0] probe1_payload,
  output probe2_valid, output [1:0] probe2_kind, output [31:0] probe2_payload
);
  reg [31:0] a[0:7], c[0:7];
  reg [31:0] extent, n, idle;
  reg [63:0] count;
  reg [31:0] ended;
  reg [4:0] cause;
  reg [31:0] node;
  assign error = cause != 0;
  assign cycle = running ? count : 0;

  wire [31:0] word = a[n[2:0]];
  wire ends = n == extent;
  wire stuck = !ends && word == 32'hBEEF;
  wire fires = running && stall == 0 && !stuck && !(!ends && word == 32'hF00D);
  assign probe0_valid = 0, probe0_kind = 0, probe0_payload = 0;
  assign probe1_valid = fires, probe1_kind = ends ? 3 : 0, probe1_payload = ends ? 0 : n;
  assign probe2_valid = fires, probe2_kind = ends ? 3 : 0, probe2_payload = ends ? 0 : word;

  // The host port: a write is taken when address and data are there.
  wire wr = s_axi_awvalid && s_axi_wvalid && (!s_axi_bvalid || s_axi_bready);
  wire rd = s_axi_arvalid && (!s_axi_rvalid || s_axi_rready);
  assign s_axi_awready = wr, s_axi_wready = wr, s_axi_arready = rd;
  wire in_a = s_axi_awaddr >= %(input)d && s_axi_awaddr < %(input)d + %(bytes)d;
  wire in_c = s_axi_araddr >= %(output)d && s_axi_araddr < %(output)d + %(bytes)d;
  wire go = wr && s_axi_awaddr == 0 && s_axi_wdata[0] && !running && !error && %(starts)d;

  always @(posedge aclk) begin
    if (s_axi_bready) s_axi_bvalid <= 0;
    if (s_axi_rready) s_axi_rvalid <= 0;
    if (wr) begin
      s_axi_bvalid <= 1;
      s_axi_bresp <= (in_a || s_axi_awaddr == 0 || s_axi_awaddr == %(extent)d) ? 0 : 2;
      if (s_axi_awaddr == %(extent)d) extent <= s_axi_wdata;
      if (in_a) a[s_axi_awaddr[4:2]] <= s_axi_wdata;
    end
    if (rd) begin
      s_axi_rvalid <= 1;
      s_axi_rresp <= (in_c || s_axi_araddr <= %(states)d) ? 0 : 2;
      case (s_axi_araddr)
        4: s_axi_rdata <= {29'b0, error, done, running};
        8: s_axi_rdata <= {27'b0, cause};
        12: s_axi_rdata <= node;
        16: s_axi_rdata <= count[31:0];
        20: s_axi_rdata <= count[63:32];
        24: s_axi_rdata <= %(identity)d;
        %(ends)d: s_axi_rdata <= ended;
        %(states)d: s_axi_rdata <= 6'b011001;
        default: s_axi_rdata <= c[s_axi_araddr[4:2]];
      endcase
    end
    if (go) begin
      running <= 1;
      done <= 0;
      n <= 0;
      idle <= 0;
      count <= 1;
      ended <= 0;
    end
    if (running && !error) begin
      idle <= stuck ? idle + 1 : 0;
      if (fires && ends) begin
        running <= 0;
        done <= 1;
        ended <= count[31:0];
      end else begin
        count <= count + 1;
      end
      if (fires && !ends) begin
        c[n[2:0]] <= word;
        n <= n + 1;
        if (word == 32'hDEAD) begin
          cause <= 1;
          node <= 2;
          running <= 0;
        end
      end
      if (idle == 20) begin
        cause <= 16;
        node <= 32'hFFFFFFFF;
        running <= 0;
      end
    end
    if (!aresetn) begin
      running <= 0;
      done <= 0;
      count <= 0;
      cause <= 0;
      node <= 32'hFFFFFFFF;
      s_axi_bvalid <= 0;
      s_axi_rvalid <= 0;
    end
  end
endmodule
"""
