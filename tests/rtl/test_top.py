"""Whole graphs with the host port: results, cycles worked out by hand from docs/primitives.md, errors."""

import re
from dataclasses import replace

import pytest
from amaranth.sim import SimulatorContext

from samhw.errors import InputError
from samhw.graph import Arch, Design, Graph, Node
from samhw.graph.address_map import NO_NODE, Cause, Register, Status
from samhw.graph.numerics import value_type
from samhw.rtl import Top, verilog
from samhw.rtl.host_port import Response
from tests.support.top_graphs import (
    ROOT,
    array,
    column_sums,
    copy_graph,
    dense_copy,
    graph,
    less_the_greatest,
    node,
    scan,
)

from .host import Host, simulate


def test_copy_twice_with_other_data():
    """The root fires in 1 and 2, the fetch in 2 and 3, the walk in 4 .. 6 for three coordinates, in 7 and 8
    for S0 and DONE; the array a cycle later, the writer of values two after that: it commits in 11."""

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

    simulate(Top(Design.of(copy_graph()), Arch()), host)


def dot_product(value: str, mul: Node, reduce: Node, *behind: Node, links: str) -> Graph:
    """The sum over k of A[k] * B[k], both compressed; `links` are the channels from `mul` on."""
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
            mul,
            reduce,
            *behind,
            node("write", "write_val", "val:val0", vals="C.vals"),
        ],
        "root.out>scan_A1.ref,scan_B1.ref scan_A1.crd>intersect.crd0*2 scan_A1.ref>intersect.ref0 "
        "scan_B1.crd>intersect.crd1*2 scan_B1.ref>intersect.ref1 intersect.ref0>array_A.ref "
        f"intersect.ref1>array_B.ref array_A.val>mul.a*2 array_B.val>mul.b*2 {links}",
        {"A.pos1": 2, "A.crd1": 4, "A.vals": 4, "B.pos1": 2, "B.crd1": 4, "B.vals": 4, "C.vals": 1},
    )
    return replace(dot, value=value_type(value))


PAIRS = {"A_pos1": [0, 3], "A_crd1": [1, 3, 4], "B_pos1": [0, 3], "B_crd1": [3, 4, 7]}
"""Coordinates 3 and 4 are in both."""


def test_dot_product():
    """For 1 3 4 and 3 4 7 the intersecter fires in 6 (takes 1), 7 and 8 (pairs), 9 (takes 7), 10 (S0) and 11
    (DONE); the arrays a cycle later, the multiplier two after that, the reducer four after that: the sum is
    complete with the S0 in 17, emitted in 18 and written in 19, and DONE is a cycle after it.

    For 0 and 5 6 it fires in 6, 7, 8 to take them, then 9 and 10: all is a cycle earlier."""
    dot = dot_product(
        "i32",
        node("mul", "alu", "a:val1 b:val1", "val:val1", op="mul"),
        node("reduce", "reduce_scalar", "val:val1", "val:val0", op="sum"),
        links="mul.val>reduce.val*4/6 reduce.val>write.val",
    )

    async def host(host: Host) -> None:
        assert await host.run(**PAIRS, A_vals=[9, 10, 2], B_vals=[4, 6, 9]) == Status.DONE
        assert await host.cycles() == 20
        assert await host.words("C.vals", 1) == [52]
        disjoint = {"A_pos1": [0, 1], "A_crd1": [0], "B_pos1": [0, 2], "B_crd1": [5, 6]}
        assert await host.run(**disjoint) == Status.DONE
        assert await host.cycles() == 19
        assert await host.words("C.vals", 1) == [0]

    simulate(Top(Design.of(dot), Arch()), host)
    with pytest.raises(InputError, match="mul"):
        Top(Design.of(dot), Arch(alu={"integer": {"mul": 2}}))


def test_dot_product_in_floating_point():
    """The multiplier takes five cycles, so that the reducer takes products in 15 and 16, S0 in 18 and DONE in
    19. They are added in 19, pass pair1 in 26, pair2 in 33 and chain in 40, and are emitted in 47. DONE is a
    cycle after, and written in 49."""
    dot = dot_product(
        "f32",
        node("mul", "alu", "a:val1 b:val1", "val:val1", op="mul"),
        node("reduce", "reduce_scalar", "val:val1", "val:val0", op="sum"),
        links="mul.val>reduce.val*5/7 reduce.val>write.val",
    )
    f32 = value_type("f32")
    a, b = ([9, 1.5, 2.25], [4, -0.5, 9])

    async def host(host: Host) -> None:
        vals = {"A_vals": f32.encode(a).tolist(), "B_vals": f32.encode(b).tolist()}
        assert await host.run(**PAIRS, **vals) == Status.DONE
        assert await host.cycles() == 49
        assert await host.words("C.vals", 1) == f32.encode([1.5 * 4 - 2.25 * 0.5]).tolist()

    simulate(Top(Design.of(dot), Arch()), host)


@pytest.mark.parametrize(
    ("to", "op", "immediates", "word"),
    [
        # 9985 * 3 / 2^8 = 117.01
        ("i8", "scale", {"b": 3, "c": 8}, 117),
        # 9985, the significand 1.218872 * 2^13
        ("f32", "convert", {}, 0x461C_0400),
    ],
)
def test_products_and_sums_wider_than_the_tensors(to: str, op: str, immediates: dict[str, int], word: int):
    """The products of bytes are 32 bits wide, and so is their sum, here 100 * 100 - 3 * 5, which becomes a
    byte again or a float. That takes five cycles from 19 on, where the sum is written otherwise."""
    last = node("last", "alu", "a:val0", "val:val0", op=op, value="i32", to=to, immediates=immediates)
    dot = dot_product(
        "i8",
        node("mul", "alu", "a:val1 b:val1", "val:val1", op="mul", to="i32"),
        node("reduce", "reduce_scalar", "val:val1", "val:val0", op="sum", value="i32"),
        last,
        links="mul.val>reduce.val*4/6 reduce.val>last.a last.val>write.val*5/7",
    )
    stored = value_type(to)
    nodes = (*dot.nodes[:-1], replace(dot.nodes[-1], params={**dot.nodes[-1].params, "value": stored}))
    memories = (*dot.memories[:-1], replace(dot.memories[-1], value=stored))

    async def host(host: Host) -> None:
        assert await host.run(**PAIRS, A_vals=[9, 100, 253], B_vals=[100, 5, 9]) == Status.DONE
        assert await host.cycles() == 25
        assert await host.words("C.vals", 1) == [word]

    simulate(Top(Design.of(replace(dot, nodes=nodes, memories=memories)), Arch()), host)


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

    simulate(Top(Design.of(copy_graph()), Arch()), host)


def test_a_read_finds_the_end_of_a_run_or_is_refused():
    """Asked in each cycle around the end, in which the memories change hands."""

    async def host(host: Host) -> None:
        last = host.top.map.windows["C.vals"].base + 4 * 2
        await host.load({"A.pos1": [0, 3], "A.crd1": [2, 5, 7]})
        seen = []
        for wait in range(30):
            await host.load({"A.vals": [wait, wait, 100 + wait]})
            assert await host.write(Register.CONTROL, 1)
            for _ in range(wait):
                await host.ctx.tick()
            word, response = await host.read_response(last)
            assert response == Response.SLVERR or word == 100 + wait
            seen.append(response)
            assert await host.end() == Status.DONE
            assert await host.words("C.vals", 1) == [wait]
        ended = seen.index(Response.OKAY)
        assert 0 < ended < 20
        assert seen == [Response.SLVERR] * ended + [Response.OKAY] * (30 - ended)

    simulate(Top(Design.of(copy_graph()), Arch()), host)


def test_the_map_is_all_there_is():
    async def host(host: Host) -> None:
        windows = host.top.map.windows
        last = (1 << host.top.map.address_bits) - 4
        refused = [
            int(Register.STATUS),
            int(Register.IDENTITY),
            host.top.map.channel_states[0],
            windows["C.vals"].base,
            windows["A.pos1"].base + windows["A.pos1"].size,
            last,
        ]
        for address in refused:
            assert not await host.write(address, 1)
        for address in (windows["A.vals"].base, last):
            assert (await host.read_response(address))[1] == Response.SLVERR
        # The capacity is 5, the window has 8 words.
        base = windows["C.vals"].base
        responses = [(await host.read_response(base + 4 * k))[1] for k in (4, 5)]
        assert responses == [Response.OKAY, Response.SLVERR]
        assert await host.read(Register.CONTROL) == 0
        assert await host.read(host.top.map.channel_states[0]) == 0b01010101

    simulate(Top(Design.of(copy_graph(5)), Arch()), host)


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

    simulate(Top(Design.of(copy_graph(2)), Arch()), host)


MATRIX = {"A_pos1": [0, 2], "A_crd1": [0, 1], "A_pos2": [0, 2, 3], "A_crd2": [3, 9, 9], "A_vals": [1, 2, 3]}


def test_overflow():
    async def host(host: Host) -> None:
        assert await host.run(**{**MATRIX, "A_vals": [1, 0x7FFF_FFFF, 3]}) == Status.ERROR
        assert await host.error() == (Cause.OVERFLOW, 4)

    simulate(Top(Design.of(column_sums()), Arch()), host)


def test_a_run_that_is_cut_short_leaves_nothing_behind():
    async def host(host: Host) -> None:
        assert await host.run(**MATRIX) == Status.DONE
        cycles = await host.cycles()
        # When the second row comes in, the reducer holds the first one.
        assert await host.write(Register.CONTROL, 1)
        while host.ctx.get(host.top.cycle) < 13:
            await host.ctx.tick()
        await host.reset()
        await host.load({})
        # The reducer clears its memories, a word a cycle; the run waits for it in its cycle 0.
        assert await host.write(Register.CONTROL, 1)
        for _ in range(8):
            await host.ctx.tick()
            assert host.ctx.get(host.top.running)
            assert host.ctx.get(host.top.cycle) == 0
        assert await host.end() == Status.DONE
        assert await host.cycles() == cycles
        assert await host.words("C.pos1", 2) == [0, 2]
        assert await host.words("C.crd1", 2) == [3, 9]
        assert await host.words("C.vals", 2) == [1, 5]

    simulate(Top(Design.of(column_sums()), Arch()), host)


def test_deadlock():
    """The values wait for the end of the fiber, in a channel of four."""
    shifted = less_the_greatest()
    names = [c.name for c in shifted.channels]

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

    simulate(Top(Design.of(shifted), Arch(watchdog=30)), host)


def test_extents():
    """A scan enumerates the run's extent."""

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

    simulate(Top(Design.of(dense_copy()), Arch()), host)


def test_fixed_extents():
    """A register that holds a constant takes that alone."""

    async def host(host: Host) -> None:
        address = host.top.map.extents["i"]
        assert await host.read(address) == 6
        assert await host.run(A_vals=range(6)) == Status.DONE
        assert await host.cycles() == 10 + 6
        assert await host.write(address, 6)
        for extent in (5, 7, 0):
            assert not await host.write(address, extent)
        await host.write(Register.CONTROL, 1)
        assert not await host.write(address, 6)

    simulate(Top(Design.of(dense_copy()).with_fixed_extents, Arch()), host)


def test_an_index_that_is_too_wide_is_refused():
    """Of a value the upper bits do not count."""

    async def host(host: Host) -> None:
        windows = host.top.map.windows
        assert windows["A.crd1"].width == 8
        assert await host.write(windows["A.crd1"].base, 255)
        assert not await host.write(windows["A.crd1"].base, 256)
        assert not await host.write(windows["A.pos1"].base, 1 << 31)
        assert await host.write(windows["A.vals"].base, (1 << 32) - 1)

    simulate(Top(Design.of(copy_graph()), Arch()), host)


def test_probes_and_stalls():
    """The root is kept from its second firing for ten cycles: DONE leaves its channel in 12, not in 3."""
    top = Top(Design.of(copy_graph()), Arch(), probes=True, stall_ports=True)
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
    top = Top(Design.of(copy_graph()), Arch())
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
    run = [(1, 0, cycle) for cycle in range(10)] + [(0, 1, 9)]
    assert seen == [(0, 0, 0), *run, *run]


def test_verilog_is_the_same_every_time_and_has_readable_names():
    text = verilog(Design.of(copy_graph()), Arch(), name="copy")
    assert text == verilog(Design.of(copy_graph()), Arch(), name="copy")
    assert "/work" not in text
    assert ".py" not in text
    for module in ("copy", "copy_fabric", "copy_scan_compressed_1", "copy_fifo_1", "copy_shell_mem_A_crd1"):
        assert re.search(rf"^module {module} ?\(", text, re.MULTILINE), module
    for instance in ("copy_scan_compressed_1 scan_A1", r"copy_fifo_\d+ ch_write_crd_crd"):
        assert re.search(rf"^  {instance} \($", text, re.MULTILINE), instance
    top = text.split("module copy(")[1]
    ports = set(re.findall(r"^  (?:input|output) (?:\[\d+:0\] )?(\w+)", top, re.MULTILINE))
    assert {"aclk", "aresetn", "running", "done", "error", "cycle", "s_axi_awaddr", "s_axi_rready"} <= ports


def test_verilog_does_not_grow_with_the_memories():
    small, big = (
        verilog(Design.of(copy_graph(capacity)), Arch(), name="copy") for capacity in (1 << 7, 1 << 16)
    )
    assert len(big) < 1.1 * len(small)
    assert big.count("copy_memory #(") == 3  # the module, and an instance for C.crd1 and C.vals each


@pytest.mark.parametrize(("drop", "message"), [("write", "no writer"), ("array_A", "array_A")])
def test_graphs_that_do_not_hang_together(drop: str, message: str):
    whole = copy_graph()
    nodes = tuple(n for n in whole.nodes if not n.name.startswith(drop))
    channels = tuple(c for c in whole.channels if not c.sink.node.startswith(drop))
    with pytest.raises(InputError, match=message):
        Top(Design.of(replace(whole, nodes=nodes, channels=channels)), Arch())
