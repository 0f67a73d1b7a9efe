"""The compiled engine: the rule of `samhw.sim.engine` in machine code, at a cost per firing that stays flat.

Every actor has a loop of its own (loop.py), compiled with its step function inside, which fires it until it
waits for a token or a slot. A sweep calls the loops of the actors that can go on, in the order of the graph,
until none can.
"""

from collections.abc import Iterable

from samhw.sim.compiled.ahead import Ahead
from samhw.sim.compiled.channel import njit
from samhw.sim.compiled.layout import R
from samhw.sim.compiled.library import missing
from samhw.sim.compiled.native import call, words_at
from samhw.sim.compiled.records import Records, Words
from samhw.sim.compiled.source import Untranslatable
from samhw.sim.engine import UNLIMITED, Between, nothing
from samhw.sim.machine import Worker

__all__ = ["Untranslatable", "missing", "run"]

SLICE = 1 << 22
"""Firings between two looks at what the caller wants: some 50 ms."""

TURN = 1 << 14
"""Most firings of an actor before others have their turn."""

HEAD = len(R)


@njit(cache=True)
def _sweep(rows: Words, most: int) -> int:
    """Runs the actors until none can go on, or for about as many firings; gives their number."""
    done = 0
    while done < most:
        before = done
        for n in range(len(rows)):
            record = words_at(rows[n], HEAD)
            if words_at(record[R.WATCH], 1)[0] != record[R.SEEN]:
                done += call(record[R.CODE], rows[n], TURN)
        if done == before:
            break
    return done


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
    ahead = None if len(records.entries) else Ahead(records, _sweep)
    try:
        while True:
            fired = ahead.run() if ahead else _sweep(records.rows, SLICE)
            seen = records.drain_log()
            between(records.firings(), records.cycle())
            if fired or seen:
                continue
            if not records.grow():
                return
            if ahead:
                ahead.look_again()
    finally:
        if ahead:
            ahead.settle()
        records.store()
