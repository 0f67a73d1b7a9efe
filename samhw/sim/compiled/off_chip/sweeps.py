"""Sweeps over the actors: each that can go on runs until it waits."""

from samhw.machine_code import call, words_at
from samhw.sim.compiled.off_chip.layout import M, R
from samhw.sim.compiled.off_chip.ports import serve_next

__all__ = ["sweep_and_serve"]

TURN = 1 << 14
"""Most firings of an actor before others have their turn."""

ACTOR, RECORD = len(R), len(M)


def sweep_and_serve(address: int, most: int) -> int:
    """Runs actors until none can go on, or for about so many firings; gives their number.

    Whenever no actor can go on the arbiter, whose record lies at the address, serves one.
    """
    record = words_at(address, RECORD)
    rows = words_at(record[M.ROWS], record[M.ROW_COUNT])
    done = 0
    while done < most:
        before = done
        for n in range(record[M.ROW_COUNT]):
            actor = words_at(rows[n], ACTOR)
            if words_at(actor[R.WATCH], 1)[0] != actor[R.SEEN]:
                done += call(actor[R.CODE], rows[n], TURN)
        if done == before and serve_next(address, 0) == 0:
            break
    return done
