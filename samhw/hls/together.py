"""Several designs as one program for C simulation."""

import re
from collections.abc import Sequence

from samhw.graph import Arch, Design
from samhw.hls.emit import Options, emit, simulated
from samhw.hls.library import library
from samhw.hls.lower import lower
from samhw.hls.templates import render

__all__ = ["emit_together"]

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
