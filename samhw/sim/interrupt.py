"""Ctrl-C during a run: noted at once, and acted on where all statistics are whole."""

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import TypeAlias

__all__ = ["Interrupt"]

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
