"""The Verilog of a whole design: plain names, comments that say what a module is, and one text or a file for
each module."""

import inspect
import re
from collections import defaultdict
from collections.abc import Sequence

from amaranth.back import rtlil
from amaranth.hdl import Elaboratable, Signal

from samhw.graph import PLAIN_HOST, Arch, Design, HostOptions
from samhw.graph.off_chip import OffChipLayout
from samhw.interpreter import no_collection
from samhw.names import comment_text, identifiers
from samhw.rtl.cxxrtl import find_yosys
from samhw.rtl.sdram import controller_verilog
from samhw.rtl.top import Top
from samhw.rtl.verilog_platform import VerilogPlatform

__all__ = ["LINT_EXCEPTIONS", "convert", "split_modules", "verilog"]

LINT_EXCEPTIONS = {
    "CASEOVERLAP": "the conditions of a choice exclude each other, which its patterns do not show",
    "CMPCONST": "a comparison of a counter with a bound that is the end of its range in this design",
    "PROCASSINIT": "registers have a value at power-on, and a reset to it",
    "SYNCASYNCNET": "a reset of one clock also sets the synchronisers of the other (`--host clock`)",
    "UNDRIVEN": "what nobody reads is not computed, and its name is left",
    "UNSIGNED": "a comparison of a counter with a bound that is 0 in this design",
    "UNUSEDSIGNAL": "fields of tokens that nobody reads, and names that are there for waveforms",
    "VARHIDDEN": "a signal is called as an instance around its module is",
    "WIDTHEXPAND": "constants are as narrow as their value",
    "WIDTHTRUNC": "a value of several bits is asked whether it is 0",
}
"""The warnings of `verilator --lint-only -Wall` that the Verilog gives, and why each is harmless."""

_UNWANTED = " ".join(
    f"-remove {name}"
    for name in ("generator", "top", "src", "unused_bits", "amaranth.hierarchy", "amaranth.decoding")
)
_SCRIPT = f"""\
read_rtlil <<rtlil
{{rtlil}}
rtlil
proc -norom
opt_clean
opt_dff
opt_clean
hierarchy -top {{name}}
memory_collect
attrmap {_UNWANTED}
attrmap -modattr {_UNWANTED}
write_verilog -norename
"""
"""What Yosys does. Amaranth's own script leaves decisions in blocks of `always @*`. A simulator evaluates one
when something that it reads changes, and at time 0 nothing may: under the rules of SystemVerilog a variable
gets its initial value without an event. So decisions become assignments, and registers have an enable and a
reset."""

_MODULE = re.compile(r"^module (\\\S+|\w+)", re.MULTILINE)
_INSTANCE = re.compile(r"^  \w+ +\\?(\S+) +\($", re.MULTILINE)
_END = "endmodule\n"
_FUNCTION = re.compile(r"\\\$procmux(\$\d+) ")
_EMPTY = re.compile(r"^ *(?:\(\*.*\*\)\n *)*(?:wire|reg) \[-1:0\] \S+ ?;\n", re.MULTILINE)


def verilog(
    design: Design,
    arch: Arch,
    *,
    name: str = "samhw_top",
    stall_ports: bool = False,
    probes: bool = False,
    host: HostOptions = PLAIN_HOST,
    layout: OffChipLayout | None = None,
    chip_model: bool = True,
) -> str:
    """The Verilog of a design's `Top` with clock and reset of its own; the same text for the same design on
    every machine. The model of an SDRAM, if it has one, lies beside those of cells.

    Args:
        name: of the top module; those of the others begin with it.
        stall_ports, probes, host, layout, chip_model: as for `Top`.
    """
    platform = VerilogPlatform(name)
    with no_collection():
        top = Top(
            design,
            arch,
            stall_ports=stall_ports,
            probes=probes,
            own_clock=True,
            host=host,
            layout=layout,
            chip_model=chip_model,
        )
        text = convert(top, platform, name)
    text = _with_notes(_tidy(text), top, name, platform)
    return text if top.sdram is None else text + controller_verilog(top.sdram.chip)


def convert(
    top: Elaboratable, platform: VerilogPlatform, name: str, ports: Sequence[Signal] | None = None
) -> str:
    """The Verilog of anything, as `amaranth.back.verilog.convert` gives it, but with one module for all
    components that are made alike. `ports`: by default those of its signature."""
    own: str = rtlil.convert(top, name=name, platform=platform, ports=ports, emit_src=False)
    script = _SCRIPT.format(rtlil=own + platform.rtlil, name=name)
    text: str = find_yosys().run(["-q", "-"], script, ignore_warnings=True)
    return text + platform.text if platform.module in text else text


def split_modules(text: str) -> dict[str, str]:
    """The text of each module by its name, with the comment above it; the top is the first one."""
    modules = {}
    for part in text.split(_END)[:-1]:
        found = _MODULE.search(part)
        assert found is not None
        modules[found[1]] = part.lstrip("\n") + _END
    return modules


def _tidy(text: str) -> str:
    """Modules get plain names. Signals of no width, which in Verilog would have two bits, go: nothing refers
    to them. A function may not begin with a dollar, since Icarus Verilog looks for one of the system."""
    found = [name.removeprefix("\\") for name in _MODULE.findall(text)]
    plain = identifiers(found)
    escaped = re.compile(r"\\(" + "|".join(map(re.escape, sorted(plain, key=len, reverse=True))) + ") ")
    text = escaped.sub(lambda match: f"{plain[match[1]]} ", text)
    return _EMPTY.sub("", _FUNCTION.sub(r"\\select\1 ", text))


def _with_notes(text: str, top: Top, name: str, platform: VerilogPlatform) -> str:
    """Comments: above the top what it is of, above the modules of primitives what their kind does, and above
    their instances the cell of the fusion table that each comes from, and its parameters."""
    design = top.fabric.design
    rules = {
        module: (inspect.getdoc(make.kind) or "").partition("\n\n")[0]
        for module, make in platform.modules.items()
    }
    rules[name] = f"{design.name}, of {design.value}: docs/host_port.md says how it is driven."
    text = _MODULE.sub(lambda match: _comment(rules.get(match[1], "")) + match[0], text)
    cells: dict[str, str] = defaultdict(str)
    for number, node in design.built_nodes:
        params = ", ".join(f"{key}={value}" for key, value in node.params.items())
        cell = node.note or node.spec.note(node.spec.subject(node.name), node.params, {})
        rule = f"{node.kind}({params}), as in docs/primitives.md."
        cells[top.fabric.streams.submodules[number, node.name]] += _comment(f"{cell}\n{rule}", "  ")
    begin = text.index(f"\nmodule {name}_fabric")
    end = text.index(_END, begin)
    fabric = _INSTANCE.sub(lambda match: cells.get(match[1], "") + match[0], text[begin:end])
    return text[:begin] + fabric + text[end:]


def _comment(text: str, indent: str = "") -> str:
    return "".join(f"{indent}// {comment_text(line)}\n" for line in text.splitlines() if line)
