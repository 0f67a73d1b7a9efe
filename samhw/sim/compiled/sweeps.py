"""Sweeps over the actors: each that can go on runs until it waits."""

from samhw.sim.compiled.channel import njit
from samhw.sim.compiled.layout import R
from samhw.sim.compiled.native import call, words_at
from samhw.sim.compiled.records import Words

__all__ = ["sweep", "sweep_and_serve"]

TURN = 1 << 14
"""Most firings of an actor before others have their turn."""

HEAD = len(R)


@njit(cache=True)
def sweep(rows: Words, most: int) -> int:
    """Runs actors until none can go on, or for about so many firings; gives their number."""
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


@njit(cache=True)
def sweep_and_serve(rows: Words, most: int, code: int, record: int) -> int:
    """As `sweep`, but that whenever no actor can go on the arbiter, of that code and record, serves one."""
    done = 0
    while done < most:
        done += sweep(rows, most - done)
        if done < most and not call(code, record, 0):
            break
    return done
