"""Runs a machine on the engine that is asked for, or on the one that will be done first. Ctrl-C is noted at
once, and acted on where all statistics are whole."""

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Literal, TypeAlias

from samhw.errors import InputError
from samhw.sim import engine as plain
from samhw.sim.machine import Machine
from samhw.words import did_you_mean

__all__ = ["ENGINES", "Engine", "Interrupt", "execute"]

Engine = Literal["auto", "plain", "compiled"]
ENGINES = ("auto", "plain", "compiled")

SMALL = 50_000
"""Firings that the plain engine does in a tenth of a second, about what it takes to load compiled code."""

SLOWER = 2
"""With off-chip memory the plain engine does this many times fewer firings in the same time."""


def execute(
    machine: Machine,
    engine: Engine,
    *,
    limit: int = plain.UNLIMITED,
    window: tuple[int, int] = (0, plain.UNLIMITED),
    between: plain.Between = plain.nothing,
) -> str:
    """Runs a machine until no actor can fire.

    With `auto` the plain engine begins. If the run outlasts the time that loading compiled code takes, the
    compiled engine takes over in the middle. So small runs wait for nothing.

    Returns:
        What kept the compiled engine from taking over a run that outlasted that; empty where nothing did.

    Raises:
        InputError: for an unknown engine, or if the compiled one cannot run this machine.
    """
    workers, arbiter = machine.workers, machine.arbiter
    match engine:
        case "plain":
            plain.run(workers, limit, between=between, arbiter=arbiter)
        case "compiled":
            # Imported where it is needed: small runs load no LLVM.
            from samhw.sim import compiled

            try:
                compiled.run(workers, limit, window, between, arbiter)
            except compiled.Untranslatable as error:
                raise InputError(f"The compiled engine cannot run {error}; use the plain engine.") from error
        case "auto":
            slower = _cost_of_blocks(machine) * (SLOWER if arbiter else 1)
            if plain.run(workers, limit, SMALL // slower, between, arbiter):
                return ""
            from samhw.sim import compiled

            try:
                compiled.run(workers, limit, window, between, arbiter)
            except compiled.Untranslatable as error:
                plain.run(workers, limit, between=between, arbiter=arbiter)
                return str(error)
        case _:
            raise InputError(
                f"There is no engine {engine!r}{did_you_mean(engine, ENGINES)}; choose one of "
                f"{', '.join(ENGINES)}."
            )
    return ""


def _cost_of_blocks(machine: Machine) -> int:
    """How many firings on single words the mean firing takes as long as, where payloads are blocks: it moves
    their words, and computes with them."""
    actors = [worker.actor for worker in machine.workers]
    work = sum(sum(actor.widths.values()) + actor.operations for actor in actors)
    return max(1, work // len(actors))


_Handler: TypeAlias = Callable[[int, FrameType | None], object] | int | None
"""Of a signal, as Python gives it."""


class Interrupt:
    """A context in which SIGINT sets `requested`; a second one raises `KeyboardInterrupt` as usual.

    Only the main thread of a process can be interrupted; in another one this does nothing.
    """

    def __init__(self) -> None:
        self.requested = False
        self._former: _Handler = None

    def __enter__(self) -> "Interrupt":
        if threading.current_thread() is threading.main_thread():
            self._former = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._former is not None:
            signal.signal(signal.SIGINT, self._former)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
