"""Modules that components of one make share in generated Verilog."""

import re

from amaranth.back import rtlil
from amaranth.hdl import Module
from amaranth.lib import wiring

from samhw.graph import Arch
from samhw.graph.numerics import value_type
from samhw.primitives.alu.component import Alu
from samhw.rtl import verilog_platform
from samhw.rtl.channel import Fifo
from samhw.rtl.shared import Shared
from samhw.rtl.token import token_layout
from samhw.rtl.verilog_platform import VerilogPlatform


def text_of(*components: Shared, name: str = "ours") -> str:
    """RTLIL with the components, and with the modules of which they are instances."""
    platform = VerilogPlatform(name)
    m = Module()
    ports = {}
    for k, component in enumerate(components):
        m.submodules[f"c{k}"] = component
        for path, _, value in component.signature.flatten(component):
            ports[f"c{k}_{'_'.join(map(str, path))}"] = (
                value.as_value() if hasattr(value, "as_value") else value,
                None,
            )
    text = rtlil.convert(m, ports=ports, platform=platform)
    assert len(set(platform.modules.values())) == len(platform.modules)
    return text + platform.rtlil


def modules_of(*components: Shared) -> list[str]:
    """The modules of which the components are instances, in turn."""
    text, _, _ = text_of(*components).partition("\nattribute \\top 1\nmodule \\ours_")
    return re.findall(r"^  cell \\(ours_\w+) ", text, re.MULTILINE)


def fifo(width: int, depth: int) -> Fifo:
    return Fifo(token_layout(width), depth)


def alu(**params: object) -> Alu:
    return Alu(arch=Arch(), **{"value_type": value_type("i32"), "op": "add", **params})


def test_only_what_is_made_alike_shares_a_module() -> None:
    found = modules_of(fifo(8, 2), fifo(8, 3), fifo(8, 2), fifo(16, 2))
    assert found == ["ours_fifo_1", "ours_fifo_2", "ours_fifo_1", "ours_fifo_3"]
    found = modules_of(
        alu(),
        alu(op="mul"),
        alu(value_type=value_type("i8")),
        alu(immediates={"b": 1}),
        alu(immediates={"b": 2}),
        alu(immediates={"b": 1}),
        alu(),
    )
    assert found == [f"ours_alu_{n}" for n in (1, 2, 3, 4, 5, 4, 1)]
    # Equal, but not the same word.
    zeros = [alu(value_type=value_type("f32"), immediates={"b": zero}) for zero in (0.0, -0.0)]
    assert modules_of(*zeros) == ["ours_alu_1", "ours_alu_2"]


def test_a_text_does_not_depend_on_what_was_made_before() -> None:
    def text(name: str = "ours") -> str:
        return text_of(fifo(8, 77), fifo(8, 5), alu(op="mul"), name=name)

    verilog_platform._shared_module.cache_clear()
    first = text()
    modules_of(alu(op="mul"), fifo(8, 5), fifo(9, 5))
    before = verilog_platform._shared_module.cache_info().misses
    assert text() == first
    assert text("theirs") == first.replace("ours_", "theirs_")
    assert verilog_platform._shared_module.cache_info().misses == before
    assert "ours_memory" in first
    assert "<" not in first


def test_any_other_platform_has_a_submodule_for_each() -> None:
    class Pair(wiring.Component):
        def __init__(self) -> None:
            super().__init__({})

        def elaborate(self, platform: object) -> Module:
            m = Module()
            m.submodules.a, m.submodules.b = fifo(8, 2), fifo(8, 2)
            return m

    text = rtlil.convert(Pair(), platform=None)
    assert {r"module \top.a", r"module \top.b"} <= set(text.splitlines())
