"""Tracing: a Python function over nested lists becomes a `NestedFunction`.

The function is called once, with lists that record what is done to them, folds and scans too. What has been
recorded becomes an extended task dependence graph.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from samhw.errors import InputError
from samhw.graph.dot import draw_text
from samhw.lang.nested.dataflow import (
    Affine,
    BlockNode,
    ElementRead,
    Equation,
    Item,
    Loop,
    Pieces,
    Stretch,
    constant,
    matrix,
    reads_of,
    substituted,
    text_of,
    variable,
)
from samhw.lang.nested.distances import sources_of
from samhw.lang.nested.function import NestedFunction, definition, read_text
from samhw.lang.nested.lists import LIFT, ListType, NestedTensor, State
from samhw.lang.nested.recording import OWN, TracedList, Tracer, along, parts_of
from samhw.lang.nested.untraced import user_error

__all__ = ["AccessEdge", "TaskGraph", "task_graph", "trace"]


def traced_fold(
    tracer: Tracer, operator: str, lists: Sequence[TracedList], function: Callable[..., Any], initial: State
) -> Any:
    """What a fold, or a scan, of lists gives, as `Tracer.fold`."""
    return _TracedFold(tracer, operator, lists, function, initial).traced()


class _TracedFold:
    """A fold or a scan while it is traced."""

    def __init__(
        self,
        tracer: Tracer,
        operator: str,
        lists: Sequence[TracedList],
        function: Callable[..., Any],
        initial: State,
    ) -> None:
        self.tracer, self.operator, self.function = tracer, operator, function
        self.backwards = operator.endswith("r") and operator not in ("map",)
        self.keeps_all = operator.startswith("scan")
        self.distance = lists[0].dilation
        self.whole, self.lists, self.initial = lists, lists, initial
        if self.distance > 1 and not self.keeps_all:
            raise user_error("inside of dilated_map a list is mapped or scanned; a fold gives no list")

    def traced(self) -> Any:
        """The result, or the list of all of them."""
        if self.initial is not None:
            return self._steps([self.tracer.leaf(part) for part in parts_of(self.initial)])
        # What the first items are is the state: the steps begin after them.
        count, length = self.distance, self.whole[0].length
        bare = [xs.dilated(1) for xs in self.whole]
        if length <= count:
            found = tuple(bare) if self.keeps_all else tuple(xs.item_at(constant(0)) for xs in bare)
            return found if len(found) > 1 else found[0]
        heads = [xs[-count:] if self.backwards else xs[:count] for xs in bare]
        rests = [xs[:-count] if self.backwards else xs[count:] for xs in bare]
        self.lists = [xs.dilated(self.distance) for xs in rests]
        found = self._steps(heads)
        if not self.keeps_all:
            return found
        joined = tuple(
            (rest.dilated(1)._joined([head]) if self.backwards else head._joined([rest.dilated(1)])).dilated(
                count
            )
            for head, rest in zip(heads, parts_of(found), strict=True)
        )
        return joined if len(joined) > 1 else joined[0]

    def _steps(self, starts: Sequence[Any]) -> Any:
        """The loop.

        Args:
            starts: what the state begins with; if there is no `initial`, lists of it.
        """
        length = self.lists[0].length
        with self.tracer.loop(self.operator, length) as loop, self.tracer.attempt() as take_back:
            step = variable(loop.name)
            at = -step + (length - 1) if self.backwards else step
            if self.initial is None:
                first = -step + (self.distance - 1) if self.backwards else step
                starts = [xs.item_at(first) for xs in starts]
            shapes = [leaf.shape for leaf in starts]
            while True:
                states = [self._state(s, shape) for s, shape in zip(starts, shapes, strict=True)]
                packed = tuple(states) if self._is_tuple() else states[0]
                found = self.function(packed, *(xs.item_at(at) for xs in self.lists))
                leaves = [self.tracer.leaf(part) for part in parts_of(found)]
                wider = self._fitted(starts, shapes, leaves, isinstance(found, tuple))
                if wider is None:
                    break
                shapes = wider
                take_back()
            for start, state, leaf in zip(starts, states, leaves, strict=True):
                self._define(state, start, leaf, loop)
        end = at if self.backwards else step
        results = tuple(self._result(leaf, loop, end, length) for leaf in leaves)
        return results if self._is_tuple() else results[0]

    def _is_tuple(self) -> bool:
        return isinstance(self.initial, tuple) if self.initial is not None else len(self.whole) > 1

    def _state(self, start: Any, shape: tuple[int, ...]) -> Any:
        own = start.own if isinstance(start, TracedList) else ()
        return self.tracer.of(self.tracer.state("s", own, shape), own, shape)

    def _fitted(
        self, starts: Sequence[Any], shapes: list[tuple[int, ...]], leaves: Sequence[Any], several: bool
    ) -> list[tuple[int, ...]] | None:
        """The shapes of elements with which to try again, since a number stands for an element of any shape;
        None if all fit."""
        if len(leaves) != len(starts) or several != self._is_tuple():
            raise user_error(
                f"the function of {self.operator} gives {len(leaves)} values, and its state has {len(starts)}"
            )
        wider = list(shapes)
        for n, (start, shape, leaf) in enumerate(zip(starts, shapes, leaves, strict=True)):
            extents = [leaf.type.extents if isinstance(leaf, TracedList) else () for leaf in (start, leaf)]
            is_number = start.shape == () and extents == [(), ()]
            if is_number and shape != leaf.shape and np.broadcast_shapes(shape, leaf.shape) == leaf.shape:
                wider[n] = leaf.shape
            elif extents[0] != extents[1] or shape != leaf.shape:
                kinds = ListType(extents[1], leaf.shape), ListType(extents[0], shape)
                raise user_error(
                    f"the function of {self.operator} gives {kinds[0]}, where its state is {kinds[1]}; begin "
                    "with what it gives"
                )
        return None if wider == shapes else wider

    def _define(self, state: Any, start: Any, leaf: Any, loop: Loop) -> None:
        """The state at each step: what it begins with, then what came this many steps before."""
        near = min(self.distance, loop.extent)
        pieces = [Stretch(0, near, start.read)]
        if near < loop.extent:
            before = {loop.name: variable(loop.name) - self.distance}
            pieces.append(Stretch(near, loop.extent, leaf.read.substituted(before)))
        self.tracer.define_state(state.read, tuple(pieces))

    def _result(self, leaf: Any, loop: Loop, at: Affine, length: int) -> Any:
        if self.keeps_all:
            step = substituted(at, {loop.name: variable(OWN[0])})
            return along(self.tracer, leaf, loop, step, self.distance)
        own = leaf.own if isinstance(leaf, TracedList) else ()
        return self.tracer.of(leaf.read.substituted({loop.name: constant(length - 1)}), own, leaf.shape)


def trace(function: Callable[..., Any], *arguments: Any, **named: Any) -> NestedFunction:
    """What a function of nested lists computes, as a value.

    Args:
        function: it takes and gives nested lists and elements. Python's own loops and conditions run while it
            is traced.
        arguments: for each parameter a `ListType`, or a list or array of that type.

    Raises:
        InputError: where the function does what cannot be traced, with the line.
    """
    try:
        bound = inspect.signature(function).bind(*arguments, **named)
    except TypeError as error:
        raise InputError(f"the arguments of {function.__name__}: {error}; give a type for each") from None
    tracer = Tracer(traced_fold)
    parameters = tuple(bound.arguments)
    for name in parameters:
        if not isinstance(bound.arguments[name], NestedTensor | ListType | np.ndarray):
            raise InputError(
                f"parameter '{name}' gets no type; give it a ListType, a nested list or an array"
            )
        if 0 in _type_of(bound.arguments[name]).extents:
            raise InputError(f"parameter '{name}' is a list without items; give it one or more")
    token = LIFT.set(tracer.lifted)
    try:
        given = [tracer.parameter(name, _type_of(bound.arguments[name])) for name in parameters]
        result = function(*given)
        leaves = [tracer.leaf(part) for part in parts_of(result)]
    finally:
        LIFT.reset(token)
    names = tuple(
        tracer.result(leaf, n if isinstance(result, tuple) else None) for n, leaf in enumerate(leaves)
    )
    found = NestedFunction(
        function.__name__.strip("<>"),
        parameters,
        tracer.buffers,
        tuple(tracer.body),
        names,
        not isinstance(result, tuple),
    )
    return found.without_unused()


def _type_of(value: Any) -> ListType:
    if isinstance(value, ListType):
        return value
    return value.type if isinstance(value, NestedTensor) else ListType((), value.shape)


# The extended task dependence graph of a function: buffers, blocks, operations, and access maps between them
# (the FractalTensor paper, section 4.4).


@dataclass(frozen=True)
class AccessEdge:
    """An access of a buffer.

    Attributes:
        buffer: what is read, or written.
        node: the block that does it, by its name in the graph, or an operation outside of all blocks.
        written: whether it is written.
        map: the access matrix and the offsets, over the loops around the access; None where a list of numbers
            gives places.
        text: the access itself.
    """

    buffer: str
    node: str
    written: bool
    map: tuple[tuple[tuple[int, ...], ...], tuple[int, ...]] | None
    text: str


@dataclass(frozen=True)
class TaskGraph:
    """Buffers, blocks with what they contain, and accesses. ``str()`` of it is a list of them.

    Attributes:
        function: what it is the graph of.
        blocks: by name, those in blocks included; the name of the inner ones begins with that of the outer.
        edges: each once.
    """

    function: NestedFunction
    blocks: dict[str, BlockNode]
    edges: tuple[AccessEdge, ...]

    @property
    def depth(self) -> int:
        """The most blocks in each other, the operation in the innermost one counted as one more."""
        return 1 + max((name.count(".") + 1 for name in self.blocks), default=0)

    @property
    def dimension(self) -> int:
        """The most loops in each other."""
        return max((len(loops) for loops in self.function.scope.values()), default=0)

    def __str__(self) -> str:
        lines = []
        for name, block in self.blocks.items():
            loops = ", ".join(f"{loop.operator} {loop.name} < {loop.extent}" for loop in block.loops)
            lines.append(f"{name}: {loops}")
            for edge in self.edges:
                if edge.node == name:
                    found = (
                        "" if edge.map is None else f"   M = {_matrix(edge.map[0])}, o = {list(edge.map[1])}"
                    )
                    lines.append(f"  {'writes' if edge.written else 'reads'} {edge.text}{found}")
        return "\n".join(lines) + "\n"

    @property
    def dot(self) -> str:
        """The graph in Graphviz's language: a frame for each block, a box for each operation, a cylinder for
        each parameter and each result."""
        function = self.function
        lines = [
            f'digraph "{function.name}" {{',
            "  node [shape=box, fontname=Helvetica, fontsize=10];",
            "  graph [fontname=Helvetica, fontsize=10];",
        ]
        for name in (*function.parameters, *function.results):
            label = f"{name}\\n{function.buffers[name].type}"
            lines.append(f'  "{name}" [shape=cylinder, label="{label}"];')
        used = {r.buffer for b in function.buffers.values() for r in reads_of(b)} - set(function.parameters)
        known = [n for n in function.buffers if n in used and n not in function.scope]
        lines += [f'  "{name}" [style=dashed];' for name in known]
        lines += _frames(function, function.body, 1, "block")
        for name, buffer in function.buffers.items():
            is_state = isinstance(buffer, Pieces) and buffer.role == "state"
            for number, read in enumerate(reads_of(buffer)):
                # What an earlier step has given.
                style = " [style=dashed]" if is_state and number else ""
                lines.append(f'  "{read.buffer}" -> "{name}"{style};')
        return "\n".join((*lines, "}")) + "\n"

    def draw(self, form: str) -> bytes:
        """The drawing in one of `samhw.graph.dot.DRAWINGS`. Raises InputError without a Graphviz."""
        return draw_text(self.dot, form)


def task_graph(function: NestedFunction) -> TaskGraph:
    """The graph of a function as it stands: trace it, and apply what passes you want before."""
    blocks: dict[str, BlockNode] = {}
    edges: dict[AccessEdge, None] = {}
    _collect(function, function.body, "block", blocks, edges)
    return TaskGraph(function, blocks, tuple(edges))


def _collect(
    function: NestedFunction,
    items: tuple[Item, ...],
    prefix: str,
    blocks: dict[str, BlockNode],
    edges: dict[AccessEdge, None],
) -> None:
    number = 0
    for item in items:
        if isinstance(item, BlockNode):
            name = f"{prefix}{number}" if prefix == "block" else f"{prefix}.{number}"
            number += 1
            blocks[name] = item
            for inner in item.body:
                if isinstance(inner, str):
                    edges.update(dict.fromkeys(_edges(function, inner, name)))
            _collect(function, item.body, name, blocks, edges)


def _edges(function: NestedFunction, name: str, node: str) -> Iterator[AccessEdge]:
    """The accesses of an operation: what lies beneath views, and beneath states in each piece."""
    buffer = function.buffers[name]
    if not isinstance(buffer, Equation):
        return
    loops = function.scope[name]
    variables = [loop.name for loop in loops]
    for source in sources_of(function, name):
        here = ElementRead(source.read.buffer, tuple(variable(loop) for loop in variables))
        # From one operation to another of the same iteration there is no access of a buffer.
        passed = source.read == here and function.scope.get(here.buffer) == loops
        if source.read.indices and not passed:
            conditions = [f"{start} <= {text_of(i)} < {stop}" for i, start, stop in source.guards]
            where = f" where {' and '.join(conditions)}" if conditions else ""
            yield AccessEdge(
                source.read.buffer, node, False, _map(source.read, variables), read_text(source.read) + where
            )
    here = ElementRead(name, tuple(variable(loop) for loop in variables))
    yield AccessEdge(name, node, True, _map(here, variables), read_text(here))


def _map(
    read: ElementRead, variables: list[str]
) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]] | None:
    affine = [index for index in read.indices if isinstance(index, Affine)]
    return None if len(affine) < len(read.indices) else matrix(affine, variables)


def _matrix(rows: tuple[tuple[int, ...], ...]) -> str:
    return "[" + "; ".join(" ".join(map(str, row)) for row in rows) + "]"


def _frames(function: NestedFunction, items: tuple[Item, ...], level: int, prefix: str) -> list[str]:
    lines = []
    margin = "  " * level
    for number, item in enumerate(items):
        if isinstance(item, BlockNode):
            loops = ", ".join(f"{loop.operator} {loop.name} < {loop.extent}" for loop in item.loops)
            lines.append(f'{margin}subgraph "cluster_{prefix}_{number}" {{')
            lines.append(f'{margin}  label="{loops}"; style=rounded;')
            lines += _frames(function, item.body, level + 1, f"{prefix}_{number}")
            lines.append(f"{margin}}}")
        elif item not in function.results:
            label = definition(function.buffers[item]).replace('"', "'")
            style = "" if isinstance(function.buffers[item], Equation) else ", style=dashed"
            lines.append(f'{margin}"{item}" [label="{label}"{style}];')
    return lines
