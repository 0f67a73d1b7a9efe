"""Overlays for devices with a processor: a script that makes a bitstream, and a driver for PYNQ."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from samhw.graph import Arch, Design
from samhw.hls.cards import processor_of
from samhw.hls.cpp import word_width
from samhw.hls.library import render
from samhw.hls.program import HlsProgram
from samhw.names import identifiers

__all__ = ["buffers_of", "kernel_of", "overlay"]


def kernel_of(program: HlsProgram, design: Design, context: Mapping[str, Any]) -> dict[str, Any]:
    """What the driver must know of a kernel: which registers get which scalars and which buffers, and the
    names of its nodes.

    Args:
        context: what its project is rendered for (`kernel_context`).
    """
    files = identifiers(design.memory)
    copies = context["copies"]
    scalars = {name: index for index, name in context["arguments"].items()}
    return {
        "name": program.top,
        "scalars": scalars | {load.stored: files[load.memory] for load in copies.loads},
        "pointers": {port.name: files[port.memory.name] for port in context["ports"]} | {"status": "status"},
        "told": [files[store.memory] for store in copies.stores],
        "regions": [[region.name, [node[5:] for node in region.nodes]] for region in program.regions],
    }


def buffers_of(design: Design, arch: Arch, context: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What it must know of each of a kernel's buffers, by the name of its file in the folder of words.

    Args:
        design: that of the program, for which a buffer is an input, a result, or passes between regions.
    """
    files = identifiers(design.memory)
    return {
        files[port.memory.name]: {
            "bits": word_width(design.stored(port.memory), arch),
            "words": port.memory.words,
            "room": context["room"][port.memory.name],
            "role": str(design.memory[port.memory.name].role.value),
        }
        for port in context["ports"]
    }


def overlay(
    top: str,
    extents: Sequence[str],
    kernels: Mapping[str, Mapping[str, Any]],
    buffers: Mapping[str, Mapping[str, Any]],
    part: str,
    frequency: int,
) -> dict[str, str]:
    """The texts by path.

    Args:
        extents: the indices, in the order in which a file has their extents.
        kernels: in the order in which they run, by the folder of their project.
        frequency: the clock in Hz.
    """
    about = {"extents": list(extents), "kernels": list(kernels.values()), "buffers": dict(buffers)}
    context = {
        "top": top,
        "part": part,
        "processor": processor_of(part),
        "megahertz": f"{frequency / 1e6:g}",
        "names": [kernel["name"] for kernel in kernels.values()],
        "repositories": [f"{folder}/{kernel['name']}_ip" for folder, kernel in kernels.items()],
    }
    return {
        "overlay.json": json.dumps(about, indent=2) + "\n",
        "overlay.tcl": render("project/overlay.tcl.j2", **context),
        "overlay.py": render("project/overlay.py.j2", **context),
    }
