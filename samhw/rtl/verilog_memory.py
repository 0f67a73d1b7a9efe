"""Memories in generated Verilog, as instances of one module.

Amaranth's own form initialises a memory with a line for each word: megabytes of text for a memory of usual
size, and seconds to write and to read them.
"""

from amaranth.hdl import Cat, ClockSignal, Elaboratable, Instance, Shape
from amaranth.lib import memory

from samhw.rtl.memories import TENSOR

__all__ = ["VerilogMemories"]

_LEAST_DEPTH = 64
"""Smaller memories keep Amaranth's own form."""

_MODULE = """
// Words that are written and read at the clock, zero at power-on. READS read ports; bit k of TRANSPARENT says
// that port k gives the new word, not the old one, if that word is written in the same cycle. TENSOR is 1 if
// they are a tensor's.
module @NAME@ #(
  parameter WIDTH = 1,
  parameter DEPTH = 2,
  parameter ADDR = 1,
  parameter READS = 1,
  parameter [READS-1:0] TRANSPARENT = {READS{1'b0}},
  parameter TENSOR = 0
) (
  input clk,
  input write_en,
  input [ADDR-1:0] write_addr,
  input [WIDTH-1:0] write_data,
  input [READS-1:0] read_en,
  input [READS*ADDR-1:0] read_addr,
  output [READS*WIDTH-1:0] read_data
);
  (* tensor = TENSOR *) reg [WIDTH-1:0] stored [0:DEPTH-1];
  integer n;
  initial for (n = 0; n < DEPTH; n = n + 1) stored[n] = 0;
  always @(posedge clk) if (write_en) stored[write_addr] <= write_data;
  genvar k;
  generate
    for (k = 0; k < READS; k = k + 1) begin : port
      wire [ADDR-1:0] addr = read_addr[k*ADDR +: ADDR];
      reg [WIDTH-1:0] data = 0;
      assign read_data[k*WIDTH +: WIDTH] = data;
      if (TRANSPARENT[k]) begin : new_word
        always @(posedge clk) if (read_en[k])
          data <= write_en && write_addr == addr ? write_data : stored[addr];
      end else begin : old_word
        always @(posedge clk) if (read_en[k]) data <= stored[addr];
      end
    end
  endgenerate
endmodule
"""


class VerilogMemories:
    """The platform for which Verilog is generated: it says what becomes of a `Memory`, and nothing else.

    Args:
        module: name of the module, which differs between designs that may meet in one project.

    Attributes:
        text: the module; goes with what Amaranth generates.
    """

    def __init__(self, module: str):
        self.module = module
        self.text = _MODULE.replace("@NAME@", module)

    def get_memory(self, store: memory.Memory) -> Elaboratable:
        """An instance of the module if the memory is of its kind, else what Amaranth makes of it."""
        if not _is_plain(store):
            return store.elaborate(None)
        (write,) = store.write_ports
        reads = store.read_ports
        return Instance(
            self.module,
            p_WIDTH=Shape.cast(store.shape).width,
            p_DEPTH=store.depth,
            p_ADDR=len(write.addr),
            p_READS=len(reads),
            p_TRANSPARENT=sum(bool(read.transparent_for) << k for k, read in enumerate(reads)),
            p_TENSOR=store.attrs.get(TENSOR, 0),
            i_clk=ClockSignal(write.domain),
            i_write_en=write.en,
            i_write_addr=write.addr,
            i_write_data=write.data,
            i_read_en=Cat(read.en for read in reads),
            i_read_addr=Cat(read.addr for read in reads),
            o_read_data=Cat(read.data for read in reads),
        )


def _is_plain(store: memory.Memory) -> bool:
    """One clock, one write port for whole words, zero at power-on, and big."""
    return (
        store.depth >= _LEAST_DEPTH
        and len(store.write_ports) == 1
        and len(store.write_ports[0].en) == 1
        and len(store.read_ports) > 0
        and all(read.domain == store.write_ports[0].domain for read in store.read_ports)
        and not any(store.init)
    )
