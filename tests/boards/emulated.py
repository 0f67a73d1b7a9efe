"""Boards under Verilator, for tests, and a line that damages what passes."""

from functools import cache

import numpy as np

from samhw.app.workload import Workload, bind_program, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.graph.numerics import value_type
from samhw.targets.boards.board import find_board
from samhw.targets.building.boards import BoardDesign
from samhw.targets.link import Transport
from samhw.targets.running.boards import BoardSession

__all__ = ["FaultyLine", "design_on", "open_session", "small"]


@cache
def small(program: str) -> tuple[Workload, Compiled]:
    """A program on data so small that a run takes little of the line; a model in few regions, but several."""
    workload = bind_program(program, ["random:size=8,density=0.3"])
    return workload, compile_workload(workload, Schedule(fuse="partial"), value=value_type("i32"))


def design_on(compiled: Compiled, board: str = "ulx3s") -> BoardDesign:
    """A design on a board."""
    return BoardDesign(find_board(board), compiled.design, compiled.arch)


def open_session(on_board: BoardDesign, line: Transport) -> BoardSession:
    """A session with it."""
    return BoardSession(on_board.design, on_board.arch, on_board.build, line)


class FaultyLine(Transport):
    """A line that damages some of what it carries, either way.

    Attributes:
        rate: the share of pieces that are damaged.
        pieces, faults: how many pieces went through, and how many of them damaged.
    """

    def __init__(self, line: Transport, rng: np.random.Generator, rate: float):
        self.line = line
        self.name, self.baud, self.latency = line.name, line.baud, line.latency
        self.rng = rng
        self.rate = rate
        self.pieces = self.faults = 0

    def send(self, data: bytes) -> None:
        self.line.send(self._damaged(data))

    def receive(self, timeout: float) -> bytes:
        data = self.line.receive(timeout)
        return self._damaged(data) if data else data

    def discard(self) -> None:
        self.line.discard()

    def close(self) -> None:
        self.line.close()

    def _damaged(self, data: bytes) -> bytes:
        rng = self.rng
        self.pieces += 1
        if rng.random() >= self.rate:
            return data
        found = bytearray(data)
        for _ in range(rng.integers(1, 4)):
            if not found:
                break
            at = int(rng.integers(len(found)))
            match rng.integers(5):
                case 0:
                    del found[at]
                case 1:
                    found.insert(at, found[at])
                case 2:
                    found[at] ^= 1 << rng.integers(8)
                case 3:
                    found.insert(at, rng.integers(256))
                case 4:
                    del found[at : at + int(rng.integers(1, 40))]
        self.faults += found != data
        return bytes(found)
