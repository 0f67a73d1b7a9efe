"""The SAMML graph IR: what the compiler emits and every backend reads. Plain data, without behaviour.

The types of its streams and the numbers of a build come from the specs of its nodes (`spec`); `numerics` has
the value types, bit by bit.
"""

from samhw.graph.address_map import AddressMap
from samhw.graph.design import LUT_PLACES, Design, Users, block_rams, reads_of_a_copy
from samhw.graph.dot import DRAWINGS, draw, find_drawer, to_dot, to_svg
from samhw.graph.dram import DDR4, DRAM_PRESETS, HBM2, Dram
from samhw.graph.host import PLAIN_HOST, HostOptions
from samhw.graph.ir import (
    Channel,
    Endpoint,
    Graph,
    Memory,
    MemoryRole,
    Node,
    TensorBinding,
    latency,
    make,
    memory_name,
    once_per_graph,
    wired,
)
from samhw.graph.json_form import dumps, loads
from samhw.graph.levels import Levels, levels, with_indices
from samhw.graph.liveness import Circle, unproved_circles, waiting_cycle
from samhw.graph.off_chip import (
    OffChipLayout,
    OffChipPort,
    PlacedArray,
    Placement,
    PortDelays,
    chip_bytes,
    held_on_chip,
    spread,
)
from samhw.graph.off_chip_memory import (
    ConstantMemory,
    OffChip,
    OffChipMemory,
    RandomMemory,
    RecordedMemory,
    SdramMemory,
    at_clock,
    layout_of,
    load_memory,
    port_latency,
    with_ports,
)
from samhw.graph.off_chip_numbers import Ports, other_ports
from samhw.graph.patterns import may_be_empty
from samhw.graph.sequence import Parallel, Repeat, Run, Step, Steps, runs_of, sequence_of
from samhw.graph.spec import Arch, Payload, Port, Stream, StreamKind
from samhw.graph.token import DONE, EMPTY, STOP, VAL, GrammarChecker, Kind, Token, check_stream, stop
from samhw.graph.validate import validate
from samhw.graph.validate_design import validate_design

__all__ = [
    "DDR4",
    "DONE",
    "DRAM_PRESETS",
    "DRAWINGS",
    "EMPTY",
    "HBM2",
    "LUT_PLACES",
    "PLAIN_HOST",
    "STOP",
    "VAL",
    "AddressMap",
    "Arch",
    "Channel",
    "Circle",
    "ConstantMemory",
    "Design",
    "Dram",
    "Endpoint",
    "GrammarChecker",
    "Graph",
    "HostOptions",
    "Kind",
    "Levels",
    "Memory",
    "MemoryRole",
    "Node",
    "OffChip",
    "OffChipLayout",
    "OffChipMemory",
    "OffChipPort",
    "Parallel",
    "Payload",
    "PlacedArray",
    "Placement",
    "Port",
    "PortDelays",
    "Ports",
    "RandomMemory",
    "RecordedMemory",
    "Repeat",
    "Run",
    "SdramMemory",
    "Step",
    "Steps",
    "Stream",
    "StreamKind",
    "TensorBinding",
    "Token",
    "Users",
    "at_clock",
    "block_rams",
    "check_stream",
    "chip_bytes",
    "draw",
    "dumps",
    "find_drawer",
    "held_on_chip",
    "latency",
    "layout_of",
    "levels",
    "load_memory",
    "loads",
    "make",
    "may_be_empty",
    "memory_name",
    "once_per_graph",
    "other_ports",
    "port_latency",
    "reads_of_a_copy",
    "runs_of",
    "sequence_of",
    "spread",
    "stop",
    "to_dot",
    "to_svg",
    "unproved_circles",
    "validate",
    "validate_design",
    "waiting_cycle",
    "wired",
    "with_indices",
    "with_ports",
]
