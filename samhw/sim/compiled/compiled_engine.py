"""Runs a machine in machine code: first tokens, then cycles (phases.py)."""

from collections.abc import Iterable

from samhw.sim.compiled.image import Image, Partition
from samhw.sim.compiled.phases import LACKS_CODE, LACKS_ROOM, MORE, QUIET
from samhw.sim.engine import UNLIMITED, Between, nothing
from samhw.sim.machine_code import call
from samhw.sim.ports import Arbiter
from samhw.sim.worker import Worker

__all__ = ["run"]

BATCH = 1 << 22
"""Firings between two looks at what the caller wants: some 50 ms."""

FAR = 1 << 12
"""Firings of a partition in the mean for which it is worth to let partitions go on alone,"""

PAUSE = 8
"""and phases of all before that is tried again where it was not."""


def run(
    workers: Iterable[Worker],
    limit: int = UNLIMITED,
    window: tuple[int, int] = (0, UNLIMITED),
    between: Between = nothing,
    arbiter: Arbiter | None = None,
) -> None:
    """Runs the workers, from wherever they are, until none can fire, as `samhw.sim.engine.run` does.

    A run that does not end well, as by a deadlock, is done once more without running ahead. Then nothing is
    found that cannot be timed, and everything is left as it was when nobody could go on.

    Args:
        window: first cycle whose tokens the taps see, and the cycle after the last one.
        arbiter: serves those that have memories off chip.

    Raises:
        Untranslatable: if a step function cannot be compiled; then nothing has changed.
    """
    workers = list(workers)
    seen: dict[int, int] = {}
    image = Image(workers, limit, arbiter, ahead=True)
    try:
        _finish(image, window, seen, between)
        if not image.is_clean():
            image.undo()
            image = Image(workers, limit, arbiter, ahead=False)
            _finish(image, window, seen, between)
    finally:
        image.store()


def _finish(image: Image, window: tuple[int, int], seen: dict[int, int], between: Between) -> None:
    """Runs until nothing can go on.

    Partitions go on alone while that brings them far: a partition fits into a cache, and a wide graph does
    not. Then there is a phase of all, which does what partitions can only do together.
    """
    pause = 0
    while True:
        if image.partitions and pause == 0:
            if _go_on_alone(image, between) >= FAR * len(image.partitions):
                continue
            pause = PAUSE
            image.wake(image.partitions)
        pause = max(0, pause - 1)
        # Taps see tokens before these make room for others.
        end = call(image.code, image.whole.address, 1 if image.tapped or image.partitions else BATCH)
        image.show_taps(window, seen)
        between(image.firings(), image.cycle())
        _provide(image, image.whole, end)
        if end == QUIET and not image.widen():
            return


def _go_on_alone(image: Image, between: Between) -> int:
    """Lets each partition go on until it cannot alone; gives the number of firings."""
    first = shown = image.timed()
    for partition in image.partitions:
        image.wake([partition])
        end = MORE
        while end != QUIET:
            end = call(image.code, partition.address, BATCH)
            _provide(image, partition, end)
            if image.timed() >= shown + BATCH:
                shown = image.firings()
                between(shown, image.cycle())
    return image.timed() - first


def _provide(image: Image, partition: Partition, end: int) -> None:
    """Gives phases what they lack to go on."""
    if end == LACKS_ROOM:
        image.lengthen(partition)
    elif end == LACKS_CODE:
        image.be_careful()
