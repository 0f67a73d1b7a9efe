"""The files of a Vitis HLS project."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samhw.graph import Arch, Graph
from samhw.graph.address_map import identifiers
from samhw.hls.check import check
from samhw.hls.cpp import comment
from samhw.hls.design import Argument, Design, MemoryPort, Stream
from samhw.hls.library import library
from samhw.hls.lower import lower
from samhw.hls.lowering import used_extents
from samhw.hls.templates import render

__all__ = ["Options", "emit", "vectors"]

_HEADERLESS = {"csim.hpp", "walk.hpp", "hold.hpp", "values.hpp", "token.hpp"}
_NUMBERS = {"convert.hpp", "fixed.hpp", "float.hpp", "functions.hpp", "operations.hpp"}


@dataclass(frozen=True)
class Options:
    """What the program leaves open.

    Attributes:
        part: the device; by default the VU9P of AWS F1.
        clock: clock period in nanoseconds.
        on_chip: copy the memories to arrays on the chip; else every access goes through m_axi.
    """

    part: str = "xcvu9p-flgb2104-2-i"
    clock: float = 4.0
    on_chip: bool = True


def emit(graph: Graph, arch: Arch, options: Options | None = None) -> dict[str, str]:
    """The texts of a project by their paths, without test vectors; equal graphs give equal texts.

    Raises `InputError` for a graph that `lower` does not take.
    """
    options = options or Options()
    design = lower(graph, arch)
    headers = library(design, graph, on_chip=options.on_chip)
    context = _context(design, graph, options)
    context["headers"] = sorted(headers.keys() - _HEADERLESS - _NUMBERS)
    top = design.top
    files = {
        f"src/{top}.hpp": render("project/kernel.hpp.j2", **context),
        f"src/{top}.cpp": render("project/kernel.cpp.j2", **context),
        f"tb/{top}_test.cpp": render("project/test.cpp.j2", **context),
        "hls_config.cfg": render("project/hls_config.cfg.j2", **context),
        "run_hls.tcl": render("project/run_hls.tcl.j2", **context),
        "Makefile": render("project/Makefile.j2", **context),
        "README.md": render("project/README.md.j2", **context),
        ".clang-format": render("project/clang-format.j2", **context),
    }
    files |= {f"src/samhw/{name}": text for name, text in headers.items()}
    check(design, {path: text for path, text in files.items() if path.startswith("src/")})
    return files


def vectors(
    graph: Graph,
    extents: Mapping[str, int],
    inputs: Mapping[str, NDArray[Any]],
    outputs: Mapping[str, NDArray[Any]],
) -> dict[str, str]:
    """The texts of a run's words by their paths: extents, input memories, and output memories as the
    simulator left them."""
    names = identifiers(memory.name for memory in graph.memories)
    files = {"tb_data/extents.txt": _lines([extents[index] for index in used_extents(graph)])}
    for memory, words in (*inputs.items(), *outputs.items()):
        files[f"tb_data/{names[memory]}.txt"] = _lines(np.asarray(words).tolist())
    return files


def _lines(numbers: list[int]) -> str:
    return "".join(f"{number}\n" for number in numbers)


def _context(design: Design, graph: Graph, options: Options) -> dict[str, Any]:
    return {
        "design": design,
        "top": design.top,
        "title": f"{graph.name} on {graph.value}",
        "value": graph.value,
        "options": options,
        "on_chip": options.on_chip,
        "clock": f"{options.clock:g}",
        "extents": graph.extents,
        "ports": (*design.inputs, *design.outputs),
        "files": identifiers(memory.name for memory in graph.memories),
        "calls": [
            {
                "note": comment(process.note),
                "function": process.function,
                "template": process.template,
                "arguments": [_argument(a, options) for a in process.arguments],
            }
            for process in design.processes
        ],
        "writer": {s.name: n for n, process in enumerate(design.processes) for s in process.writes},
        "reader": {s.name: n for n, process in enumerate(design.processes) for s in process.reads},
    }


def _argument(argument: Argument, options: Options) -> str:
    match argument:
        case MemoryPort(name=name):
            return f"{name}_chip" if options.on_chip else name
        case Stream(name=name):
            return name
        case str():
            return argument
