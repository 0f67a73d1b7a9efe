"""The run control by itself: the sequence of regions, cycle for cycle."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pytest
from amaranth.sim import Simulator, SimulatorContext

from samhw.graph import Repeat, Run
from samhw.graph.address_map import NO_NODE, Cause
from samhw.rtl.control import RunControl


class State(NamedTuple):
    """The outputs in one clock cycle."""

    start: int
    region: int
    cycle: int
    running: int
    done: int
    error: int
    steps: tuple[int, ...]


class States(list[State]):
    """Those of a run, cycle by cycle, and what it has spent in each region."""

    spent: tuple[int, ...]


def run(
    control: RunControl,
    cycles: int,
    *,
    extents: tuple[int, ...] = (),
    requests: tuple[int, ...] = (0,),
    committed: Mapping[int, int] | None = None,
    fired: Mapping[int, int] | None = None,
    errors: Mapping[int, tuple[int, Cause]] | None = None,
) -> States:
    """The state in each clock cycle. `committed` and `fired` are bits by clock cycle, and nodes fire in all
    cycles if nothing else is said; `errors` are a node and its cause by clock cycle."""
    states = States()

    async def bench(ctx: SimulatorContext) -> None:
        for number, extent in enumerate(extents):
            ctx.set(control.extents[number], extent)
        for cycle in range(cycles):
            ctx.set(control.request, cycle in requests)
            ctx.set(control.committed, (committed or {}).get(cycle, 0))
            ctx.set(control.fired, fired.get(cycle, 0) if fired is not None else 1)
            for node, error in enumerate(control.errors):
                reporting, cause = (errors or {}).get(cycle, (NO_NODE, Cause(0)))
                ctx.set(error.as_value(), int(cause) if node == reporting else 0)
            states.append(
                State(
                    ctx.get(control.start),
                    ctx.get(control.region),
                    ctx.get(control.cycle),
                    ctx.get(control.running),
                    ctx.get(control.done),
                    ctx.get(control.error.as_value()),
                    tuple(ctx.get(step) for step in control.steps) if extents else (),
                )
            )
            await ctx.tick()
        spent = []
        for region in range(control.regions):
            ctx.set(control.spent_of, region)
            await ctx.tick()
            spent.append(ctx.get(control.spent))
        states.spent = tuple(spent)

    simulator = Simulator(control)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return states


def starts(states: Sequence[State]) -> dict[int, int]:
    return {cycle: state.start for cycle, state in enumerate(states) if state.start}


def control(*writers: int, watchdog: int = 100) -> RunControl:
    return RunControl(nodes=3, writers=[{region} for region in writers], watchdog=watchdog)


def test_a_region_starts_in_the_cycle_behind_the_end_of_the_one_before_it():
    """Writers 0 and 2 are of the first region, which ends in 5; the second ends in 9."""
    committed = {3: 0b100, 5: 0b001, 9: 0b010}
    states = run(control(0, 1, 0), 20, committed=committed)
    assert starts(states) == {0: 0b01, 6: 0b10}
    assert [state.cycle for state in states[:10]] == list(range(10))
    assert {state.cycle for state in states[10:]} == {9}
    assert [state.region for state in states[1:10]] == [0b01] * 5 + [0b10] * 4
    last = states[-1]
    assert (last.running, last.region, last.done, last.error) == (0, 0, 1, 0)
    assert states.spent == (5, 4)


def test_there_is_no_region_between_runs():
    for state in run(control(0, 0, 0), 20, committed={4: 0b111}):
        assert state.region == state.running


def test_the_next_run_begins_with_the_first_region():
    committed = {2: 0b01, 5: 0b10, 33: 0b01, 37: 0b10}
    states = run(control(0, 1), 50, requests=(0, 30), committed=committed)
    assert starts(states) == {0: 0b01, 3: 0b10, 30: 0b01, 34: 0b10}
    assert states.spent == (3, 4)


@pytest.mark.parametrize(
    ("noticed", "started"), [(3, {0: 1}), (4, {0: 1}), (5, {0: 1, 6: 2}), (7, {0: 1, 6: 2})]
)
def test_an_error_calls_off_what_is_ahead(noticed: int, started: dict[int, int]):
    """The first region ends in 5; an error takes a cycle from its node to the control."""
    errors = {noticed: (1, Cause.OVERFLOW)}
    unit = control(0, 1)
    states = run(unit, 20, committed={5: 0b01, 8: 0b10}, errors=errors)
    assert starts(states) == started
    assert states[noticed + 1].running
    for state in states[noticed + 2 :]:
        assert (state.running, state.region, state.done, state.error) == (0, 0, 0, Cause.OVERFLOW)


@pytest.mark.parametrize("here", [0, 1])
def test_an_error_counts_as_the_node_of_the_fabric_under_way(here: int):
    """One node in hardware is the nodes 0 and 2 of the list; node 1 is another one, of the first fabric."""
    unit = RunControl(
        nodes=2, writers=[{0}, {1}], watchdog=100, users=[(0, 0), (1, 0), (0, 1)], sequence=(Run(0), Run(1))
    )
    found = []

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(unit.request, 1)
        ctx.set(unit.here, 1 << here)
        await ctx.tick()
        ctx.set(unit.request, 0)
        await ctx.tick()
        ctx.set(unit.errors[0].as_value(), int(Cause.RANGE))
        await ctx.tick()
        ctx.set(unit.errors[0].as_value(), 0)
        ctx.set(unit.here, 0)
        await ctx.tick().repeat(2)
        found.append((ctx.get(unit.error_node), ctx.get(unit.error.as_value())))

    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert found == [(2 * here, Cause.RANGE)]


def test_the_change_of_regions_is_no_deadlock():
    """No node can fire in the cycle of the start."""
    fired = {cycle: 0 if cycle == 6 else 1 for cycle in range(20)}
    states = run(control(0, 1, watchdog=1), 20, committed={5: 0b01, 9: 0b10}, fired=fired)
    assert states[-1].done
    assert not states[-1].error


def test_a_deadlock_in_the_second_region():
    """Nothing fires from 8 on."""
    fired: dict[int, Any] = dict.fromkeys(range(8), 1)
    states = run(control(0, 1, watchdog=10), 40, committed={5: 0b01}, fired=fired)
    assert states[-1].error == Cause.DEADLOCK
    assert states.spent[0] == 5
    assert states.spent[1] > 10
    assert states[17].running
    assert not states[-1].running


def test_a_repeat_runs_its_body_as_often_as_its_extent_says():
    """Region 0 once, then 1 and 2 three times, then 3. Each ends four cycles after its start."""
    sequence = (Run(0), Repeat("t", "n", (Run(1), Run(2))), Run(3))
    unit = RunControl(nodes=3, writers=[{0}, {1}, {2}, {3}], watchdog=100, sequence=sequence, index_bits=4)
    turns = [0, 1, 2, 1, 2, 1, 2, 3]
    committed = {5 * n + 4: 1 << region for n, region in enumerate(turns)}
    states = run(unit, 60, extents=(3,), committed=committed)
    assert starts(states) == {5 * n: 1 << region for n, region in enumerate(turns)}
    assert [states[5 * n + 1].steps for n in range(8)] == [(0,), (0,), (0,), (1,), (1,), (2,), (2,), (0,)]
    assert states[-1].done
    assert states[-1].cycle == 39
    assert states.spent == (4, 15, 15, 5)


def test_repeats_nest_and_a_run_may_begin_and_end_with_one():
    """Region 0, then region 1 twice, all of that three times; and once more from the start."""
    sequence = (Repeat("s", "m", (Run(0), Repeat("t", "n", (Run(1),)))),)
    unit = RunControl(nodes=3, writers=[{0}, {1}], watchdog=100, sequence=sequence, index_bits=4)
    turns = [0, 1, 1] * 3
    committed = {3 * n + 2: 1 << region for n, region in enumerate(turns)}
    committed |= {cycle + 50: bits for cycle, bits in committed.items()}
    states = run(unit, 100, extents=(3, 2), committed=committed, requests=(0, 50))
    assert starts(states) == {3 * n + s: 1 << region for s in (0, 50) for n, region in enumerate(turns)}
    assert [states[3 * n + 51].steps for n in range(9)] == [(s, t) for s in range(3) for t in (0, 0, 1)]
    assert states[49].cycle == states[-1].cycle == 26
    assert sum(states.spent) == 26
    assert states[49].done
