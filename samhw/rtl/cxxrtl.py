"""A whole design as C++ of CXXRTL, a simulator of Yosys's: from the netlist, without a Verilog writer."""

from typing import Any

from amaranth.back import rtlil, verilog

from samhw.graph import PLAIN_HOST, Arch, Design, HostOptions
from samhw.graph.off_chip import OffChipLayout
from samhw.interpreter import no_collection
from samhw.rtl.top import Top

__all__ = ["cxxrtl", "find_yosys", "runtime"]

_OLDEST = (0, 40)
"""The oldest version that Amaranth takes."""


def find_yosys() -> Any:
    """Its class, with `run` and `data_dir`."""
    return verilog.find_yosys(lambda version: version >= _OLDEST)


_SCRIPT = """\
read_rtlil <<rtlil
{rtlil}
rtlil
hierarchy -top {name}
proc
memory_collect
write_cxxrtl -O6 -g0
"""


def cxxrtl(
    design: Design,
    arch: Arch,
    *,
    name: str = "samhw_top",
    host: HostOptions = PLAIN_HOST,
    layout: OffChipLayout | None = None,
) -> str:
    """The C++ of a design's `Top` with clock and reset of its own, as the class `cxxrtl_design::p_<name>`.

    Components do not share modules, and memories are Yosys's own, so that neither of the two is common with
    the Verilog.

    Args:
        host, layout: as for `Top`; no SDRAM, whose controller is Verilog.
    """
    with no_collection():
        top = Top(design, arch, own_clock=True, host=host, layout=layout)
        netlist = rtlil.convert(top, name=name, emit_src=False)
    text: str = find_yosys().run(["-q", "-"], _SCRIPT.format(rtlil=netlist, name=name), ignore_warnings=True)
    return text


def runtime() -> str:
    """The folder with `cxxrtl/cxxrtl.h`."""
    return str(find_yosys().data_dir() / "include" / "backends" / "cxxrtl" / "runtime")
