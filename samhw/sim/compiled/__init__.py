"""The compiled engine: the rule of `samhw.sim.engine` in machine code, at a cost per firing that stays flat.

Every actor has a loop of its own (loop.py), compiled with its step function inside, which fires it until it
waits for a token or a slot. A sweep calls the loops of the actors that can go on, in the order of the graph,
until none can.
"""

from collections.abc import Iterable

from samhw.sim.compiled.ahead import Ahead
from samhw.sim.compiled.library import missing, port_addresses
from samhw.sim.compiled.ports import Ports
from samhw.sim.compiled.records import Records
from samhw.sim.compiled.source import Untranslatable
from samhw.sim.compiled.sweeps import sweep, sweep_and_serve
from samhw.sim.engine import UNLIMITED, Between, nothing
from samhw.sim.machine import Worker
from samhw.sim.ports import Arbiter

__all__ = ["Untranslatable", "missing", "run"]

SLICE = 1 << 22
"""Firings between two looks at what the caller wants: some 50 ms."""

SERVED_SLICE = 1 << 19
"""The same with off-chip memory."""


def run(
    workers: Iterable[Worker],
    limit: int = UNLIMITED,
    window: tuple[int, int] = (0, UNLIMITED),
    between: Between = nothing,
    arbiter: Arbiter | None = None,
) -> None:
    """Runs the workers, from wherever they are, until none can fire, as `samhw.sim.engine.run` does.

    Args:
        window: first cycle whose tokens the taps see, and the cycle behind the last one.
        arbiter: serves those that have memories off chip. Then no producer runs ahead.

    Raises:
        Untranslatable: if a step function cannot be compiled; then nothing has changed.
        InputError: if the cache cannot be written.
    """
    look, serve = port_addresses() if arbiter else (0, 0)
    records = Records(list(workers), limit, window, between, Ports(arbiter, look) if arbiter else None)
    ahead = None if arbiter or len(records.entries) else Ahead(records)
    try:
        while True:
            if ahead:
                fired = ahead.run(SLICE)
            elif arbiter:
                fired = sweep_and_serve(records.rows, SERVED_SLICE, serve, records.arbiter)
            else:
                fired = sweep(records.rows, SLICE)
            seen = records.drain_log()
            between(records.firings(), records.cycle())
            if fired or seen:
                continue
            if not records.grow():
                return
            if ahead:
                ahead.look_again()
    finally:
        records.store()
