"""Several designs as one program for C simulation."""

import re
from collections.abc import Sequence

from samhw.graph import Arch, Graph
from samhw.hls.emit import Options, emit
from samhw.hls.library import library
from samhw.hls.lower import lower
from samhw.hls.templates import render

__all__ = ["emit_together"]

_SYSTEM = re.compile(r"^#include (<\w+>)$", re.MULTILINE)


def emit_together(graphs: Sequence[Graph], arch: Arch, options: Options | None = None) -> dict[str, str]:
    """The C++ of designs that share one library, by path; `all.cpp` is the unit to compile. The first
    argument of its program is the name of a top function, whose testbench gets the rest.

    A compiler spends most of its time on the library's templates, which it meets only once here. The designs'
    own files are those that `emit` gives.

    Raises:
        ValueError: for graphs of several value types, or of one name.
        InputError: for a graph that `lower` does not take.
    """
    options = options or Options()
    if len({graph.value for graph in graphs}) != 1:
        raise ValueError("designs that share a library must have one value type")
    parts = [(lower(graph, arch), graph) for graph in graphs]
    files = {f"src/samhw/{name}": text for name, text in library(parts, on_chip=options.on_chip).items()}
    headers = sorted(path.removeprefix("src/") for path in files if not path.endswith("/csim.hpp"))
    designs = {}
    for design, graph in parts:
        own = {
            path: text
            for path, text in emit(graph, arch, options).items()
            if path.endswith("pp") and not path.startswith("src/samhw/")
        }
        if own.keys() & files.keys():
            raise ValueError(f"two designs have files of the name {min(own.keys() & files.keys())}")
        files |= own
        designs[design.top] = [path for path in own if path.endswith(".cpp")]
    system = sorted({name for text in files.values() for name in _SYSTEM.findall(text)})
    files["all.cpp"] = render("together.cpp.j2", system=system, headers=headers, designs=designs)
    return files
