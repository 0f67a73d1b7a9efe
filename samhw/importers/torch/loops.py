"""Loops that `torch.export` has unrolled: operators in a row that do the same again and again, each time with
what the time before has given."""

import operator as python_operator
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor
from torch.fx import Graph, Node

from samhw.importers.torch.normal_form import bring_to_normal_form

__all__ = ["UNROLL", "StepPick", "UnrolledLoop", "loops_in"]

aten = torch.ops.aten

UNROLL = 2
"""The steps of loops that stay unrolled where nobody says otherwise."""

_INDEX = {
    aten.select.int: (2,),
    aten.slice.Tensor: (2, 3),
}
"""The arguments that may count the steps."""

_MOST_SHIFTS = 8
"""Operators before a loop that look as if they were of it."""


@dataclass(frozen=True)
class StepPick:
    """What steps read of a tensor, each in another place: `size` elements of a dimension, from `first` on in
    the first step, `stride` further in each next one.

    Attributes:
        source: the tensor.
        keeps: the dimension stays, also where it has one element.
    """

    source: Node
    dim: int
    first: int
    stride: int
    size: int = 1
    keeps: bool = False


@dataclass
class UnrolledLoop:
    """Bodies of one length, each the same as the first one.

    Attributes:
        bodies: the operators of each step.
        same: places in a body of what is the same at all steps.
        states: by the place of what a step gives to the next one, what the first step takes there.
        picks: what is read step by step, by place in a body.
        outer: what is read step by step outside of the bodies, by the node that the second step reads.
    """

    bodies: list[list[Node]]
    same: set[int] = field(default_factory=set)
    states: dict[int, Node] = field(default_factory=dict)
    picks: dict[int, StepPick] = field(default_factory=dict)
    outer: dict[Node, StepPick] = field(default_factory=dict)

    @property
    def first(self) -> Node:
        """Its first operator."""
        return self.bodies[0][0]

    @property
    def steps(self) -> int:
        """How many there are."""
        return len(self.bodies)

    @property
    def nodes(self) -> set[Node]:
        """All of its operators."""
        return {node for body in self.bodies for node in body}

    @property
    def every_pick(self) -> list[StepPick]:
        """All of its picks, each once."""
        return list(dict.fromkeys((*self.picks.values(), *self.outer.values())))

    @property
    def down(self) -> bool:
        """Whether its steps read from the end on."""
        picks = self.every_pick
        return bool(picks) and all(pick.stride < 0 for pick in picks)

    def escapes(self) -> dict[int, set[int]]:
        """By the place of what is read after the loop, the steps of which it is read."""
        inside = self.nodes
        found: dict[int, set[int]] = {}
        for step, body in enumerate(self.bodies):
            for place, node in enumerate(body):
                if any(user not in inside for user in node.users):
                    found.setdefault(place, set()).add(step)
        return found


def loops_in(graph: Graph, unroll: int) -> list[UnrolledLoop]:
    """The loops of more than `unroll` steps in a graph: those that have a state, and read their inputs step
    by step or are read at all steps. The graph gets what its last steps leave out, since nobody reads it."""
    found: list[UnrolledLoop] = []
    bring_to_normal_form(graph)
    _complete(graph)
    nodes = [node for node in graph.nodes if node.op == "call_function"]
    taken = np.zeros(len(nodes), bool)
    for start, period, steps in _repeats(nodes, max(2, unroll + 1)):
        if taken[start : start + period * steps].any():
            continue
        bodies = [list(nodes[start + n * period : start + (n + 1) * period]) for n in range(steps)]
        loop = _checked(bodies)
        if loop is not None:
            taken[start : start + period * steps] = True
            found.append(loop)
    return found


def _complete(graph: Graph) -> None:
    """Adds the state of a cell that is not read after the last step."""
    for node in graph.find_nodes(op="call_function", target=aten.lstm_cell.default):
        read = {user.args[1]: user for user in node.users if user.target is python_operator.getitem}
        for place in range(2):
            if place not in read:
                with graph.inserting_after(read.get(place - 1, node)):
                    made = graph.call_function(python_operator.getitem, (node, place))
                made.meta = {**node.meta, "val": node.meta["val"][place]}


def _repeats(nodes: Sequence[Node], least: int) -> list[tuple[int, int, int]]:
    """Where operators repeat by their looks alone: first place, length and number of bodies, those first that
    have most operators, and of these the shortest bodies."""
    numbers: dict[object, int] = {}
    looks = np.array([numbers.setdefault(_look(node), len(numbers)) for node in nodes], np.int64)
    found = []
    seen: dict[tuple[int, int], list[int]] = {}
    for period in range(1, len(nodes) // least + 1):
        same = np.flatnonzero(np.diff(np.concatenate(([0], looks[:-period] == looks[period:], [0]))))
        for first, end in same.reshape(-1, 2).tolist():
            steps, rest = divmod(end - first + period, period)
            shorter = seen.setdefault((first, end + period), [])
            if steps < least or any(period % other == 0 for other in shorter):
                continue
            shorter.append(period)
            for shift in range(min(rest, _MOST_SHIFTS) + 1):
                # The first step may differ in what it starts from.
                found += [
                    (first + shift + skipped * period, period, steps - skipped)
                    for skipped in (0, 1)
                    if steps - skipped >= least
                ]
    return sorted(found, key=lambda it: (-it[1] * it[2], it[1], it[0]))


def _look(node: Node) -> object:
    """What all steps of a loop have alike in an operator."""
    arguments, structure = torch.utils._pytree.tree_flatten((node.args, node.kwargs))
    counted = _INDEX.get(node.target, ())  # type: ignore[call-overload]
    leaves = tuple(
        "node" if isinstance(leaf, Node) else "step" if place in counted else repr(leaf)
        for place, leaf in enumerate(arguments)
    )
    return node.target, leaves, str(structure), _shape(node)


def _shape(node: Node) -> object:
    meta = node.meta.get("val")
    return (tuple(map(str, meta.shape)), meta.dtype) if isinstance(meta, Tensor) else None


def _checked(bodies: list[list[Node]]) -> UnrolledLoop | None:
    """The loop that bodies are, or None where one step is not as all others."""
    check = _Check(UnrolledLoop(bodies))
    return check.loop if check.passes() else None


class _Check:
    """Finds the part that each argument of each operator has in a loop."""

    def __init__(self, loop: UnrolledLoop) -> None:
        self.loop = loop
        self.place = {node: (n, at) for n, body in enumerate(loop.bodies) for at, node in enumerate(body)}

    def passes(self) -> bool:
        loop = self.loop
        rows = [
            [torch.utils._pytree.tree_leaves((node.args, node.kwargs)) for node in column]
            for column in zip(*loop.bodies, strict=True)
        ]
        if not all(self.takes(place, leaves) for place, leaves in enumerate(rows)):
            return False
        return self.has_states()

    def takes(self, place: int, leaves: list[list[object]]) -> bool:
        """Whether an operator has arguments of the kinds that a loop has."""
        loop, (node, *_) = self.loop, (body[place] for body in self.loop.bodies)
        parts = [self.part(place, column) for column in zip(*leaves, strict=True)]
        counted = [n for n, part in enumerate(parts) if isinstance(part, range)]
        if None in parts:
            return False
        if counted:
            return self.picks(place, node, parts)
        if all(part in ("static", "outside", "same") for part in parts):
            loop.same.add(place)
        return True

    def part(self, place: int, column: tuple[object, ...]) -> object:
        """What an argument is: `static`, a range of numbers that counts the steps; `outside` of the loop, the
        `same` at all steps, given by this step (`inner`), a `state`, or picked (`pick`); None for none of
        these."""
        first, *rest = column
        if not isinstance(first, Node):
            if all(type(other) is type(first) and other == first for other in rest):
                return "static"
            return _progression(column)
        if not all(isinstance(item, Node) for item in column):
            return None
        where = [self.place.get(item) for item in column if isinstance(item, Node)]
        if all(at is None for at in where):
            return "outside" if len(set(column)) == 1 else self.outer(column)
        *_, (_, at) = (at for at in where if at is not None)
        if where == [(n, at) for n in range(len(column))]:
            return "same" if at in self.loop.same else "inner"
        if where[0] is None and where[1:] == [(n, at) for n in range(len(column) - 1)]:
            start = self.loop.states.setdefault(at, first)
            return "state" if start is first and _shape(first) == _shape(self.loop.bodies[0][at]) else None
        return None

    def outer(self, column: tuple[object, ...]) -> object:
        """Whether nodes before the loop pick of one tensor, one after the other."""
        picks = [_pick_of(node) for node in column if isinstance(node, Node)]
        found = [pick for pick in picks if pick is not None]
        if len(found) != len(column) or len({(p.source, p.dim, p.size, p.keeps) for p in found}) > 1:
            return None
        counted = _progression([pick.first for pick in found])
        pick = None if counted is None else _steps_of(found[0], counted)
        if pick is None:
            return None
        second = column[1]
        assert isinstance(second, Node)
        self.loop.outer[second] = pick
        return "pick"

    def picks(self, place: int, node: Node, parts: list[object]) -> bool:
        """Whether an operator that counts the steps picks of a tensor, or writes into one."""
        loop, target = self.loop, node.target
        source, counted = node.args[0], next(part for part in parts if isinstance(part, range))
        assert isinstance(source, Node)
        if target not in _INDEX or not isinstance(source.meta.get("val"), Tensor):
            return False
        pick = _pick_of(node)
        if pick is None or (pick := _steps_of(pick, counted)) is None:
            return False
        if target is aten.slice.Tensor and not _in_step(parts[2], parts[3], pick.size):
            return False
        if parts[0] in ("outside", "same"):
            loop.picks[place] = pick
            return True
        return False

    def has_states(self) -> bool:
        """Whether there is a state, all states are numbers, and steps are read or collected."""
        loop = self.loop
        metas = [loop.bodies[0][place].meta.get("val") for place in loop.states]
        plain = all(isinstance(meta, Tensor) and meta.is_floating_point() for meta in metas)
        collected = any(len(steps) > 1 for steps in loop.escapes().values())
        is_new = not loop.same & set(loop.states)
        return is_new and bool(metas) and plain and bool(loop.every_pick or collected)


def _progression(numbers: Sequence[object]) -> range | None:
    """Whole numbers in steps of one length, as a range; None for others."""
    whole = [n for n in numbers if isinstance(n, int) and not isinstance(n, bool)]
    if len(whole) != len(numbers) or len(whole) < 2:
        return None
    step = whole[1] - whole[0]
    made = range(whole[0], whole[0] + step * len(whole), step) if step else None
    return made if made is not None and list(made) == whole else None


def _steps_of(first: StepPick, counted: range) -> StepPick | None:
    """What all steps pick, of what the first one does; None for places that overlap or leave some out."""
    extent = int(first.source.meta["val"].shape[first.dim])
    start = counted.start + extent * (counted.start < 0)
    last = start + counted.step * (len(counted) - 1)
    if not 0 <= min(start, last) <= max(start, last) <= extent - first.size:
        return None
    if first.size > 1 and abs(counted.step) != first.size:
        return None
    return replace(first, first=start, stride=counted.step)


def _in_step(start: object, end: object, size: int) -> bool:
    """Whether slices count on at both ends."""
    if not isinstance(start, range) or not isinstance(end, range):
        return False
    return start.step == end.step and end.start == start.start + size


def _pick_of(node: Node) -> StepPick | None:
    """What an operator picks of a tensor, as if it were the first step; None for another operator."""
    target = node.target
    source = node.args[0] if node.args else None
    if target not in (aten.select.int, aten.slice.Tensor) or not isinstance(source, Node):
        return None
    meta = source.meta.get("val")
    if not isinstance(meta, Tensor) or len(node.args) < 3:
        return None
    dim, first = node.args[1:3]
    if not isinstance(dim, int) or not isinstance(first, int) or not isinstance(meta.shape[dim], int):
        return None
    extent, size = int(meta.shape[dim]), 1
    if target is aten.slice.Tensor:
        size = int(node.meta["val"].shape[dim])
        if len(node.args) > 4 and node.args[4] != 1:
            return None
    return StepPick(
        source, dim % meta.dim(), first + extent * (first < 0), 1, size, target is aten.slice.Tensor
    )
