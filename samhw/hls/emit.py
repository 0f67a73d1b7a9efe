"""The files of a Vitis HLS project."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samhw.errors import InputError
from samhw.graph import Arch, Design, Graph
from samhw.hls.cards import CARDS, memory_of, part_of
from samhw.hls.check import check
from samhw.hls.cpp import comment, plain_word
from samhw.hls.interface import PointerArgument, kernel_ports, sequence_extents, sequencer
from samhw.hls.ip import float_operators
from samhw.hls.library import library
from samhw.hls.lower import lower
from samhw.hls.program import Argument, HlsProgram, HlsRegion, HlsStream, MemoryPort, Process
from samhw.hls.templates import render
from samhw.names import identifiers

__all__ = ["Options", "emit", "simulated", "vectors"]

_HEADERLESS = {"csim.hpp", "walk.hpp", "hold.hpp", "values.hpp", "token.hpp"}
_NUMBERS = {"convert.hpp", "fixed.hpp", "float.hpp", "functions.hpp", "operations.hpp"}


SHORTEST, LONGEST = 0.1, 1000.0
"""Clock periods that an HLS tool may be asked for, ns."""


@dataclass(frozen=True)
class Options:
    """What the program leaves open.

    Attributes:
        part: the device, or the name of a card (`CARDS`), which becomes that of its device; by default the
            VU9P of AWS F1.
        clock: clock period in nanoseconds.
        on_chip: copy the memories to arrays on the chip; else every access goes through m_axi.
        one_top: one top function that runs all regions of a program; else each region is a kernel of its own.

    Raises:
        InputError: for a device that cannot be one, and a clock that none has.
    """

    part: str = CARDS["f1"].part
    clock: float = 4.0
    on_chip: bool = True
    one_top: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "part", part_of(self.part))
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", self.part):
            raise InputError(
                f"There is no device {self.part!r}; give its name, such as {Options.part}, "
                f"or that of a card: {', '.join(CARDS)}."
            )
        if not SHORTEST <= self.clock <= LONGEST:
            raise InputError(
                f"A clock cannot have a period of {self.clock:g} ns; give {SHORTEST:g} to {LONGEST:g}."
            )


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
    program = lower(design, arch)
    headers = library([program], design.runs, on_chip=options.on_chip)
    context = _context(program, design, arch, options)
    context["statements"] = [
        [comment(s) for s in lines] for lines in statements or [()] * len(program.regions)
    ]
    files = _sources(program, design, options, context)
    for path in ("hls_config.cfg", "link.cfg", "run_hls.tcl", "Makefile", "README.md"):
        units = [name for name in files if name.endswith(".cpp")]
        files |= {path: render(f"project/{path}.j2", **context, units=units)}
    files[f"tb/{program.top}_test.cpp"] = render("project/test.cpp.j2", **context)
    files[f"host/{program.top}_host.cpp"] = render("project/host.cpp.j2", **context)
    files[".clang-format"] = render("project/clang-format.j2", **context)
    files |= {f"src/samhw/{name}": text for name, text in headers.items()}
    check(program, {path: text for path, text in files.items() if path.startswith("src/")})
    return files


def simulated(files: Mapping[str, str]) -> dict[str, str]:
    """The C++ of a project's C simulation, by path: all but the host."""
    return {path: text for path, text in files.items() if path.startswith(("src/", "tb/"))}


def _sources(
    program: HlsProgram, design: Design, options: Options, context: dict[str, Any]
) -> dict[str, str]:
    """The texts of the top function and, if there are several, of the regions that it runs."""
    top = program.top
    if not program.is_sequence:
        (region,) = program.regions
        whole = context | _body(region, program, design.runs[0], options)
        return {
            f"src/{top}.hpp": render("project/kernel.hpp.j2", **whole),
            f"src/{top}.cpp": render("project/kernel.cpp.j2", **whole),
        }
    files = {
        f"src/{top}.hpp": render("project/kernel.hpp.j2", **context),
        f"src/{top}.cpp": render("project/sequencer.cpp.j2", **context),
    }
    inside = replace(options, on_chip=False)  # What a region gets lies on the chip already, or nowhere else.
    for number, (call, part) in enumerate(zip(context["sequencer"].calls, design.runs, strict=True)):
        whole = context | _body(call.region, program, part, inside)
        whole |= {"call": call, "number": number, "on_chip": False}
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


def _context(program: HlsProgram, design: Design, arch: Arch, options: Options) -> dict[str, object]:
    """What all files of a project are rendered for."""
    several = program.is_sequence
    order = sequencer(program, design, on_chip=options.on_chip) if several else None
    ports = order.ports if order else kernel_ports(program.regions[0])
    return {
        "program": program,
        "sequencer": order,
        "top": program.top,
        "title": comment(f"{design.name} on {design.value}"),
        "value": design.value.name,
        "options": options,
        "on_chip": options.on_chip,
        "clock": f"{options.clock:g}",
        "frequency": round(1e9 / options.clock),
        "memory": memory_of(options.part),
        "extents": design.extents,
        "arguments": order.extents if order else program.regions[0].extents,
        "ports": ports,
        "positions": {port.name: number for number, port in enumerate(ports)},
        "plain_words": {port.name: plain_word(design.stored(port.memory), arch) for port in ports},
        "bundles": _bundles(ports, shared=several and options.on_chip),
        "memories": {f"{name}_words": design.memory[m] for m, name in identifiers(design.memory).items()},
        "files": identifiers(design.memory),
        "links": _links(program),
        "operators": float_operators(design.runs, arch),
    }


def _bundles(ports: tuple[PointerArgument, ...], *, shared: bool) -> dict[str, str]:
    """The AXI port of each pointer: one of its own, or one for indices and one for values where they are only
    copied, one after another."""
    if shared:
        return {port.name: f"gmem_{'values' if port.memory.is_value else 'indices'}" for port in ports}
    return {port.name: f"gmem{number}" for number, port in enumerate(ports)}


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


def _body(region: HlsRegion, program: HlsProgram, graph: Graph, options: Options) -> dict[str, object]:
    """What a region's own file is rendered for."""
    alone = library([replace(program, regions=(region,))], [graph], on_chip=options.on_chip)
    return {
        "region": region,
        "blocks": _blocks(region, options),
        "headers": sorted(alone.keys() - _HEADERLESS - _NUMBERS),
    }


def _blocks(region: HlsRegion, options: Options) -> list[dict[str, Any]]:
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
            if isinstance(name, str) and name in (*region.errors, *region.counts.values())
        ]
        block["calls"].append(_call(process, options))
    return blocks


def _call(process: Process, options: Options) -> str:
    template = f"<{', '.join(process.template)}>" if process.template else ""
    arguments = ", ".join(_argument(argument, options) for argument in process.arguments)
    return f"samhw::{process.function}{template}({arguments})"


def _argument(argument: Argument, options: Options) -> str:
    match argument:
        case MemoryPort():
            return argument.array if options.on_chip else argument.name
        case HlsStream(name=name):
            return name
        case str():
            return argument
