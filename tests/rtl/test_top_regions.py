"""Graphs of several regions with the host port: their order and cycles, and what they pass on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from amaranth.sim import SimulatorContext

from samhw.graph import Arch, Design, Graph, Run
from samhw.graph.address_map import NO_NODE, Cause, Register, Status
from samhw.rtl import Top
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


def two_copies(capacity: int = 8) -> Design:
    """T[i] = A[i], then C[i] = T[i], all compressed."""
    return Design.assemble("test", [copy_graph(target="T"), copy_graph(capacity, source="T")])


def products() -> Graph:
    """C[i] = T[i] * U[i], which have the same coordinates."""
    return graph(
        [
            ROOT,
            scan("T"),
            array("T"),
            array("U"),
            node("mul", "alu", "a:val1 b:val1", "val:val1", op="mul"),
            node("write_crd", "write_compressed", "crd:crd1", pos="C.pos1", crd="C.crd1"),
            node("write_val", "write_val", "val:val1", vals="C.vals"),
        ],
        "root.out>scan_T1.ref scan_T1.crd>write_crd.crd*2 scan_T1.ref>array_T.ref,array_U.ref "
        "array_T.val>mul.a*2 array_U.val>mul.b*2 mul.val>write_val.val*4/6",
        {"T.pos1": 2, "T.crd1": 8, "T.vals": 8, "U.vals": 8, "C.pos1": 2, "C.crd1": 8, "C.vals": 8},
    )


def place(design: Design, region: int, name: str) -> int:
    """What ERROR_NODE says for a node."""
    return [(number, node.name) for number, node in design.nodes].index((region, name))


async def spent(host: Host) -> list[int]:
    return [await host.read(address) for address in host.top.map.region_cycles]


def test_two_copies():
    """Each takes 11 cycles for three coordinates (test_top.py), so that the second starts in 12."""

    async def host(host: Host) -> None:
        windows = host.top.map.windows
        assert await host.run(A_pos1=[0, 3], A_crd1=[2, 5, 7], A_vals=[20, 50, 70]) == Status.DONE
        assert await host.cycles() == 23
        assert await spent(host) == [11, 12]
        for tensor in ("T", "C"):
            assert await host.words(f"{tensor}.pos1", 2) == [0, 3]
            assert await host.words(f"{tensor}.crd1", 3) == [2, 5, 7]
            assert await host.words(f"{tensor}.vals", 3) == [20, 50, 70]
        assert not await host.write(windows["T.vals"].base, 99)
        # The next run overwrites all of it.
        await host.load({"A.pos1": [1, 3]})
        assert await host.write(Register.CONTROL, 1)
        assert (await spent(host))[1] == 0
        assert (await host.read_response(windows["T.vals"].base))[1] == Response.SLVERR
        assert await host.end() == Status.DONE
        assert await host.cycles() == 21
        assert await spent(host) == [10, 11]
        assert await host.words("C.pos1", 2) == [0, 2]
        assert await host.words("C.vals", 2) == [50, 70]
        assert await host.words("T.vals", 2) == [50, 70]
        assert await host.error() == (Cause(0), NO_NODE)

    simulate(Top(two_copies(), Arch()), host)


def cycles_alone(graph: Graph, memories: Mapping[str, Sequence[int]]) -> int:
    """The cycles of a graph by itself."""
    cycles = []

    async def host(host: Host) -> None:
        await host.load(memories)
        assert await host.run() == Status.DONE
        cycles.append(await host.cycles())

    simulate(Top(Design.of(graph), Arch()), host)
    return cycles[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "crd", "vals"),
    [
        ([0, 2, 3], [3, 9], [1, 5]),
        ([0, 0, 2], [3, 9], [1, 2]),
        ([0, 1, 1], [3], [1]),
        ([0, 0, 0], [], []),
    ],
)
def test_a_run_takes_the_cycles_of_its_regions_and_of_their_changes(
    rows: list[int], crd: list[int], vals: list[int]
):
    """Sums over the columns of a matrix, a copy of them, and products of both: the last two read the same
    words. The matrix has the rows [(3, 1), (9, 2)] and [(9, 3)], or less of it."""
    matrix = {"A.pos1": [0, 2], "A.crd1": [0, 1], "A.pos2": rows, "A.crd2": [3, 9, 9], "A.vals": [1, 2, 3]}
    sums = {"T.pos1": [0, len(crd)], "T.crd1": crd, "T.vals": vals}
    whole = Design.assemble("test", [column_sums("T"), copy_graph(source="T", target="U"), products()])
    first, second, third = whole.regions
    alone = [
        cycles_alone(first, matrix),
        cycles_alone(second, sums),
        cycles_alone(third, {**sums, "U.vals": vals}),
    ]

    async def host(host: Host) -> None:
        await host.load(matrix)
        for _ in range(2):
            assert await host.run() == Status.DONE
            assert await host.cycles() == sum(alone) + 2
            assert await spent(host) == [alone[0], alone[1] + 1, alone[2] + 1]
            assert await host.words("C.pos1", 2) == [0, len(crd)]
            assert await host.words("C.crd1", len(crd)) == crd
            assert await host.words("C.vals", len(crd)) == [value * value for value in vals]

    simulate(Top(whole, Arch()), host)


async def a_run_and_one_too_large(host: Host, writer: int) -> None:
    """Two coordinates, and three, for which `writer` in the second region has no room."""
    assert await host.run(A_pos1=[0, 2], A_crd1=[2, 5, 7], A_vals=[20, 50]) == Status.DONE
    assert await spent(host) == [10, 11]
    assert await host.words("C.vals", 2) == [20, 50]
    assert await host.run(A_pos1=[0, 3]) == Status.ERROR
    assert await host.error() == (Cause.CAPACITY, writer)


def test_nodes_may_stand_in_any_order():
    whole = two_copies(capacity=2)
    graphs = [replace(graph, nodes=graph.nodes[::-1]) for graph in whole.regions]
    whole = replace(whole, regions=tuple(graphs))
    writer = place(whole, 1, "write_crd")

    async def host(host: Host) -> None:
        await a_run_and_one_too_large(host, writer)

    simulate(Top(whole, Arch()), host)


def test_a_sequence_in_another_order_than_the_numbers():
    """As in the first test, with the regions numbered the other way round: the cycles are in the order of the
    sequence, nodes are counted by region."""
    whole = two_copies(capacity=2)
    whole = replace(whole, regions=whole.regions[::-1], sequence=(Run(1), Run(0)))
    writer = place(whole, 0, "write_crd")

    async def host(host: Host) -> None:
        await a_run_and_one_too_large(host, writer)
        assert (await spent(host))[0] == 11

    simulate(Top(whole, Arch()), host)


def test_an_error_in_the_second_region():
    whole = two_copies(capacity=2)
    writer = place(whole, 1, "write_crd")

    async def host(host: Host) -> None:
        data = {"A_pos1": [0, 3], "A_crd1": [2, 5, 7], "A_vals": [20, 50, 70]}
        assert await host.run(**data) == Status.ERROR
        assert await host.error() == (Cause.CAPACITY, writer)
        assert await host.error_region() == 1
        assert (await spent(host))[0] == 11
        assert await host.words("T.vals", 3) == [20, 50, 70]
        await host.reset()
        assert await spent(host) == [0, 0]
        assert await host.run(A_pos1=[0, 2]) == Status.DONE
        assert await spent(host) == [10, 11]

    simulate(Top(whole, Arch()), host)


def test_an_error_in_the_first_region():
    """The second region does not start, and leaves the result of the last run as it was."""
    graphs = [copy_graph(target="T"), copy_graph(source="T")]
    small = [
        replace(
            graph,
            memories=tuple(replace(m, capacity=2) if m.name == "T.crd1" else m for m in graph.memories),
        )
        for graph in graphs
    ]
    whole = Design.assemble("test", small)
    writer = place(whole, 0, "write_crd")

    async def host(host: Host) -> None:
        assert await host.run(A_pos1=[0, 1], A_crd1=[2, 5, 7], A_vals=[20, 50, 70]) == Status.DONE
        assert await host.run(A_pos1=[0, 3]) == Status.ERROR
        assert await host.error() == (Cause.CAPACITY, writer)
        for _ in range(50):
            await host.ctx.tick()
        assert (await spent(host))[1] == 0
        assert await host.words("C.pos1", 2) == [0, 1]

    simulate(Top(whole, Arch()), host)


def test_a_deadlock_in_the_second_region():
    whole = Design.assemble("test", [copy_graph(target="T"), less_the_greatest("T")])
    names = [whole.label(region, c.name) for region, c in whole.channels]

    async def host(host: Host) -> None:
        data = {"A_crd1": range(5), "A_vals": [5, 9, 2, 7, 1]}
        assert await host.run(A_pos1=[0, 3], **data) == Status.DONE
        assert await host.words("C.vals", 3) == [word & 0xFFFF_FFFF for word in (-4, 0, -7)]
        assert await host.run(A_pos1=[0, 5]) == Status.ERROR
        assert await host.error() == (Cause.DEADLOCK, NO_NODE)
        assert await host.error_region() == 1
        assert (await spent(host))[0] == 13
        words = [await host.read(address) for address in host.top.map.channel_states]
        full = {name for k, name in enumerate(names) if words[k // 16] >> 2 * (k % 16) & 2}
        assert full == {"test_1.array_T.val->sub.a"}

    simulate(Top(whole, Arch(watchdog=30)), host)


def test_regions_share_the_extents():
    """Each takes ten cycles more than the extent (test_top.py)."""
    whole = Design.assemble("test", [dense_copy(target="T"), dense_copy(source="T")])

    async def host(host: Host) -> None:
        for extent in (6, 2):
            assert await host.write(host.top.map.extents["i"], extent)
            assert await host.run(A_vals=[7 * k + extent for k in range(6)]) == Status.DONE
            assert await spent(host) == [10 + extent, 11 + extent]
            assert await host.words("C.vals", extent) == [7 * k + extent for k in range(extent)]

    simulate(Top(whole, Arch()), host)


def test_stalls_count_the_cycles_of_the_run():
    """With one coordinate a copy takes 9 cycles, so that the second root could fire in 11. It is kept until
    16."""
    top = Top(two_copies(), Arch(), stall_ports=True)
    names = ["root", "write_crd", "write_val"]
    assert top.stallable == [(region, name) for region in range(2) for name in names]

    async def stall(ctx: SimulatorContext) -> None:
        while True:
            ctx.set(top.stall, (ctx.get(top.cycle) < 16) << top.stallable.index((1, "root")))
            await ctx.tick()

    async def host(host: Host) -> None:
        assert await host.run(A_pos1=[0, 1], A_crd1=[4], A_vals=[40]) == Status.DONE
        assert await spent(host) == [9, 10 + 5]
        assert await host.words("C.vals", 1) == [40]

    simulate(top, host, stall)
