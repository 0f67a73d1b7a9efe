"""The compiled engine: the rule of `samhw.sim.engine` in machine code, at a cost per firing that stays flat.

Which firings an actor does depends on tokens only, so a machine whose tensors lie on chip is run in two
steps: first firings and tokens, then their cycles (on_chip/). Off chip the order in which lines are served
depends on cycles, and so does what comes next; there each actor's loop does both at once (off_chip/).
"""

from collections.abc import Iterable

from samhw.machine_code import Untranslatable
from samhw.sim.compiled import off_chip, on_chip
from samhw.sim.engine import UNLIMITED, Between, nothing
from samhw.sim.ports import Arbiter
from samhw.sim.worker import Worker

__all__ = ["Untranslatable", "run"]


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
        arbiter: serves those that have memories off chip.

    Raises:
        Untranslatable: if a step function cannot be compiled; then nothing has changed.
    """
    if arbiter is None:
        on_chip.run(list(workers), limit, window, between)
    else:
        off_chip.run(list(workers), limit, window, between, arbiter)
