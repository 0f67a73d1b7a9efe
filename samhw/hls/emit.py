"""The files of a Vitis HLS project."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samhw.errors import InputError
from samhw.graph import Arch, Design, Graph, MemoryRole, Placement
from samhw.hls.cards import (
    BOARDS,
    CARDS,
    clock_of,
    float_operators,
    is_device,
    memory_of,
    part_of,
    processor_of,
    ram_of,
)
from samhw.hls.cpp import comment, plain_word, word_width
from samhw.hls.interface import kernel_ports, port_uses, sequence_extents, sequencer
from samhw.hls.library import library, render
from samhw.hls.lower import lower
from samhw.hls.masters import STATUS, AxiPort, Copies, Masters, copies_of_region, copies_of_sequence, masters
from samhw.hls.off_chip import BURST, LATENCY, LINE_BYTES, OUTSTANDING, burst_of, lines_of, memory_bytes
from samhw.hls.overlay import buffers_of, kernel_of, overlay
from samhw.hls.program import (
    Argument,
    HlsProgram,
    HlsRegion,
    HlsStream,
    MemoryPort,
    Moment,
    PointerArgument,
    Process,
)
from samhw.hls.region_builder import SPREAD
from samhw.names import identifiers
from samhw.words import did_you_mean

__all__ = ["Options", "axi_ports", "check", "emit", "kernel_context", "simulated", "vectors"]

# What synthesis asks of the emitted program, checked on its streams and on its text.


_DYNAMIC = re.compile(r"\b(new|delete|malloc|calloc|realloc|free)\b|\bstd::(vector|deque|string|map|list)\b")
_ARRAY = re.compile(r"^\s+(?:static )?(?:const )?[\w:<>, ]+ \w+((?:\[[^\]]*\])+)(?: = \{|;)", re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*")


def check(program: HlsProgram, sources: Mapping[str, str]) -> None:
    """Raises `AssertionError` where a stream has not one writer and one reader, a process runs before one
    that feeds it, or the text of a synthesised file allocates or has an array without a size."""
    for region in program.regions:
        _check_streams(region)
    for path, text in sources.items():
        if path.endswith("csim.hpp"):  # Only for simulation.
            continue
        plain = _COMMENT.sub("", text)
        if found := _DYNAMIC.search(plain):
            raise AssertionError(f"{path} uses {found[0]}, which cannot be synthesised")
        for found in _ARRAY.finditer(plain):
            if "[]" in found[1]:
                raise AssertionError(f"{path} has an array without a size: {found[0].strip()}")


def _check_streams(region: HlsRegion) -> None:
    writers = Counter(s.name for p in region.processes for s in p.writes)
    readers = Counter(s.name for p in region.processes for s in p.reads)
    for stream in region.streams:
        for what, count in (("written", writers[stream.name]), ("read", readers[stream.name])):
            if count != 1:
                raise AssertionError(f"stream {stream.name} is {what} by {count} processes")
    written: set[str] = set()
    for process in region.processes:
        for stream in process.reads:
            if stream.name not in written:
                raise AssertionError(f"{process.function} reads {stream.name} before it is written")
        written.update(s.name for s in process.writes)
    if [s for p in region.processes for s in p.writes] != list(region.streams):
        raise AssertionError(f"the streams of {region.name} are not declared in the order of their writers")


_HEADERLESS = {
    "csim.hpp",
    "pipelines_csim.hpp",
    "bursts_csim.hpp",
    "walk.hpp",
    "hold.hpp",
    "memory.hpp",
    "values.hpp",
    "token.hpp",
}
_NUMBERS = {"convert.hpp", "fixed.hpp", "float.hpp", "functions.hpp", "operations.hpp"}


SHORTEST, LONGEST = 0.1, 1000.0
"""Clock periods that an HLS tool may be asked for, ns."""


@dataclass(frozen=True)
class Options:
    """What the program leaves open.

    Attributes:
        part: the device, or the name of a card or a board (`CARDS`, `BOARDS`), which becomes that of its
            device; by default that of the Alveo U55C.
        clock: clock period in nanoseconds; by default that of the card or board.
        placement: which memories are copied to arrays on the chip; the lines of the others come and go
            through m_axi by bursts. By default the smallest lie there, as far as half of what the card's
            device has will do, and all of them for a device of no card.
        channels: the banks of the card that memories are to lie in, by name.
        apart: the memories that several kernels have, by name.
        one_top: one top function that runs all regions of a program; else each region is a kernel of its own.

    Raises:
        InputError: for a device that cannot be one, and a clock that none has.
    """

    part: str = CARDS["u55c"].part
    clock: float | None = None
    placement: Placement | None = None
    channels: Mapping[str, int] = field(default_factory=dict)
    apart: frozenset[str] = frozenset()
    one_top: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "part", part_of(self.part))
        if not is_device(self.part):
            raise InputError(
                f"There is no device {self.part!r}{did_you_mean(self.part, CARDS)}; give its name, such as "
                f"{Options.part}, "
                f"or that of a card: {', '.join(CARDS)}; or of a board: {', '.join(BOARDS)}."
            )
        if not SHORTEST <= self.period <= LONGEST:
            raise InputError(
                f"A clock cannot have a period of {self.period:g} ns; give {SHORTEST:g} to {LONGEST:g}."
            )

    @property
    def period(self) -> float:
        """The clock period in nanoseconds."""
        return clock_of(self.part) if self.clock is None else self.clock

    @property
    def frequency(self) -> int:
        """The clock in Hz."""
        return round(1e9 / self.period)

    @property
    def room(self) -> int | None:
        """The bytes that memories take on the chip where nobody says it."""
        device = ram_of(self.part)
        return device // 2 if device else None

    def off_chip(self, design: Design, arch: Arch) -> frozenset[str]:
        """The names of the memories that do not lie on the chip."""
        turns = self.one_top or len(design.regions) == 1
        placement = self.placement or Placement(room=self.room)
        return placement.off_chip(design, memory_bytes(design, arch, by_turns=turns))

    def settled(self, design: Design, arch: Arch) -> "Options":
        """The same with a place for each memory of a design, for kernels that have some of its regions."""
        off = self.off_chip(design, arch)
        placement = Placement(on=frozenset(design.memory) - off, off=off)
        kernels = Counter(name for graph in design.runs for name in graph.memory)
        apart = frozenset() if self.one_top else frozenset(name for name, n in kernels.items() if n > 1)
        return replace(self, placement=placement, apart=apart)


def emit(
    design: Design,
    arch: Arch,
    options: Options | None = None,
    statements: Sequence[Sequence[str]] | None = None,
) -> dict[str, str]:
    """The texts of a project by their paths, without test vectors; equal designs give equal texts.

    The top function of a design of several regions runs one after another.

    Args:
        statements: those of each region, in the order in which they run, for comments.

    Raises:
        InputError: for a design that `lower` does not take.
    """
    options = options or Options()
    program = lower(design, arch, options.off_chip(design, arch))
    headers = library([program], design.runs)
    context = kernel_context(program, design, arch, options)
    context["statements"] = [
        [comment(s) for s in lines] for lines in statements or [()] * len(program.regions)
    ]
    files = _sources(program, design, context)
    context |= {"units": [name for name in files if name.endswith(".cpp")], "for_vivado": False}
    for path in ("hls_config.cfg", "link.cfg", "run_hls.tcl", "Makefile", "README.md"):
        files |= {path: render(f"project/{path}.j2", **context)}
    if context["processor"]:
        files["ip_config.cfg"] = render("project/hls_config.cfg.j2", **{**context, "for_vivado": True})
        kernels = {".": kernel_of(program, design, context)}
        buffers = buffers_of(design, arch, context)
        extents = list(sequence_extents(design))
        files |= overlay(program.top, extents, kernels, buffers, options.part, options.frequency)
    files[f"tb/{program.top}_test.cpp"] = render("project/test.cpp.j2", **context)
    files[f"host/{program.top}_host.cpp"] = render("project/host.cpp.j2", **context)
    files[".clang-format"] = render("project/clang-format.j2", **context)
    files |= {f"src/samhw/{name}": text for name, text in headers.items()}
    check(program, {path: text for path, text in files.items() if path.startswith("src/")})
    return files


def simulated(files: Mapping[str, str]) -> dict[str, str]:
    """The C++ of a project's C simulation, by path: all but the host."""
    return {path: text for path, text in files.items() if path.startswith(("src/", "tb/"))}


def _sources(program: HlsProgram, design: Design, context: dict[str, Any]) -> dict[str, str]:
    """The texts of the top function and, if there are several, of the regions that it runs."""
    top = program.top
    if not program.is_sequence:
        (region,) = program.regions
        whole = context | _body(region, program, design.runs[0], arrays=True)
        return {
            f"src/{top}.hpp": render("project/kernel.hpp.j2", **whole),
            f"src/{top}.cpp": render("project/kernel.cpp.j2", **whole),
        }
    files = {
        f"src/{top}.hpp": render("project/kernel.hpp.j2", **context),
        f"src/{top}.cpp": render("project/sequencer.cpp.j2", **context),
    }
    for number, (call, part) in enumerate(zip(context["sequencer"].calls, design.runs, strict=True)):
        if call.function is not call.region:
            continue
        # What a region gets lies on the chip already, or nowhere else.
        whole = context | _body(call.region, program, part, arrays=False)
        whole |= {"call": call, "number": number}
        files[f"src/{call.region.name}.hpp"] = render("project/region.hpp.j2", **whole)
        files[f"src/{call.region.name}.cpp"] = render("project/region.cpp.j2", **whole)
    return files


def vectors(
    design: Design,
    extents: Mapping[str, int],
    inputs: Mapping[str, NDArray[Any]],
    outputs: Mapping[str, NDArray[Any]],
) -> dict[str, str]:
    """The texts of a run's words by their paths: extents, input memories, and output memories as the
    simulator left them."""
    names = identifiers(memory.name for memory in design.memories)
    arguments = sequence_extents(design)
    files = {"tb_data/extents.txt": _lines([extents[index] for index in arguments])}
    for memory, words in (*inputs.items(), *outputs.items()):
        files[f"tb_data/{names[memory]}.txt"] = _lines(np.asarray(words).tolist())
    return files


def _lines(numbers: list[int]) -> str:
    return "".join(f"{number}\n" for number in numbers)


def kernel_context(program: HlsProgram, design: Design, arch: Arch, options: Options) -> dict[str, object]:
    """What all files of a project are rendered for."""
    order = sequencer(program, design) if program.is_sequence else None
    ports = order.ports if order else kernel_ports(program.regions[0])
    copies = copies_of_sequence(order) if order else copies_of_region(program.regions[0])
    lines = {m.name: lines_of(m, design.stored(m), arch) for m in design.memories}
    uses = order.uses if order else port_uses(program.regions[0])
    own = _masters(program, ports, uses, design, arch, options)
    loads, stores = copies.by_master(own.bundles)
    in_line = {m.name: 8 * LINE_BYTES // word_width(design.stored(m), arch) for m in design.memories}
    return {
        "program": program,
        "sequencer": order,
        "top": program.top,
        "host_name": f"{program.top}_host",
        "title": comment(f"{design.name} on {design.value}"),
        "value": design.value.name,
        "options": options,
        "on_chip": program.has_arrays,
        "off_chip": any(port.off_chip for port in ports),
        "lines": lines,
        "in_line": in_line,
        "room": {name: max(count, 1) * in_line[name] for name, count in lines.items()},
        "written": {port.memory.name for region in program.regions for port in region.outputs},
        "most_due": {name: OUTSTANDING * burst_of(count) for name, count in lines.items()},
        "spread": SPREAD,
        "bursts": _bursts(ports, uses, copies, own, lines),
        "clock": f"{options.period:g}",
        "frequency": options.frequency,
        "processor": processor_of(options.part),
        "extents": design.extents,
        "arguments": order.extents if order else program.regions[0].extents,
        "ports": ports,
        "contents": {port.memory.name: port.first for port in ports},
        "positions": {port.name: number for number, port in enumerate(ports)},
        "plain_words": {port.name: plain_word(design.stored(port.memory), arch) for port in ports},
        "masters": own,
        "status_master": STATUS,
        "copies": copies,
        "loads": loads,
        "stores": stores,
        "memories": {f"{name}_words": design.memory[m] for m, name in identifiers(design.memory).items()},
        "files": identifiers(design.memory),
        "links": _links(program),
        "operators": float_operators(design.runs, arch),
    }


def _masters(
    program: HlsProgram,
    ports: tuple[PointerArgument, ...],
    uses: Mapping[str, frozenset[tuple[Moment, str]]],
    design: Design,
    arch: Arch,
    options: Options,
) -> Masters:
    """The AXI masters of the ports."""
    counted = axi_ports(ports, uses, design, arch, options)
    return masters(program.top, counted, memory_of(options.part), by_turns=program.is_sequence)


def axi_ports(
    ports: Iterable[PointerArgument],
    uses: Mapping[str, frozenset[tuple[Moment, str]]],
    design: Design,
    arch: Arch,
    options: Options,
) -> list[AxiPort]:
    """What counts of ports."""
    counted = []
    for port in ports:
        size = port.memory.words * word_width(design.stored(port.memory), arch) // 8
        own, bank = uses.get(port.name, frozenset()), options.channels.get(port.memory.name)
        is_result, is_apart = port.memory.role is not MemoryRole.INPUT, port.memory.name in options.apart
        counted.append(AxiPort(port.name, port.memory.name, size, own, bank, is_result, is_apart))
    return counted


class _Bursts(NamedTuple):
    """What a master has room for: the longest burst of each direction, and how many are on their way. The
    least that m_axi takes stands for what a master does not do."""

    longest_read: int = 2
    reads: int = 1
    longest_write: int = 2
    writes: int = 1

    def __or__(self, other: "_Bursts") -> "_Bursts":
        return _Bursts(*map(max, self, other))


def _bursts(
    ports: Iterable[PointerArgument],
    uses: Mapping[str, frozenset[tuple[Moment, str]]],
    copies: Copies,
    own: Masters,
    lines: Mapping[str, int],
) -> dict[str, _Bursts]:
    """By master no more than its ports need. Bursts are as long as those of its largest memory; a copy to the
    chip has those on their way that come in the time that a memory needs."""
    loaded, stored = {load.port for load in copies.loads}, {store.port for store in copies.stores}
    found: dict[str, _Bursts] = {}
    for port in ports:
        count, directions = lines[port.memory.name], {use for _, use in uses.get(port.name, ())}
        longest, whole = burst_of(count), max(-(-count // BURST), 1)
        room = _Bursts()
        if "read" in directions:
            room |= _Bursts(longest, OUTSTANDING)
        if "write" in directions:
            room |= _Bursts(longest_write=longest, writes=OUTSTANDING)
        if port.name in loaded:
            room |= _Bursts(longest, min(whole, LATENCY // BURST + 1))
        if port.name in stored:
            room |= _Bursts(longest_write=longest, writes=min(whole, OUTSTANDING))
        found[own.bundles[port.name]] = found.get(own.bundles[port.name], _Bursts()) | room
    return found


def _links(program: HlsProgram) -> list[tuple[str, int, int, int]]:
    """Of each stream its name and depth, and the numbers of the processes that write and read it."""
    names = iter(program.streams)
    links = []
    before = 0
    for region in program.regions:
        writer = {s.name: n for n, process in enumerate(region.processes, before) for s in process.writes}
        reader = {s.name: n for n, process in enumerate(region.processes, before) for s in process.reads}
        links += [(next(names), s.depth, writer[s.name], reader[s.name]) for s in region.streams]
        before += len(region.processes)
    return links


def _body(region: HlsRegion, program: HlsProgram, graph: Graph, *, arrays: bool) -> dict[str, object]:
    """What a region's own file is rendered for; `arrays`: it copies memories to the chip itself."""
    only = replace(program, regions=(region,))
    return {
        "region": region,
        "on_chip": arrays and only.has_arrays,
        "blocks": _blocks(region, arrays=arrays),
        "headers": sorted(library([only], [graph]).keys() - _HEADERLESS - _NUMBERS),
    }


def _blocks(region: HlsRegion, *, arrays: bool) -> list[dict[str, Any]]:
    """The calls of a node, and before them the streams and scalars that they write."""
    blocks: list[dict[str, Any]] = []
    for process in region.processes:
        if process.note or not blocks:
            blocks.append({"note": comment(process.note), "streams": [], "scalars": [], "calls": []})
        block = blocks[-1]
        block["streams"] += process.writes
        block["scalars"] += [
            {"type": "samhw::error_code" if name in region.errors else "unsigned", "name": name}
            for name in process.arguments
            if isinstance(name, str)
            and name in (*region.errors, *region.begins.values(), *region.counts.values())
        ]
        block["calls"].append(_call(process, arrays=arrays))
    return blocks


def _call(process: Process, *, arrays: bool) -> str:
    template = f"<{', '.join(process.template)}>" if process.template else ""
    arguments = ", ".join(_argument(argument, arrays=arrays) for argument in process.arguments)
    return f"samhw::{process.function}{template}({arguments})"


def _argument(argument: Argument, *, arrays: bool) -> str:
    match argument:
        case MemoryPort():
            return argument.array if arrays and not argument.off_chip else argument.name
        case HlsStream(name=name):
            return name
        case str():
            return argument
