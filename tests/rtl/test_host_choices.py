"""What a host may ask for beyond the least: recovery, interrupts, and bursts up to a run."""

import pytest

from samhw.errors import InputError
from samhw.graph import Arch, Design
from samhw.graph import HostOptions as Choices
from samhw.graph.address_map import NO_NODE, Cause, Control, Register, Status
from samhw.rtl import Top
from tests.support.top_graphs import WIDE, column_sums, copy_graph

from .bursts import Burst, Master
from .host import Host, simulate

COPY = {"A_pos1": [0, 3], "A_crd1": [2, 5, 7], "A_vals": [20, 50, 70]}
MATRIX = {"A_pos1": [0, 2], "A_crd1": [0, 1], "A_pos2": [0, 2, 3], "A_crd2": [3, 9, 9], "A_vals": [1, 2, 3]}


def top(graph, words: str) -> Top:
    return Top(Design.of(graph), Arch(), host=Choices.parse(words))


def test_a_failed_run_is_cleared_and_another_one_works() -> None:
    """On what the host had loaded; extents stay."""

    async def host(host: Host) -> None:
        assert await host.run(**COPY) == Status.ERROR
        assert await host.write(Register.CONTROL, Control.START)
        assert await host.read(Register.STATUS) == Status.ERROR
        assert await host.write(Register.CONTROL, Control.CLEAR)
        assert await host.read(Register.STATUS) == 0
        assert await host.error() == (Cause(0), NO_NODE)
        assert await host.cycles() == 0
        assert [await host.read(address) for address in host.top.map.extents.values()] == [
            WIDE[index] for index in host.top.map.extents
        ]
        assert await host.write(host.top.map.windows["A.pos1"].base + 4, 2)
        for word in (Control.START, Control.START | Control.CLEAR):
            assert await host.write(Register.CONTROL, word)
            assert await host.end() == Status.DONE
            assert await host.cycles() == 10
            assert await host.words("C.vals", 2) == [20, 50]

    simulate(top(copy_graph(2), "recovery"), host)


def test_a_run_is_ended_in_any_cycle() -> None:
    """The next one starts at once and has the cycles and words of the first."""

    async def host(host: Host) -> None:
        assert await host.run(**MATRIX) == Status.DONE
        cycles = await host.cycles()
        for wait in range(cycles + 8):
            assert await host.write(Register.CONTROL, Control.START)
            for _ in range(wait):
                await host.ctx.tick()
            assert await host.write(Register.CONTROL, Control.CLEAR | Control.START)
            await host.ctx.tick()
            assert host.ctx.get(host.top.running)
            assert not host.ctx.get(host.top.done)
            assert not await host.write(host.top.map.windows["A.vals"].base, 5)
            assert await host.end() == Status.DONE
            assert await host.cycles() == cycles
            assert await host.words("C.crd1", 2) == [3, 9]
            assert await host.words("C.vals", 2) == [1, 5]

    simulate(top(column_sums(), "recovery"), host)


def test_an_interrupt_is_high_while_it_is_enabled_and_pending() -> None:
    async def host(host: Host) -> None:
        enable, pending = host.top.map.interrupts

        def line() -> int:
            return host.ctx.get(host.top.irq)

        assert await host.read(enable) == await host.read(pending) == 0
        assert await host.run(**{**COPY, "A_pos1": [0, 2]}) == Status.DONE
        assert await host.read(pending) == Status.DONE
        assert not line()
        assert await host.write(enable, 0xFFFF_FFFF)
        assert await host.read(enable) == Status.DONE | Status.ERROR
        assert line()
        assert await host.write(pending, Status.ERROR)
        assert line()
        assert await host.write(pending, Status.DONE)
        await host.ctx.tick()
        assert not line()
        # The done of the first run is no interrupt of the second, which fails.
        assert await host.write(enable, Status.ERROR)
        assert await host.run(A_pos1=[0, 3]) == Status.ERROR
        assert await host.read(pending) == Status.ERROR
        assert line()
        assert await host.write(Register.CONTROL, Control.CLEAR)
        assert await host.read(pending) == Status.ERROR
        assert await host.write(pending, Status.ERROR)
        assert await host.read(pending) == 0
        # Both registers take words during a run, and the line rises at its end.
        assert await host.write(host.top.map.windows["A.pos1"].base + 4, 2)
        assert await host.write(Register.CONTROL, Control.START)
        assert await host.write(enable, Status.DONE)
        await host.ctx.tick().until(host.top.irq)
        assert host.ctx.get(host.top.done)

    simulate(top(copy_graph(2), "interrupt,recovery"), host)


@pytest.mark.parametrize("words", ["axi4", "axi4:1,recovery"])
def test_a_beat_after_a_start_finds_the_run_under_way(words: str) -> None:
    """And one before it is part of the run; after an error a start changes nothing."""
    made = top(copy_graph(2), words)
    windows, map = made.map.windows, made.map

    async def bench(host: Host) -> None:
        ctx = host.ctx
        master = Master(made, prefix="s_axi_")

        def write(name: str, *words: int) -> Burst:
            return Burst(windows[name].base, words)

        load = [write("A.pos1", 0, 2), write("A.crd1", 2, 5, 7), write("A.vals", 20, 50, 70)]
        load += [Burst(map.extents[index], [WIDE[index]]) for index in map.extents]
        late = [write("A.vals", number) for number in range(6)]
        start = Burst(Register.CONTROL, [Control.START])
        await master.transfer(ctx, [*load, start, *late])
        assert all(burst.answers == [(0, 0)] for burst in (*load, start))
        assert all(burst.answers == [(0, 2)] for burst in late)
        await ctx.tick().until(made.done)
        read = Burst(windows["C.vals"].base, [0, 0])
        await master.transfer(ctx, reads=[read])
        assert read.answers == [(20, 0), (50, 0)]
        # A word that does not fit leaves those around it.
        await master.transfer(ctx, [write("A.pos1", 0, 3), start])
        await ctx.tick().until(made.error)
        await master.transfer(ctx, [start, *late])
        assert all(burst.answers[-1] == (0, 0) for burst in late)
        if map.host.recovery:
            clear = Burst(Register.CONTROL, [Control.CLEAR | Control.START])
            late = [write("A.vals", number) for number in range(6)]
            await master.transfer(ctx, [write("A.pos1", 0, 1), clear, *late])
            assert all(burst.answers == [(0, 2)] for burst in late)
            await ctx.tick().until(made.done)
            read = Burst(windows["C.vals"].base, [0])
            await master.transfer(ctx, reads=[read])
            assert read.answers == [(5, 0)]

    simulate(made, bench)


def test_reads_around_the_end_of_a_run_find_its_words_or_are_refused() -> None:
    made = top(copy_graph(), "axi4")

    async def bench(host: Host) -> None:
        master = Master(made, prefix="s_axi_")
        windows = made.map.windows
        load = [Burst(made.map.extents[index], [WIDE[index]]) for index in made.map.extents]
        load += [Burst(windows["A.pos1"].base, [0, 3]), Burst(windows["A.crd1"].base, [2, 5, 7])]
        await master.transfer(host.ctx, load)
        vals = Burst(windows["A.vals"].base, [1, 2, 3])
        await master.transfer(host.ctx, [vals, Burst(Register.CONTROL, [Control.START])])
        reads = [Burst(windows["C.vals"].base, [0, 0, 0]) for _ in range(10)]
        await master.transfer(host.ctx, reads=reads)
        found = [answer for burst in reads for answer in burst.answers]
        refused = [resp for _, resp in found].index(0)
        assert 0 < refused < 20
        words = [place % 3 + 1 for place in range(30)]
        assert found[refused:] == [(word, 0) for word in words[refused:]]
        assert all(resp == 2 for _, resp in found[:refused])

    simulate(made, bench)


def test_a_host_that_wants_nothing_has_the_identity_of_every_build() -> None:
    identities = {top(copy_graph(), words).map.identity for words in ("", "axi4", "axi4:5", "interrupt")}
    assert len(identities) == 4
    assert Top(Design.of(copy_graph()), Arch()).map.identity in identities


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("axi5", "There is no 'axi5' for a host .did you mean 'axi4'"),
        ("axi4:0", "IDs of AXI4 have 1 to 32 bits"),
        ("axi4:33", "IDs of AXI4 have 1 to 32 bits"),
        ("axi4,axi4:2", "names 'axi4' twice"),
        ("interrupt,interrupt", "names 'interrupt' twice"),
    ],
)
def test_what_no_host_has_is_refused(words: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        Choices.parse(words)


@pytest.mark.parametrize("words", ["axi4,pingpong", "axi4,pingpong,recovery"])
def test_a_start_takes_what_was_written_before_it(words: str) -> None:
    """All of that, and nothing of what comes right after it, whatever the start has to wait for."""
    made = top(copy_graph(2), words)
    windows, map = made.map.windows, made.map
    extents = [getattr(made.shell.extents, name) for name in made.shell.extents.signature.members]
    starts = [[Control.START]]
    if map.host.recovery:
        starts += [[Control.CLEAR | Control.START], [Control.CLEAR, Control.START]]

    async def bench(host: Host) -> None:
        ctx = host.ctx
        master = Master(made, prefix="s_axi_")

        def data(end: int, *vals: int) -> list[Burst]:
            written = {"A.pos1": (0, end), "A.crd1": (2, 5, 7), "A.vals": vals}
            return [Burst(windows[name].base, array) for name, array in written.items()]

        def sizes(less: int) -> list[Burst]:
            return [Burst(map.extents[index], [WIDE[index] - less]) for index in map.extents]

        def control(*words: int) -> list[Burst]:
            return [Burst(Register.CONTROL, [word]) for word in words]

        for number, start in enumerate(starts):
            if number:  # After an error, and in a run that is given up.
                await master.transfer(ctx, [*data(3, 1, 1, 1), *control(Control.CLEAR | Control.START)])
                if number == 2:
                    await ctx.tick().until(made.error)
            wanted = 20 + number
            before, after = [*data(1, wanted), *sizes(0)], [*sizes(1), *data(2, 70, 90)]
            await master.transfer(ctx, [*before, *control(*start), *after])
            assert [ctx.get(extent) for extent in extents] == [WIDE[index] for index in map.extents]
            await ctx.tick().until(made.done)
            read = Burst(windows["C.vals"].base, [0])
            await master.transfer(ctx, control(Control.SWAP))
            await master.transfer(ctx, reads=[read])
            assert read.answers == [(wanted, 0)]
            await master.transfer(ctx, control(Control.SWAP))

    simulate(made, bench)
