"""The compiled engine: the rule of `samhw.sim.engine` in machine code, at a cost per firing that stays flat.

Every actor has a loop of its own (loop.py), compiled with its step function inside, which fires it until it
waits for a token or a slot. A sweep calls the loops of the actors that can go on, in the order of the graph,
until none can.
"""

from collections.abc import Iterable

from samhw.sim.compiled.ahead import Ahead
from samhw.sim.compiled.library import missing
from samhw.sim.compiled.records import Records
from samhw.sim.compiled.source import Untranslatable
from samhw.sim.compiled.sweeps import sweep
from samhw.sim.engine import UNLIMITED, Between, nothing
from samhw.sim.machine import Worker

__all__ = ["Untranslatable", "missing", "run"]

SLICE = 1 << 22
"""Firings between two looks at what the caller wants: some 50 ms."""


def run(
    workers: Iterable[Worker],
    limit: int = UNLIMITED,
    window: tuple[int, int] = (0, UNLIMITED),
    between: Between = nothing,
) -> None:
    """Runs the workers, from wherever they are, until none can fire, as `samhw.sim.engine.run` does.

    Args:
        window: first cycle whose tokens the taps see, and the cycle behind the last one.

    Raises:
        Untranslatable: if a step function cannot be compiled; then nothing has changed.
        InputError: if the cache cannot be written.
    """
    records = Records(list(workers), limit, window, between)
    ahead = None if len(records.entries) else Ahead(records)
    try:
        while True:
            fired = ahead.run(SLICE) if ahead else sweep(records.rows, SLICE)
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
