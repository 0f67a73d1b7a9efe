"""Loops that were unrolled, as scans: the operators of one step are imported once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch.fx import Node

from samhw.errors import InputError
from samhw.importers.core import AxisConflict, UnsupportedError, Value
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.loops import StepPick, UnrolledLoop
from samhw.importers.torch.node import scope_of
from samhw.importers.torch.value import Host, Known

__all__ = ["RollError", "Rolled", "StepOf", "joined_steps"]


class RollError(Exception):
    """A loop cannot be a scan, and is left unrolled."""

    def __init__(self, loop: UnrolledLoop) -> None:
        super().__init__(str(loop.first))
        self.loop = loop


@dataclass(frozen=True)
class StepOf:
    """What one step of a scan has given.

    Attributes:
        every: that of all steps, along a first mode.
        at: the place of the step there.
        steps: how many there are.
        last: what the last one has given, if this is it.
    """

    every: Value
    at: int
    steps: int
    last: Value | None = field(default=None, compare=False)

    def value(self, importer: Importer) -> Value:
        """It as a value."""
        if self.last is not None:
            return self.last
        return _without_first(importer.views.slice(self.every, 0, self.at, 1))


@dataclass
class Rolled:
    """Imports a loop as a scan.

    Attributes:
        env: what the importer has for each operator.
        call: imports an operator.
    """

    importer: Importer
    loop: UnrolledLoop
    env: dict[Node, object]
    call: Callable[[Node], object]

    def add(self) -> None:
        """Imports the loop, and notes what it gives.

        Raises:
            RollError: where the loop cannot be a scan.
        """
        try:
            self._add()
        except (InputError, AxisConflict) as error:
            raise RollError(self.loop) from error

    def _add(self) -> None:
        loop, importer = self.loop, self.importer
        for place in sorted(loop.same):
            found = self.call(loop.bodies[0][place])
            for body in loop.bodies:
                self.env[body[place]] = found
        states = [self.value(start) for start in loop.states.values()]
        wanted = [loop.bodies[1][place] for place in loop.escapes() if place not in loop.same]
        picks: list[tuple[int | Node, StepPick]] = [*loop.picks.items(), *loop.outer.items()]
        picked = {key: self.picked(pick) for key, pick in picks}

        build = importer.build
        build.scope, build.result_name = scope_of(loop.first), "state"

        def one_step(before: Sequence[Value], now: Sequence[Value]) -> tuple[list[Value], list[Value]]:
            self.step(dict(zip(loop.states, before, strict=True)), dict(zip(picked, now, strict=True)))
            second, build.result_name = loop.bodies[1], "step"
            return [self.value(second[n]) for n in loop.states], [self.value(n) for n in wanted]

        held = {node: self.env[node] for node in loop.outer}
        _, given, last = importer.scans.scan(
            one_step, states, list(picked.values()), loop.steps, down=loop.down
        )
        self.env.update(held)
        for node, every, final in zip(wanted, given, last, strict=True):
            self.note(loop.bodies[1].index(node), every, final)

    def value(self, node: Node) -> Value:
        """What the importer has for an operator, as a value."""
        found = self.env[node]
        if isinstance(found, StepOf):
            return found.value(self.importer)
        if isinstance(found, Value):
            return self.importer.value(found)
        if not isinstance(found, Known | Host):
            raise UnsupportedError("is no tensor of numbers", "leave it unrolled")
        kind = (found.stored() if isinstance(found, Known) else found.example).dtype
        if not (kind.is_floating_point or kind == torch.bool):
            raise UnsupportedError("counts in a loop", "leave it unrolled")
        return replace(self.importer.value(found), condition=kind == torch.bool)

    def picked(self, pick: StepPick) -> Value:
        """What is picked at all steps, along a first mode, in the order of the scan's coordinates."""
        loop, importer = self.loop, self.importer
        x = self.value(pick.source)
        down = pick.stride < 0
        length, last = abs(pick.stride) * (loop.steps - 1), pick.first + pick.stride * (loop.steps - 1)
        first = last if down else pick.first
        if pick.size > 1:
            x = importer.views.slice(x, pick.dim, first, length + pick.size)
            shape = importer.shape(x)
            x = importer.views.view(x, [*shape[: pick.dim], loop.steps, pick.size, *shape[pick.dim + 1 :]])
        else:
            x = importer.views.slice(x, pick.dim, first, loop.steps, abs(pick.stride))
        if down != loop.down:
            x = importer.views.index_select(x, pick.dim, list(range(loop.steps))[::-1])
        modes = list(x.modes)
        modes.insert(0, modes.pop(pick.dim))
        if pick.keeps and pick.size == 1:
            modes.insert(pick.dim + 1, ())
        return replace(x, modes=tuple(modes))

    def step(self, before: dict[int, Value], now: dict[int | Node, Value]) -> None:
        """Imports the operators of one step, as those of the second one."""
        loop = self.loop
        first, second = loop.bodies[:2]
        for place, value in before.items():
            self.env[first[place]] = value
        for key, value in now.items():
            self.env[second[key] if isinstance(key, int) else key] = value
        for place, node in enumerate(second):
            if place not in loop.same and place not in now:
                self.env[node] = self.call(node)

    def note(self, place: int, every: Value, last: Value) -> None:
        """Notes what all steps give at a place of the body, and the last one."""
        loop = self.loop
        for n, body in enumerate(loop.bodies):
            at = loop.steps - 1 - n if loop.down else n
            is_last = n == loop.steps - 1
            self.env[body[place]] = StepOf(every, at, loop.steps, last if is_last else None)


def joined_steps(importer: Importer, parts: Sequence[object], dim: int, *, new: bool) -> list[object]:
    """What is put one after the other, with all steps of a scan as one part where they stand in a row.

    Args:
        dim: along which; in what comes of it.
        new: each part has one place in a new dimension.
    """
    found: list[object] = []
    left = list(parts)
    while left:
        part = left[0]
        if not isinstance(part, StepOf):
            found.append(_with_mode(importer, part, dim) if new else part)
            del left[0]
            continue
        run = left[: part.steps]
        ups = [StepOf(part.every, n, part.steps) for n in range(part.steps)]
        if run == ups or run == ups[::-1]:
            every = part.every
            if run != ups:
                every = importer.views.index_select(every, 0, list(range(part.steps))[::-1])
            found.append(_in_dimension(every, dim, new=new))
            del left[: part.steps]
        else:
            value = part.value(importer)
            found.append(_with_mode(importer, value, dim) if new else value)
            del left[0]
    return found


def _in_dimension(every: Value, dim: int, *, new: bool) -> Value:
    first, *modes = every.modes
    dim %= len(modes) + new
    if new:
        modes.insert(dim, first)
    else:
        modes[dim] = (*first, *modes[dim])
    return replace(every, modes=tuple(modes))


def _with_mode(importer: Importer, part: object, dim: int) -> Value:
    value = importer.value(part)  # type: ignore[arg-type]
    modes = list(value.modes)
    modes.insert(dim % (len(modes) + 1), ())
    return replace(value, modes=tuple(modes))


def _without_first(value: Value) -> Value:
    return replace(value, modes=value.modes[1:])
