"""Runs a machine in machine code: first tokens, then cycles (phases.py)."""

from samhw.machine_code import call
from samhw.sim.compiled.image import Image
from samhw.sim.compiled.phases import LACKS_ROOM, QUIET
from samhw.sim.engine import Between
from samhw.sim.worker import Queue, Worker

__all__ = ["run"]

BATCH = 1 << 22
"""Firings between two looks at what the caller wants: some 50 ms."""


def run(workers: list[Worker], limit: int, window: tuple[int, int], between: Between) -> None:
    """Runs the workers until none can fire, as `samhw.sim.compiled.run` does.

    A run that does not end well, as by a deadlock, is done once more without running ahead. Then nothing is
    found that cannot be timed, and everything is left as it was when nobody could go on.
    """
    seen: dict[Queue, int] = {}
    image = Image(workers, limit, ahead=True)
    try:
        _finish(image, window, seen, between)
        if not image.is_clean():
            image.undo()
            image = Image(workers, limit, ahead=False)
            _finish(image, window, seen, between)
    finally:
        image.store()


def _finish(image: Image, window: tuple[int, int], seen: dict[Queue, int], between: Between) -> None:
    """Runs until nothing can go on."""
    tapped = any(queue.tap is not None for queue in image.queues)
    while True:
        # Taps see tokens before these make room for others.
        end = call(image.code, image.address, 1 if tapped else BATCH)
        image.show_taps(window, seen)
        between(image.firings(), image.cycle())
        if end == LACKS_ROOM:
            image.lengthen()
        elif end == QUIET and not image.widen():
            return
