"""Whole graphs behind the host port: results, cycles worked out by hand from docs/primitives.md, errors."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from amaranth.hdl import ClockDomain, Module
from amaranth.sim import Simulator, SimulatorContext

from samhw.errors import InputError
from samhw.graph import Arch, Channel, Endpoint, Graph, Memory, MemoryRole, Node, Port, Stream, StreamKind
from samhw.graph.address_map import NO_NODE, Cause, Register, Status
from samhw.rtl import Top, verilog
from samhw.rtl.host_port import Response

CRD, REF, VAL = StreamKind
INPUT, OUTPUT = MemoryRole

PATIENCE = 100
"""How often STATUS is read before a run is given up."""


def node(name: str, kind: str, takes: str = "", gives: str = "", **params: Any) -> Node:
    """A node whose ports are written like `crd:crd1 val:val0`: name, kind and depth."""

    def ports(text: str) -> tuple[Port, ...]:
        found = re.findall(r"(\w+):([a-z]+)(\d)", text)
        return tuple(Port(port, Stream(StreamKind(kind), int(depth))) for port, kind, depth in found)

    return Node(name, kind, params, ports(takes), ports(gives))


def graph(
    nodes: Sequence[Node],
    channels: str,
    memories: Mapping[str, int],
    extents: Mapping[str, int] | None = None,
) -> Graph:
    """Channels are written like `a.out>b.in,c.in*2/4`: latency 2 (if not 1) and depth 4 (the default).

    The tensor C is the output."""
    links = []
    syntax = r"([\w.]+)>([\w.,]+)(?:\*(\d+))?(?:/(\d+))?"
    for source, sinks, latency, depth in re.findall(syntax, channels):
        for sink in sinks.split(","):
            ends = Endpoint(*source.split(".")), Endpoint(*sink.split("."))
            links.append(Channel(*ends, int(latency or 1), int(depth or 4)))
    arrays = tuple(
        Memory(name, *name.split("."), OUTPUT if name.startswith("C.") else INPUT, capacity)
        for name, capacity in memories.items()
    )
    return Graph("test", "i32", tuple(nodes), tuple(links), arrays, (), extents or {})


ROOT = node("root", "root", "", "out:ref0")


def scan(tensor: str, level: int = 1) -> Node:
    depth = level - 1
    params = {"pos": f"{tensor}.pos{level}", "crd": f"{tensor}.crd{level}"}
    outputs = f"crd:crd{level} ref:ref{level}"
    return node(f"scan_{tensor}{level}", "scan_compressed", f"ref:ref{depth}", outputs, **params)


def array(tensor: str, depth: int = 1) -> Node:
    return node(f"array_{tensor}", "array", f"ref:ref{depth}", f"val:val{depth}", vals=f"{tensor}.vals")


def copy_graph(capacity: int = 8) -> Graph:
    """C[i] = A[i], both compressed."""
    return graph(
        [
            ROOT,
            scan("A"),
            array("A"),
            node("write_crd", "write_compressed", "crd:crd1", pos="C.pos1", crd="C.crd1"),
            node("write_val", "write_val", "val:val1", vals="C.vals"),
        ],
        "root.out>scan_A1.ref scan_A1.crd>write_crd.crd*2 scan_A1.ref>array_A.ref "
        "array_A.val>write_val.val*2",
        {"A.pos1": 2, "A.crd1": 8, "A.vals": 8, "C.pos1": 2, "C.crd1": capacity, "C.vals": capacity},
    )


class Host:
    """Drives a design through its AXI4-Lite port."""

    def __init__(self, ctx: SimulatorContext, top: Top, domain: ClockDomain):
        self.ctx = ctx
        self.top = top
        self.domain = domain

    def _pin(self, name: str) -> Any:
        return getattr(self.top, f"s_axi_{name}")

    async def write(self, address: int, data: int) -> bool:
        """Gives whether the design took it."""
        ctx = self.ctx
        pins = {"awaddr": address, "awvalid": 1, "wdata": data, "wstrb": 15, "wvalid": 1}
        for name, value in pins.items():
            ctx.set(self._pin(name), value)
        await ctx.tick().until(self._pin("awready") & self._pin("wready"))
        for name in ("awvalid", "wvalid"):
            ctx.set(self._pin(name), 0)
        ctx.set(self._pin("bready"), 1)
        (response,) = await ctx.tick().sample(self._pin("bresp")).until(self._pin("bvalid"))
        return response == Response.OKAY

    async def read_response(self, address: int) -> tuple[int, Response]:
        ctx = self.ctx
        ctx.set(self._pin("araddr"), address)
        ctx.set(self._pin("arvalid"), 1)
        await ctx.tick().until(self._pin("arready"))
        ctx.set(self._pin("arvalid"), 0)
        ctx.set(self._pin("rready"), 1)
        answer = ctx.tick().sample(self._pin("rdata"), self._pin("rresp"))
        data, response = await answer.until(self._pin("rvalid"))
        return data, response

    async def read(self, address: int) -> int:
        data, response = await self.read_response(address)
        assert response == Response.OKAY
        return data

    async def load(self, memories: Mapping[str, Sequence[int]]) -> None:
        for name, words in memories.items():
            for k, word in enumerate(words):
                assert await self.write(self.top.map.windows[name].base + 4 * k, word)

    async def words(self, name: str, count: int) -> list[int]:
        return [await self.read(self.top.map.windows[name].base + 4 * k) for k in range(count)]

    async def run(self, **memories: Sequence[int]) -> int:
        """Loads memories (named with _ for the dot), starts, and waits for the end; gives STATUS."""
        await self.load({name.replace("_", ".", 1): words for name, words in memories.items()})
        assert await self.write(Register.CONTROL, 1)
        return await self.end()

    async def end(self) -> int:
        """Waits for the end of the run; gives STATUS."""
        for _ in range(PATIENCE):
            status = await self.read(Register.STATUS)
            if not status & Status.RUNNING:
                return status
        raise AssertionError("the run does not end")

    async def cycles(self) -> int:
        return await self.read(Register.CYCLES_LO) | await self.read(Register.CYCLES_HI) << 32

    async def error(self) -> tuple[Cause, int]:
        return Cause(await self.read(Register.ERROR)), await self.read(Register.ERROR_NODE)

    async def reset(self) -> None:
        self.ctx.set(self.domain.rst, 1)
        await self.ctx.tick()
        self.ctx.set(self.domain.rst, 0)


def simulate(
    top: Top, testbench: Callable[[Host], Awaitable[None]], *others: Callable[..., Awaitable[None]]
) -> None:
    m = Module()
    m.domains.sync = domain = ClockDomain()
    m.submodules.top = top

    async def bench(ctx: SimulatorContext) -> None:
        await testbench(Host(ctx, top, domain))

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    for other in others:
        simulator.add_testbench(other, background=True)
    simulator.run()


def test_copy_twice_with_other_data():
    """The root fires in 1 and 2, the fetch in 2 and 3, the walk in 4 .. 6 for three coordinates, in 7 and 8
    for S0 and DONE; the array a cycle later, the writer of values two behind that: it commits in 11."""

    async def host(host: Host) -> None:
        assert await host.read(Register.IDENTITY) == host.top.map.identity
        assert await host.read(Register.STATUS) == 0
        assert await host.run(A_pos1=[0, 3], A_crd1=[2, 5, 7], A_vals=[20, 50, 70]) == Status.DONE
        assert await host.cycles() == 11
        assert await host.words("C.pos1", 2) == [0, 3]
        assert await host.words("C.crd1", 3) == [2, 5, 7]
        assert await host.words("C.vals", 3) == [20, 50, 70]
        assert await host.run(A_pos1=[1, 3]) == Status.DONE
        assert await host.cycles() == 10
        assert await host.words("C.pos1", 2) == [0, 2]
        assert await host.words("C.crd1", 3) == [5, 7, 7]
        assert await host.words("C.vals", 3) == [50, 70, 70]
        # An empty fiber: the walk fires in 4 for it, in 5 and 6 for S0 and DONE.
        assert await host.run(A_pos1=[3, 3]) == Status.DONE
        assert await host.cycles() == 9
        assert await host.words("C.pos1", 2) == [0, 0]
        assert await host.error() == (Cause(0), NO_NODE)

    simulate(Top(copy_graph(), Arch()), host)


def test_dot_product():
    """For 1 3 4 and 3 4 7 the intersecter fires in 6 (takes 1), 7 and 8 (pairs), 9 (takes 7), 10 (S0) and 11
    (DONE); the arrays a cycle later, the multiplier two behind that, the reducer four behind that: the sum is
    complete with the S0 in 17, emitted in 18 and written in 19, and DONE is a cycle behind it.

    For 0 and 5 6 it fires in 6, 7, 8 to take them, then 9 and 10: all is a cycle earlier."""
    dot = graph(
        [
            ROOT,
            scan("A"),
            scan("B"),
            node(
                "intersect",
                "intersect",
                "crd0:crd1 ref0:ref1 crd1:crd1 ref1:ref1",
                "crd:crd1 ref0:ref1 ref1:ref1",
                inputs=2,
            ),
            array("A"),
            array("B"),
            node("mul", "alu", "a:val1 b:val1", "val:val1", op="mul"),
            node("reduce", "reduce_scalar", "val:val1", "val:val0", op="sum"),
            node("write", "write_val", "val:val0", vals="C.vals"),
        ],
        "root.out>scan_A1.ref,scan_B1.ref scan_A1.crd>intersect.crd0*2 scan_A1.ref>intersect.ref0 "
        "scan_B1.crd>intersect.crd1*2 scan_B1.ref>intersect.ref1 intersect.ref0>array_A.ref "
        "intersect.ref1>array_B.ref array_A.val>mul.a*2 array_B.val>mul.b*2 mul.val>reduce.val*4/6 "
        "reduce.val>write.val",
        {"A.pos1": 2, "A.crd1": 4, "A.vals": 4, "B.pos1": 2, "B.crd1": 4, "B.vals": 4, "C.vals": 1},
    )

    async def host(host: Host) -> None:
        a = {"A_pos1": [0, 3], "A_crd1": [1, 3, 4], "A_vals": [9, 10, 2]}
        b = {"B_pos1": [0, 3], "B_crd1": [3, 4, 7], "B_vals": [4, 6, 9]}
        assert await host.run(**a, **b) == Status.DONE
        assert await host.cycles() == 20
        assert await host.words("C.vals", 1) == [52]
        disjoint = {"A_pos1": [0, 1], "A_crd1": [0], "B_pos1": [0, 2], "B_crd1": [5, 6]}
        assert await host.run(**disjoint) == Status.DONE
        assert await host.cycles() == 19
        assert await host.words("C.vals", 1) == [0]

    simulate(Top(dot, Arch()), host)
    with pytest.raises(InputError, match="mul"):
        Top(dot, Arch(alu={"mul": 2}))


def test_start_is_ignored_in_a_run_and_loads_are_refused():
    async def host(host: Host) -> None:
        window = host.top.map.windows["A.vals"]
        await host.load({"A.pos1": [0, 8], "A.crd1": range(8), "A.vals": range(8)})
        assert await host.write(Register.CONTROL, 0)
        assert await host.read(Register.STATUS) == 0
        assert await host.write(Register.CONTROL, 1)
        assert not await host.write(window.base, 99)
        assert await host.write(Register.CONTROL, 1)
        assert (await host.read_response(host.top.map.windows["C.vals"].base))[1] == Response.SLVERR
        assert await host.end() == Status.DONE
        assert await host.cycles() == 16
        assert await host.words("C.vals", 8) == list(range(8))

    simulate(Top(copy_graph(), Arch()), host)


def test_the_map_is_all_there_is():
    async def host(host: Host) -> None:
        windows = host.top.map.windows
        refused = [
            int(Register.STATUS),
            int(Register.IDENTITY),
            host.top.map.channel_states[0],
            windows["C.vals"].base,
            windows["A.pos1"].base + windows["A.pos1"].size,
            1 << host.top.map.address_bits,
        ]
        for address in refused:
            assert not await host.write(address, 1)
        for address in (windows["A.vals"].base, 1 << host.top.map.address_bits, 0xFFFF_FFFC):
            assert (await host.read_response(address))[1] == Response.SLVERR
        # The capacity is 5, the window has 8 words.
        base = windows["C.vals"].base
        responses = [(await host.read_response(base + 4 * k))[1] for k in (4, 5)]
        assert responses == [Response.OKAY, Response.SLVERR]
        assert await host.read(Register.CONTROL) == 0
        assert await host.read(host.top.map.channel_states[0]) == 0b01010101

    simulate(Top(copy_graph(5), Arch()), host)


def test_capacity_error_ends_the_run_and_sticks_until_reset():
    async def host(host: Host) -> None:
        data = {"A_pos1": [0, 3], "A_crd1": [2, 5, 7], "A_vals": [20, 50, 70]}
        assert await host.run(**data) == Status.ERROR
        # Both memories have two words; the coordinate comes first.
        assert await host.error() == (Cause.CAPACITY, 3)
        assert await host.words("C.crd1", 2) == [2, 5]
        assert await host.run(A_pos1=[0, 2]) == Status.ERROR
        assert await host.cycles() < 12
        await host.reset()
        assert await host.read(Register.STATUS) == 0
        assert await host.error() == (Cause(0), NO_NODE)
        assert await host.run() == Status.DONE
        assert await host.cycles() == 10
        assert await host.words("C.vals", 2) == [20, 50]

    simulate(Top(copy_graph(2), Arch()), host)


def column_sums() -> Graph:
    """C[j] = sum over i of A[i,j], with A doubly compressed."""
    return graph(
        [
            ROOT,
            scan("A"),
            scan("A", 2),
            array("A", 2),
            node("reduce", "reduce_vector", "crd0:crd2 val:val2", "crd0:crd1 val:val1", op="sum", bits=[4]),
            node("write_crd", "write_compressed", "crd:crd1", pos="C.pos1", crd="C.crd1"),
            node("write_val", "write_val", "val:val1", vals="C.vals"),
        ],
        "root.out>scan_A1.ref scan_A1.ref>scan_A2.ref scan_A2.crd>reduce.crd0*2 scan_A2.ref>array_A.ref "
        "array_A.val>reduce.val*2 reduce.crd0>write_crd.crd reduce.val>write_val.val*2",
        {"A.pos1": 2, "A.crd1": 4, "A.pos2": 5, "A.crd2": 8, "A.vals": 8}
        | {"C.pos1": 2, "C.crd1": 8, "C.vals": 8},
    )


MATRIX = {"A_pos1": [0, 2], "A_crd1": [0, 1], "A_pos2": [0, 2, 3], "A_crd2": [3, 9, 9], "A_vals": [1, 2, 3]}


def test_overflow():
    async def host(host: Host) -> None:
        assert await host.run(**{**MATRIX, "A_vals": [1, 0x7FFF_FFFF, 3]}) == Status.ERROR
        assert await host.error() == (Cause.OVERFLOW, 4)

    simulate(Top(column_sums(), Arch()), host)


def test_a_run_that_is_cut_short_leaves_nothing_behind():
    async def host(host: Host) -> None:
        assert await host.run(**MATRIX) == Status.DONE
        cycles = await host.cycles()
        # When the second row comes in, the reducer holds the first one.
        assert await host.write(Register.CONTROL, 1)
        while host.ctx.get(host.top.cycle) < 13:
            await host.ctx.tick()
        await host.reset()
        # The reducer clears its memories, a word a cycle; the run waits for it in its cycle 0.
        assert await host.write(Register.CONTROL, 1)
        for _ in range(10):
            await host.ctx.tick()
            assert host.ctx.get(host.top.running)
            assert host.ctx.get(host.top.cycle) == 0
        assert await host.end() == Status.DONE
        assert await host.cycles() == cycles
        assert await host.words("C.pos1", 2) == [0, 2]
        assert await host.words("C.crd1", 2) == [3, 9]
        assert await host.words("C.vals", 2) == [1, 5]

    simulate(Top(column_sums(), Arch()), host)


def test_deadlock():
    """Every value less the greatest one: the values wait for the end of the fiber, in a channel of four."""
    softmax = graph(
        [
            ROOT,
            scan("A"),
            array("A"),
            node("greatest", "reduce_scalar", "val:val1", "val:val0", op="max"),
            node("repeat", "repeat", "ref:val0 crd:crd1", "ref:val1"),
            node("sub", "alu", "a:val1 b:val1", "val:val1", op="sub"),
            node("write", "write_val", "val:val1", vals="C.vals"),
        ],
        "root.out>scan_A1.ref scan_A1.crd>repeat.crd*2/20 scan_A1.ref>array_A.ref/20 "
        "array_A.val>greatest.val,sub.a*2/4 greatest.val>repeat.ref repeat.ref>sub.b sub.val>write.val*2",
        {"A.pos1": 2, "A.crd1": 8, "A.vals": 8, "C.vals": 8},
    )
    names = [c.name for c in softmax.channels]

    async def host(host: Host) -> None:
        vals = [5, 9, 2, 7, 1]
        assert await host.run(A_pos1=[0, 3], A_crd1=range(5), A_vals=vals) == Status.DONE
        assert await host.words("C.vals", 3) == [word & 0xFFFF_FFFF for word in (-4, 0, -7)]
        assert await host.run(A_pos1=[0, 5]) == Status.ERROR
        assert await host.error() == (Cause.DEADLOCK, NO_NODE)
        states = await host.read(host.top.map.channel_states[0])
        empty = {name for k, name in enumerate(names) if states >> 2 * k & 1}
        full = {name for k, name in enumerate(names) if states >> 2 * k & 2}
        assert full == {"array_A.val->sub.a"}
        assert {"array_A.val->greatest.val", "greatest.val->repeat.ref", "repeat.ref->sub.b"} <= empty
        assert "scan_A1.crd->repeat.crd" not in empty | full

    simulate(Top(softmax, Arch(watchdog=30)), host)


def test_extents():
    """C[i] = A[i], both dense: a scan enumerates the run's extent."""
    dense = graph(
        [
            ROOT,
            node("scan", "scan_dense", "ref:ref0", "crd:crd1 ref:ref1", extent="i"),
            array("A"),
            node("write_crd", "write_dense", "crd:crd1", extent="i"),
            node("write_val", "write_val", "val:val1", vals="C.vals"),
        ],
        "root.out>scan.ref scan.crd>write_crd.crd scan.ref>array_A.ref array_A.val>write_val.val*2",
        {"A.vals": 6, "C.vals": 6},
        {"i": 6},
    )

    async def host(host: Host) -> None:
        address = host.top.map.extents["i"]
        # The scan's multiplier takes two cycles more than the fetch of a compressed level.
        for extent in (6, 2):
            assert await host.write(address, extent)
            assert await host.run(A_vals=range(6)) == Status.DONE
            assert await host.cycles() == 10 + extent
        assert not await host.write(address, 7)
        assert not await host.write(address, 1 << 31)
        assert await host.read(address) == 2
        await host.write(Register.CONTROL, 1)
        assert not await host.write(address, 3)
        assert await host.read(address) == 2

    simulate(Top(dense, Arch()), host)


def test_probes_and_stalls():
    """The root is kept from its second firing for ten cycles: DONE leaves its channel in 12, not in 3."""
    top = Top(copy_graph(), Arch(), probes=True, stall_ports=True)
    seen: list[tuple[int, int, int]] = []

    async def watch(ctx: SimulatorContext) -> None:
        while True:
            ctx.set(top.stall, int(1 < ctx.get(top.cycle) < 11))
            _, _, cycle, *token = await ctx.tick().sample(
                top.cycle, top.probe0_kind, top.probe0_payload, top.probe0_valid
            )
            if token.pop():
                seen.append((cycle, *token))

    async def host(host: Host) -> None:
        assert len(top.stall) == 3
        assert await host.run(A_pos1=[0, 1], A_crd1=[4], A_vals=[40]) == Status.DONE
        assert await host.cycles() == 18
        assert seen == [(2, 0, 0), (12, 3, 0)]

    simulate(top, host, watch)


def test_the_cycle_output():
    top = Top(copy_graph(), Arch())
    seen: list[tuple[int, int, int]] = []

    async def watch(ctx: SimulatorContext) -> None:
        while True:
            _, _, *state = await ctx.tick().sample(top.running, top.done, top.cycle)
            if not seen or seen[-1] != tuple(state):
                seen.append(tuple(state))

    async def host(host: Host) -> None:
        for _ in range(2):
            assert await host.run(A_pos1=[0, 1], A_crd1=[4], A_vals=[40]) == Status.DONE

    simulate(top, host, watch)
    run = [(1, 0, cycle) for cycle in range(1, 10)] + [(0, 1, 9)]
    assert seen == [(0, 0, 0), *run, (0, 1, 0), *run]


def test_verilog_is_the_same_every_time_and_has_readable_names():
    text = verilog(copy_graph(), Arch(), name="copy")
    assert text == verilog(copy_graph(), Arch(), name="copy")
    assert "/work" not in text
    assert ".py" not in text
    for module in ("copy", "copy.scan_A1", "copy.ch_write_crd_crd", "copy.mem_A_crd1", "copy.write_val"):
        assert re.search(rf"^module \\?{re.escape(module)} ?\(", text, re.MULTILINE), module
    top = text.split("module copy(")[1]
    ports = set(re.findall(r"^  (?:input|output) (?:\[\d+:0\] )?(\w+)", top, re.MULTILINE))
    assert {"clk", "rst", "running", "done", "error", "cycle", "s_axi_awaddr", "s_axi_rready"} <= ports


@pytest.mark.parametrize(("drop", "message"), [("write", "no writer"), ("array_A", "array_A")])
def test_graphs_that_do_not_hang_together(drop: str, message: str):
    whole = copy_graph()
    nodes = tuple(n for n in whole.nodes if not n.name.startswith(drop))
    channels = tuple(c for c in whole.channels if not c.sink.node.startswith(drop))
    with pytest.raises(InputError, match=message):
        Top(replace(whole, nodes=nodes, channels=channels), Arch())
