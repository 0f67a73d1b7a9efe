"""Tracing: a Python function over nested lists becomes a `NestedFunction`.

The function is called once, with lists that record what is done to them.

Folds and scans while they are traced: their state, and what they give.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from samhw.errors import InputError
from samhw.lang.nested.dataflow import Loop, Stretch
from samhw.lang.nested.function import NestedFunction
from samhw.lang.nested.indices import Affine, constant, substituted, variable
from samhw.lang.nested.lists import LIFT, ListType, NestedTensor, State
from samhw.lang.nested.recording import OWN, TracedList, Tracer, along, parts_of
from samhw.lang.nested.untraced import user_error

__all__ = ["trace"]


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
