"""The platform for which Verilog is generated."""

import re
from collections.abc import Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import count

from amaranth.back import rtlil
from amaranth.hdl import Cat, ClockSignal, Elaboratable, Instance, ResetSignal, Shape, Value
from amaranth.lib import memory
from amaranth.lib.wiring import In

from samhw.rtl.memories import TENSOR
from samhw.rtl.shared import Elaborate, Make, Shared

__all__ = ["VerilogMemories", "VerilogPlatform"]

# Memories in generated Verilog, as instances of one module.
#
# Amaranth's own form initialises a memory with a line for each word: megabytes of text for a memory of usual
# size, and seconds to write and to read them.


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


_KEPT = 2_000
"""How many modules a process keeps for its next designs: some 40 kB each."""
_EMPTY = re.compile(r"^(  wire width 0) (?:input|output) \d+", re.MULTILINE)
"""A port of no width: Verilog has none."""
_INPUT = re.compile(r"^  wire .*\binput \d+ +\\(\S+)$", re.MULTILINE)
_PLACE = re.compile(r"<(\w+)>")
"""Where a module's text has a name that each design gives."""
_MEMORY = "memory"
"""The place of the module of memories."""
_WORD = re.compile(r"(?<!^)(?=[A-Z])")

_numbers = count()


class VerilogPlatform(VerilogMemories):
    """Says what becomes of memories, and of components that share a module.

    Args:
        name: of the top module; those of the others begin with it.

    Attributes:
        modules: the makes of components that share one, by its name, parts before what they are part of.
    """

    def __init__(self, name: str):
        super().__init__(f"{name}_memory")
        self.modules: dict[str, Make] = {}
        self._name = name
        self._texts: list[str] = []
        self._places = {_MEMORY: self.module}

    @property
    def rtlil(self) -> str:
        """The text of `modules`, which goes with that of the design."""
        return "".join(_PLACE.sub(lambda place: self._places[place[1]], text) for text in self._texts)

    def get_shared(self, component: Shared, elaborate: Elaborate) -> Elaboratable:
        """An instance of the module for components of that make."""
        module = _shared_module(component.make)
        self._include(module)
        return _instance(self._places[module.place], module, component)

    def _include(self, module: "_SharedModule") -> None:
        if module.place in self._places:
            return
        for part in module.parts:
            self._include(part)
        kind = module.make.kind
        number = 1 + sum(make.kind is kind for make in self.modules.values())
        name = f"{self._name}_{_WORD.sub('_', kind.__name__).lower()}_{number}"
        self._places[module.place] = name
        self.modules[name] = module.make
        self._texts.append(module.text)


@dataclass(frozen=True, eq=False)
class _SharedModule:
    """A module for the components of one make.

    `text` is RTLIL in which `<PLACE>` stands for names: its own, those of the modules that it instantiates,
    which are `parts`, and that of memories. Its `inputs` are those that it reads, with clock and reset.
    """

    place: str
    make: Make
    text: str
    inputs: Set[str]
    parts: tuple["_SharedModule", ...]


class _PartPlatform(VerilogMemories):
    """The platform for one module that components share."""

    def __init__(self, component: Shared):
        super().__init__(f"<{_MEMORY}>")
        self.parts: list[_SharedModule] = []
        self._component = component

    def get_shared(self, component: Shared, elaborate: Elaborate) -> Elaboratable:
        if component is self._component:
            return elaborate(component, self)
        part = _shared_module(component.make)
        if part not in self.parts:
            self.parts.append(part)
        return _instance(f"<{part.place}>", part, component)


@lru_cache(_KEPT)
def _shared_module(make: Make) -> _SharedModule:
    """The module for a make, elaborated once in a process: its designs are mostly made of the same parts."""
    place = str(next(_numbers))
    component = make.component()
    platform = _PartPlatform(component)
    text: str = rtlil.convert(component, name=f"<{place}>", platform=platform, emit_src=False)
    own = text[text.rindex("\nattribute \\top 1\n") :]
    inputs = frozenset(_INPUT.findall(own))
    return _SharedModule(place, make, _EMPTY.sub(r"\1", text), inputs, tuple(platform.parts))


def _instance(name: str, module: _SharedModule, component: Shared) -> Instance:
    reset = ResetSignal() if component.clear is None else ResetSignal() | component.clear
    clocks = {"clk": ClockSignal(), "rst": reset}
    ports: dict[str, Value] = {f"i_{port}": clocks[port] for port in clocks if port in module.inputs}
    for path, member, port in component.signature.flatten(component):
        value = Value.cast(port)
        if len(value):
            ports[f"{'i' if member.flow is In else 'o'}_{'__'.join(map(str, path))}"] = value
    return Instance(name, **ports)
