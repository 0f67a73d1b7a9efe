"""A whole design as C++ of CXXRTL, a simulator of Yosys's: from the netlist, without a Verilog writer."""

from amaranth.back import rtlil

from samhw.graph import PLAIN_HOST, Arch, Design, HostOptions
from samhw.interpreter import no_collection
from samhw.rtl.top import Top
from samhw.rtl.yosys import find_yosys

__all__ = ["cxxrtl", "runtime"]

_SCRIPT = """\
read_rtlil <<rtlil
{rtlil}
rtlil
hierarchy -top {name}
proc
memory_collect
write_cxxrtl -O6 -g0
"""


def cxxrtl(design: Design, arch: Arch, *, name: str = "samhw_top", host: HostOptions = PLAIN_HOST) -> str:
    """The C++ of a design's `Top` with clock and reset of its own, as the class `cxxrtl_design::p_<name>`.

    Components do not share modules, and memories are Yosys's own, so that neither of the two is common with
    the Verilog.
    """
    with no_collection():
        top = Top(design, arch, own_clock=True, host=host)
        netlist = rtlil.convert(top, name=name, emit_src=False)
    text: str = find_yosys().run(["-q", "-"], _SCRIPT.format(rtlil=netlist, name=name), ignore_warnings=True)
    return text


def runtime() -> str:
    """The folder with `cxxrtl/cxxrtl.h`."""
    return str(find_yosys().data_dir() / "include" / "backends" / "cxxrtl" / "runtime")
