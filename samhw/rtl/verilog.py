"""The Verilog of a whole design: plain names, comments that say what a module is, and one text or a file for
each module."""

import gc
import inspect
import re
from collections.abc import Iterator
from contextlib import contextmanager

from amaranth.back import verilog as verilog_backend

from samhw.graph import Arch, Design
from samhw.names import comment_text, identifiers
from samhw.rtl.top import Top
from samhw.rtl.verilog_memory import VerilogMemories

__all__ = ["LINT_EXCEPTIONS", "split_modules", "verilog"]

LINT_EXCEPTIONS = {
    "CASEINCOMPLETE": "a case without a match keeps what was assigned before it",
    "PROCASSINIT": "registers have a value at power-on, and a reset to it",
    "UNSIGNED": "a comparison of a counter with a bound that is 0 in this design",
    "UNUSEDSIGNAL": "fields of tokens that nobody reads, and names that are there for waveforms",
    "VARHIDDEN": "a signal is called as an instance around its module is",
    "WIDTHEXPAND": "constants are as narrow as their value",
    "WIDTHTRUNC": "a value of several bits is asked whether it is 0",
}
"""The warnings of `verilator --lint-only -Wall` that the Verilog gives, and why each is harmless."""

_MODULE = re.compile(r"^module (\\\S+|\w+)", re.MULTILINE)
_END = "endmodule\n"
_EMPTY = re.compile(r"^ *(?:\(\*.*\*\)\n *)*(?:wire|reg) \[-1:0\] \S+ ?;\n", re.MULTILINE)


def verilog(
    design: Design, arch: Arch, *, name: str = "samhw_top", stall_ports: bool = False, probes: bool = False
) -> str:
    """The Verilog of a design's `Top` with clock and reset of its own; the same text for the same design on
    every machine.

    Args:
        name: of the top module; those of the others begin with it.
        stall_ports, probes: as for `Top`.
    """
    top = Top(design, arch, stall_ports=stall_ports, probes=probes, own_clock=True)
    memories = VerilogMemories(f"{name}_memory")
    with _no_garbage_collection():
        text: str = verilog_backend.convert(
            top, name=name, platform=memories, emit_src=False, strip_internal_attrs=True
        )
    text = _tidy(text, _notes(top, name))
    return text + memories.text if memories.module in text else text


def split_modules(text: str) -> dict[str, str]:
    """The text of each module by its name, with the comment above it; the top is the first one."""
    modules = {}
    for part in text.split(_END)[:-1]:
        found = _MODULE.search(part)
        assert found is not None
        modules[found[1]] = part.lstrip("\n") + _END
    return modules


def _tidy(text: str, notes: dict[str, str]) -> str:
    """Modules get plain names and their notes. Signals of no width, which in Verilog would have two bits, go:
    nothing refers to them."""
    found = [name.removeprefix("\\") for name in _MODULE.findall(text)]
    plain = identifiers(found)
    escaped = re.compile(r"\\(" + "|".join(map(re.escape, sorted(plain, key=len, reverse=True))) + ") ")
    text = escaped.sub(lambda match: f"{plain[match[1]]} ", text)
    notes = {plain[name]: note for name, note in notes.items() if name in plain}
    text = _MODULE.sub(lambda match: notes.get(match[1], "") + match[0], text)
    return _EMPTY.sub("", text)


def _notes(top: Top, name: str) -> dict[str, str]:
    """The comment above the module of each node: the cell of the fusion table that it comes from, its
    parameters, and what its kind does."""
    design, fabric = top.fabric.design, top.fabric
    notes = {
        name: f"// {comment_text(design.name)}, of {design.value}: docs/host_port.md says how it is driven.\n"
    }
    for region, node in design.nodes:
        params = ", ".join(f"{key}={value}" for key, value in node.params.items())
        rule = inspect.getdoc(type(fabric.nodes[region, node.name])) or ""
        lines = [
            node.note or node.spec.note(node.spec.subject(node.name), node.params, {}),
            f"{node.kind}({params}), as docs/primitives.md has it.",
            *rule.partition("\n\n")[0].splitlines(),
        ]
        module = f"{name}.fabric.{fabric.submodules[region, node.name]}"
        notes[module] = "".join(f"// {comment_text(line)}\n" for line in lines if line)
    return notes


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """The objects of a netlist all live until the end. Python's collector would walk through them again and
    again, for a third of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
