"""The platform for which Verilog is generated."""

import re
from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import ClockSignal, Elaboratable, Instance, ResetSignal, Value
from amaranth.lib.wiring import In

from samhw.rtl.shared import Shared
from samhw.rtl.verilog_memory import VerilogMemories

__all__ = ["VerilogPlatform"]

_EMPTY = re.compile(r"^(  wire width 0) (?:input|output) \d+", re.MULTILINE)
"""A port of no width: Verilog has none."""
_INPUT = re.compile(r"^  wire .*\binput \d+ +\\(\S+)$", re.MULTILINE)
_WORD = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(frozen=True)
class _Module:
    """A module in RTLIL for the components of one make."""

    name: str
    make: tuple[object, ...]
    inputs: Set[str]
    """With the clock and the reset, if it has them."""


class VerilogPlatform(VerilogMemories):
    """Says what becomes of memories, and of components that share a module.

    Args:
        name: of the top module; those of the others begin with it.

    Attributes:
        shared: the RTLIL of the modules for shared components; goes with that of the design.
        modules: the class of the components for which a module stands, by the module's name.
    """

    def __init__(self, name: str):
        super().__init__(f"{name}_memory")
        self.shared: list[str] = []
        self.modules: dict[str, type[Shared]] = {}
        self._name = name
        self._known: dict[type[Shared], list[_Module]] = {}
        self._open: list[Shared] = []

    def get_shared(self, component: Shared, elaborate: Callable[[Any, Any], Elaboratable]) -> Elaboratable:
        """An instance of the module for components of that make, which `elaborate` gives the first time."""
        if self._open and self._open[-1] is component:
            return elaborate(component, self)
        known = self._known.setdefault(type(component), [])
        module = next((module for module in known if module.make == component.make), None)
        if module is None:
            module = self._made_for(component, len(known))
            known.append(module)
        clocks = {"clk": ClockSignal(), "rst": ResetSignal()}
        ports: dict[str, Value] = {f"i_{port}": clocks[port] for port in clocks if port in module.inputs}
        for path, member, port in component.signature.flatten(component):
            value = Value.cast(port)
            if len(value):
                ports[f"{'i' if member.flow is In else 'o'}_{'__'.join(map(str, path))}"] = value
        return Instance(module.name, **ports)

    def _made_for(self, component: Shared, number: int) -> _Module:
        kind = _WORD.sub("_", type(component).__name__).lower()
        name = f"{self._name}_{kind}_{number + 1}"
        self._open.append(component)
        text: str = rtlil.convert(component, name=name, platform=self, emit_src=False)
        self._open.pop()
        self.shared.append(_EMPTY.sub(r"\1", text))
        self.modules[name] = type(component)
        own = text[text.rindex("\nattribute \\top 1\n") :]
        return _Module(name, component.make, frozenset(_INPUT.findall(own)))
