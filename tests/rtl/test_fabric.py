"""The fabric by itself, with memories that are not the shell's: what lies between them, and that it is
enough."""

from collections import defaultdict
from typing import Any

import pytest
from amaranth.sim import Simulator, SimulatorContext

from samhw.app.workload import bind_program, compile_workload
from samhw.choices.schedule import Schedule, with_words
from samhw.graph import Arch, Design, Kind
from samhw.graph.numerics import value_type
from samhw.graph.patterns import may_be_empty
from samhw.rtl.actor import Error
from samhw.rtl.fabric import Fabric
from samhw.rtl.site import bits_of
from samhw.sim import simulate_regions
from samhw.targets.running.images import load_inputs
from tests.support.top_graphs import copy_graph

PATIENCE = 100


def copies() -> Design:
    """T[i] = A[i], then C[i] = T[i], all compressed."""
    return Design.assemble("test", [copy_graph(target="T"), copy_graph(source="T")])


def test_memories_and_their_ports():
    """A scanner reads `pos` twice; a buffer is written in one region and read in the other."""
    ports = Fabric(copies(), Arch()).ports
    first, second = frozenset({0}), frozenset({1})
    assert {name: (signature.readers, signature.writers) for name, signature in ports.items()} == {
        "A.pos1": ((first, first), ()),
        "A.crd1": ((first,), ()),
        "A.vals": ((first,), ()),
        "T.pos1": ((second, second), (first,)),
        "T.crd1": ((second,), (first,)),
        "T.vals": ((second,), (first,)),
        "C.pos1": ((), (second,)),
        "C.crd1": ((), (second,)),
        "C.vals": ((), (second,)),
    }
    assert list(ports["T.pos1"].members) == ["read0", "read1", "write0"]
    assert list(ports["A.crd1"].members) == ["read0"]


def test_it_runs_with_any_memories():
    """Words in Python, which answer as the interface asks for: the run takes the cycles that it takes with
    memories on the chip (test_top_regions.py)."""
    fabric = Fabric(copies(), Arch())
    words: dict[str, dict[int, int]] = defaultdict(dict)
    words["mem_A_pos1"] = {0: 0, 1: 3}
    words["mem_A_crd1"] = {0: 2, 1: 5, 2: 7}
    words["mem_A_vals"] = {0: 20, 1: 50, 2: 70}
    interfaces = {name: getattr(fabric.memories, name) for name in fabric.memories.signature.members}

    async def memories(ctx: SimulatorContext) -> None:
        while True:
            asked: list[tuple[str, Any, int]] = []
            taken: list[tuple[str, Any, int]] = []
            for name, interface in interfaces.items():
                for member in interface.signature.members:
                    port = getattr(interface, member)
                    if ctx.get(port.en):
                        ports = taken if member.startswith("write") else asked
                        ports.append((name, port, ctx.get(port.addr)))
            answers = [(port, words[name].get(addr, 0)) for name, port, addr in asked]
            for name, port, addr in taken:
                words[name][addr] = ctx.get(port.data)
            await ctx.tick()
            for port, word in answers:
                ctx.set(port.data, word)

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(fabric.extents.extent_x, 100)
        ctx.set(fabric.run.request, 1)
        await ctx.tick()
        ctx.set(fabric.run.request, 0)
        for _ in range(PATIENCE):
            if ctx.get(fabric.run.done):
                break
            await ctx.tick()
        assert ctx.get(fabric.run.done)
        assert ctx.get(fabric.run.cycle) == 23
        for region, cycles in enumerate([11, 12]):
            ctx.set(fabric.run.spent_of, region)
            await ctx.tick()
            assert ctx.get(fabric.run.spent) == cycles
        assert ctx.get(fabric.run.error) == Error(0)
        assert ctx.get(fabric.run.empty) == (1 << len(fabric.channels)) - 1
        assert ctx.get(fabric.run.full) == 0

    simulator = Simulator(fabric)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.add_testbench(memories, background=True)
    simulator.run()
    assert words["mem_C_pos1"] == {0: 0, 1: 3}
    assert words["mem_C_crd1"] == words["mem_A_crd1"]
    assert words["mem_C_vals"] == words["mem_A_vals"]


@pytest.mark.parametrize(
    ("program", "words", "types"),
    [
        ("mmadd", {}, {}),
        ("sae", {}, {}),
        ("spmm", {"lanes": "i=4"}, {}),
        ("sddmm", {}, {}),
        ("sum_sum", {}, {}),
        ("spmm", {}, {"A": "i8", "X": "i8"}),
        ("spmm", {}, {"A": "i8"}),
    ],
)
def test_channels_store_what_is_sent(program: str, words: dict[str, str], types: dict[str, str]) -> None:
    """In a run, no token has a bit that its channel does not give back, and none is EMPTY where that is
    excluded."""
    work = bind_program(program, ["random:seed=3"])
    work = work.with_types({name: value_type(given) for name, given in types.items()})
    value = value_type("i32" if types else "f32")
    compiled = compile_workload(work, with_words(Schedule(), words), value=value)
    memories, extents = load_inputs(compiled.program, compiled.design, work.tensors)
    results = simulate_regions(compiled.design, compiled.arch, memories, extents, trace=True)
    for graph, result in zip(compiled.design.runs, results, strict=True):
        for channel in graph.channels:
            kept, early, is_signed = bits_of([(graph, channel.source)])
            sent = [token for _, token in result.traces[channel.name]]
            whole = (1 << 2 + graph.given(graph.node[channel.source.node], channel.source.port).width(32)) - 1
            for token in sent:
                bits = token.kind | token.payload << 2
                is_low = is_signed and token.kind == Kind.VAL and bits & kept > kept >> 1
                assert bits == (bits & kept | (whole & ~kept if is_low else 0)), channel.name
            ends = [token for token in sent if token.kind in (Kind.STOP, Kind.DONE)]
            assert all((token.kind | token.payload << 2) & ~early == 0 for token in ends), channel.name
            if channel.source not in may_be_empty(graph):
                assert all(token.kind is not Kind.EMPTY for token in sent), channel.name


def test_a_channel_is_no_wider_than_its_stream() -> None:
    """The club has 34 coordinates on one level, and the stops of one level have no bits."""
    compiled = compile_workload(bind_program("spmv", ["karate"]))
    graph = compiled.design.regions[0]
    (outer,) = (c.source for c in graph.channels if c.sink.node.startswith("write_dense"))
    assert bits_of([(graph, outer)]) == (0b111111_11, 0b11, False)
