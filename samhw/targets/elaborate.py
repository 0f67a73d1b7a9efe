"""The Verilog of a graph through the build cache, since elaboration costs seconds."""

import importlib.metadata
import importlib.util
from functools import cache
from pathlib import Path

from samhw.errors import InputError
from samhw.graph import Arch, Graph
from samhw.targets.cache import cached, digest

__all__ = ["generate_verilog"]

_SOURCES = ("graph", "numerics", "rtl")
"""The packages of samhw that the text follows from."""


def generate_verilog(graph: Graph, arch: Arch, *, probes: bool = False, stall_ports: bool = False) -> str:
    """The text of `samhw.rtl.verilog`, generated again only if graph, options or generator have changed.

    Raises `InputError` if Amaranth is not installed.
    """
    key = digest(_generator(), repr((graph, arch, probes, stall_ports)))

    def make(folder: Path) -> None:
        # Imported late: a text that is in the cache costs no import of Amaranth.
        from samhw.rtl import verilog

        (folder / "samhw_top.v").write_text(verilog(graph, arch, probes=probes, stall_ports=stall_ports))

    return (cached("verilog", key, make) / "samhw_top.v").read_text()


@cache
def _generator() -> str:
    """A hash of what generates the text: Amaranth and the sources of samhw."""
    if importlib.util.find_spec("amaranth") is None:
        raise InputError("Amaranth was not found; install it with pip install 'samhw[rtl]'.")
    package = Path(__file__).parent.parent
    sources = [path.read_bytes() for name in _SOURCES for path in sorted((package / name).rglob("*.py"))]
    return digest(importlib.metadata.version("amaranth"), *sources)
