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

__all__ = ["SharedModule", "VerilogPlatform"]

_EMPTY = re.compile(r"^(  wire width 0) (?:input|output) \d+", re.MULTILINE)
"""A port of no width: Verilog has none."""
_INPUT = re.compile(r"^  wire .*\binput \d+ +\\(\S+)$", re.MULTILINE)
_WORD = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(frozen=True)
class SharedModule:
    """A module for the components of one make: its text in RTLIL, and its inputs, with clock and reset if
    it has them."""

    name: str
    kind: type[Shared]
    make: tuple[object, ...]
    text: str
    inputs: Set[str]


class VerilogPlatform(VerilogMemories):
    """Says what becomes of memories, and of components that share a module.

    Args:
        name: of the top module; those of the others begin with it.

    Attributes:
        modules: those that components share; their RTLIL goes with that of the design.
    """

    def __init__(self, name: str):
        super().__init__(f"{name}_memory")
        self.modules: list[SharedModule] = []
        self._name = name
        self._open: list[Shared] = []

    def get_shared(self, component: Shared, elaborate: Callable[[Any, Any], Elaboratable]) -> Elaboratable:
        """An instance of the module for components of that make, which `elaborate` gives the first time."""
        if self._open and self._open[-1] is component:
            return elaborate(component, self)
        module = next((module for module in self.modules if module.make == component.make), None)
        if module is None:
            module = self._made_for(component)
            self.modules.append(module)
        clocks = {"clk": ClockSignal(), "rst": ResetSignal()}
        ports: dict[str, Value] = {f"i_{port}": clocks[port] for port in clocks if port in module.inputs}
        for path, member, port in component.signature.flatten(component):
            value = Value.cast(port)
            if len(value):
                ports[f"{'i' if member.flow is In else 'o'}_{'__'.join(map(str, path))}"] = value
        return Instance(module.name, **ports)

    def _made_for(self, component: Shared) -> SharedModule:
        kind = type(component)
        number = 1 + sum(module.kind is kind for module in self.modules)
        name = f"{self._name}_{_WORD.sub('_', kind.__name__).lower()}_{number}"
        self._open.append(component)
        text: str = rtlil.convert(component, name=name, platform=self, emit_src=False)
        self._open.pop()
        own = text[text.rindex("\nattribute \\top 1\n") :]
        inputs = frozenset(_INPUT.findall(own))
        return SharedModule(name, kind, component.make, _EMPTY.sub(r"\1", text), inputs)
