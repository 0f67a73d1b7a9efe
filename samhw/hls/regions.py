"""Programs of several graphs: a project for each region, and one program of a card that runs them in order;
and several designs as one, for C simulation."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from samhw.graph import Arch, Design, MemoryRole
from samhw.hls.cards import memory_of, processor_of
from samhw.hls.cpp import comment, project_name, top_name
from samhw.hls.emit import Options, axi_ports, emit, kernel_context, simulated
from samhw.hls.interface import port_uses, sequence_extents
from samhw.hls.library import library, render
from samhw.hls.lower import lower
from samhw.hls.masters import AxiPort, banks
from samhw.hls.overlay import buffers_of, kernel_of, overlay
from samhw.hls.program import HlsRegion
from samhw.names import identifiers

__all__ = [
    "emit_order",
    "emit_together",
]


def emit_order(design: Design, arch: Arch, options: Options) -> dict[str, str]:
    """The texts beside the regions' projects, which lie in folders named after the regions
    (`project_name`): how kernels become one program of a card (`link.cfg`), a host that runs one after
    another, what another host must know for that (`regions.json`), and a Makefile and a README for all.

    Raises:
        InputError: as `emit`, and if a bank of the card has too many masters of all kernels.
    """
    regions = _order(design)
    context = _context(design, arch, options) | {"program_name": comment(design.name), "regions": regions}
    made = {}
    if context["processor"]:
        made = overlay(
            context["top"],
            context["indices"],
            context["described"],
            context["words"],
            options.part,
            options.frequency,
        )
    return made | {
        "regions.json": json.dumps(regions, indent=2) + "\n",
        "link.cfg": render("project/regions.cfg.j2", **context),
        f"host/{context['host_name']}.cpp": render("project/chain.cpp.j2", **context),
        "Makefile": render("project/regions.mk.j2", **context),
        "README.md": render("project/regions.md.j2", **context),
        ".clang-format": render("project/clang-format.j2", **context),
    }


def _order(design: Design) -> list[dict[str, Any]]:
    """The kernels in their order, with the kernel that each input comes from."""
    origin: dict[str, str] = {}
    regions = []
    for graph in design.runs:
        stored = [t for t in graph.tensors if not t.alias_of]
        inputs = [t.name for t in stored if t.role is MemoryRole.INPUT]
        outputs = [t.name for t in stored if t.role is MemoryRole.OUTPUT]
        regions.append(
            {
                "folder": project_name(graph.name),
                "kernel": top_name(graph.name),
                "inputs": {name: origin.get(name, "host") for name in inputs},
                "outputs": outputs,
            }
        )
        origin |= dict.fromkeys(outputs, project_name(graph.name))
    return regions


def _context(design: Design, arch: Arch, options: Options) -> dict[str, Any]:
    """What the files for all kernels are rendered for. A memory is one buffer of the card, which lies in one
    place for all kernels."""
    files, extents = identifiers(design.memory), sequence_extents(design)
    places = {index: n for n, index in enumerate(extents)}
    kernels: list[dict[str, Any]] = []
    buffers: dict[str, dict[str, Any]] = {}
    programs: list[HlsRegion] = []
    described: dict[str, dict[str, Any]] = {}
    words: dict[str, dict[str, Any]] = {}
    ports: list[AxiPort] = []
    bundles: dict[str, str] = {}
    for graph in design.runs:
        alone = Design.of(graph)
        program = lower(alone, arch, options.off_chip(alone, arch))
        own: dict[str, Any] = kernel_context(program, alone, arch, options)
        (region,) = program.regions
        programs.append(region)
        memories = [port.memory.name for port in own["ports"]]
        described[project_name(graph.name)] = kernel_of(program, alone, own)
        words = buffers_of(design, arch, own) | words
        kernels.append(
            {
                "top": program.top,
                "folder": project_name(graph.name),
                "extents": [places[index] for index in own["arguments"]],
                "buffers": [f"{files[name]}_buffer" for name in memories],
                "stored": [f"{files[load.memory]}_buffer" for load in own["copies"].loads],
                "told": [f"{files[store.memory]}_buffer" for store in own["copies"].stores],
            }
        )
        for number, port in enumerate(own["ports"]):
            name, memory = port.memory.name, design.memory[port.memory.name]
            first = {
                "name": f"{files[name]}_buffer",
                "file": files[name],
                "word": own["plain_words"][port.name],
                "kernel": program.top,
                "argument": len(own["arguments"]) + len(own["copies"].loads) + number,
                "role": str(memory.role.value),
                "words": memory.words,
                "room": own["room"][name],
            }
            buffers.setdefault(name, first)
        for axi in axi_ports(own["ports"], port_uses(region), alone, arch, options):
            name = f"{program.top}_1.{axi.name}"
            ports.append(replace(axi, name=name))
            bundles[name] = f"{program.top}.{own['masters'].bundles[axi.name]}"
    top, card = top_name(design.name), memory_of(options.part)
    status = [f"{kernel['top']}_1.status" for kernel in kernels]
    return {
        "top": top,
        "host_name": f"{top}_host",
        "title": comment(f"{design.name} on {design.value}"),
        "program": {"regions": programs},
        "sequencer": True,
        "arguments": list(extents.values()),
        "indices": list(extents),
        "described": described,
        "words": words,
        "options": options,
        "processor": processor_of(options.part),
        "kernels": kernels,
        "buffers": list(buffers.values()),
        "loaded": {name for kernel in kernels for name in kernel["stored"]},
        "banks": banks(top, ports, bundles, card, status) if card else {},
        "frequency": options.frequency,
    }


_SYSTEM = re.compile(r"^#include (<\w+>)$", re.MULTILINE)


def emit_together(designs: Sequence[Design], arch: Arch, options: Options | None = None) -> dict[str, str]:
    """The C++ of designs that share one library, by path; `all.cpp` is the unit to compile. The first
    argument of its program is the name of a top function, whose testbench gets the rest.

    A compiler spends most of its time on the library's templates, which it meets only once here. The designs'
    own files are those that `emit` gives, but for the hosts.

    Raises:
        ValueError: for designs of several value types, or of one name.
        InputError: for a design that `lower` does not take.
    """
    options = options or Options()
    if len({design.value for design in designs}) != 1:
        raise ValueError("designs that share a library must have one value type")
    programs = [lower(design, arch, options.off_chip(design, arch)) for design in designs]
    graphs = [graph for design in designs for graph in design.runs]
    headers_of_all = library(programs, graphs)
    files = {f"src/samhw/{name}": text for name, text in headers_of_all.items()}
    headers = sorted(path.removeprefix("src/") for path in files if not path.endswith("csim.hpp"))
    units = {}
    for program, design in zip(programs, designs, strict=True):
        own = {
            path: text
            for path, text in simulated(emit(design, arch, options)).items()
            if not path.startswith("src/samhw/")
        }
        if own.keys() & files.keys():
            raise ValueError(f"two designs have files of the name {min(own.keys() & files.keys())}")
        files |= own
        units[program.top] = [path for path in own if path.endswith(".cpp")]
    system = sorted({name for text in files.values() for name in _SYSTEM.findall(text)})
    files["all.cpp"] = render("together.cpp.j2", system=system, headers=headers, designs=units)
    return files
