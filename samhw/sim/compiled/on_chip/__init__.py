"""Runs a machine whose tensors all lie on chip: first tokens, then cycles (phases.py)."""

from samhw.sim.compiled.on_chip import functions
from samhw.sim.compiled.on_chip.phases import LACKS_ROOM, QUIET
from samhw.sim.compiled.on_chip.streams import Streams
from samhw.sim.compiled.run_code import run_code
from samhw.sim.engine import Between
from samhw.sim.worker import Queue, Worker

__all__ = ["functions", "run"]

BATCH = 1 << 22
"""Firings between two looks at what the caller wants: some 50 ms."""


def run(workers: list[Worker], limit: int, window: tuple[int, int], between: Between) -> None:
    """Runs the workers until none can fire, as `samhw.sim.compiled.run` does.

    A run that does not end well, as by a deadlock, is done once more without running ahead. Then nothing is
    found that cannot be timed, and everything is left as it was when nobody could go on.
    """
    seen: dict[Queue, int] = {}
    streams = Streams(workers, limit, window, between, True, seen)
    try:
        _finish(streams, between)
        if not streams.is_clean():
            streams.undo()
            streams = Streams(workers, limit, window, between, False, seen)
            _finish(streams, between)
            assert streams.is_timed(), "the run has stopped before its end"
    finally:
        streams.store()


def _finish(streams: Streams, between: Between) -> None:
    """Runs until nothing can go on."""
    while True:
        # Taps see tokens before these make room for others.
        end = run_code(streams.code, streams.address, 1 if streams.tapped else BATCH)
        streams.show_taps()
        between(streams.firings(), streams.cycle())
        if end == LACKS_ROOM:
            streams.lengthen()
        elif end == QUIET and not streams.widen():
            return
