"""What a function of nested lists does, recorded: lists that write down what is done to them."""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from samhw.lang.nested.dataflow import (
    Affine,
    BlockNode,
    Buffer,
    Constants,
    Dim,
    ElementRead,
    Equation,
    Given,
    Index,
    Item,
    ListView,
    Loop,
    Pieces,
    Positions,
    Stretch,
    constant,
    span,
    variable,
)
from samhw.lang.nested.evaluated_lists import ArrayList
from samhw.lang.nested.iterations import affine_place
from samhw.lang.nested.lists import ListType, NestedTensor, State
from samhw.lang.nested.traced_elements import TracedCondition, TracedElement, shape_of
from samhw.lang.nested.traced_operations import ElementOperation
from samhw.lang.nested.untraced import user_error, user_place
from samhw.names import Names

__all__ = ["LOOPS", "OWN", "TracedList", "Tracer", "along", "parts_of"]

LOOPS, OWN = "ijklmnopqrstuvw", "abcdefgh"
"""Letters of loops, and of the dimensions that a list has of its own."""

FoldTracing = Callable[["Tracer", str, Sequence["TracedList"], Callable[..., Any], State], Any]
"""How a fold or a scan is traced: its operator, the lists, the function of a step, and its initial state."""


def parts_of(value: Any) -> tuple[Any, ...]:
    """The items of a tuple; anything else is one part."""
    return tuple(value) if isinstance(value, tuple) else (value,)


class Tracer:
    """What has been recorded so far.

    Attributes:
        fold: traces folds and scans.
        buffers: all definitions by name.
        loops: around what is recorded next.
        body: of the innermost of them.
    """

    def __init__(self, fold: FoldTracing) -> None:
        self.fold = fold
        self.buffers: dict[str, Buffer] = {}
        self.loops: tuple[Loop, ...] = ()
        self.body: list[Item] = []
        self._names = Names()
        self._known: dict[int, tuple[ArrayList, TracedList]] = {}

    def parameter(self, name: str, kind: ListType) -> Any:
        """The list, or element, that stands for a parameter."""
        own = _own_dims(kind.extents)
        self.buffers[self._names.fresh(name)] = Given(name, own, kind.shape)
        return self.of(ElementRead(name, tuple(variable(dim.name) for dim in own)), own, kind.shape)

    def of(self, read: ElementRead, own: tuple[Dim, ...], shape: tuple[int, ...], dilation: int = 1) -> Any:
        """A list whose elements are a read under its own dimensions; an element, if it has none."""
        return TracedList(self, read, own, shape, dilation) if own else self.element(read, shape)

    def element(self, read: ElementRead, shape: tuple[int, ...]) -> TracedElement:
        """What is at one place."""
        return TracedElement(read, shape, self.loops, self.record)

    def lifted(self, xs: NestedTensor) -> "TracedList":
        """A list as one of this trace: what is none is a constant."""
        if isinstance(xs, TracedList):
            self.check_scope(xs)
            return xs
        assert isinstance(xs, ArrayList)
        if 0 in xs.type.extents:
            raise user_error("a list without items cannot be traced; give it one or more")
        if id(xs) not in self._known:
            own = _own_dims(xs.type.extents)
            name = self._names.fresh("constants")
            self.buffers[name] = Constants(name, own, xs.type.shape, xs.array)
            read = ElementRead(name, tuple(variable(dim.name) for dim in own))
            self._known[id(xs)] = (xs, TracedList(self, read, own, xs.type.shape))
        return self._known[id(xs)][1]

    def leaf(self, value: Any) -> Any:
        """A list or an element of this trace, made of whatever a function has given."""
        if isinstance(value, NestedTensor):
            return self.lifted(value)
        return self.element(self.read(value), shape_of(value))

    def read(self, value: Any) -> ElementRead:
        """Where an operand is; a number or an array is a constant."""
        if isinstance(value, TracedElement):
            self.check_scope(value)
            return value.read
        if isinstance(value, TracedCondition):
            raise user_error(f"a comparison is no number; {value.offered}")
        if isinstance(value, NestedTensor) or not isinstance(value, int | float | np.ndarray | np.generic):
            raise user_error(
                f"an operand is of type {type(value).__name__}; elements are computed with, lists are mapped"
            )
        array = np.asarray(value)
        if array.dtype == bool:
            array = array.astype(int)
        name = str(array.item()) if array.ndim == 0 else self._names.fresh("constant")
        self.buffers.setdefault(name, Constants(name, (), array.shape, array))
        return ElementRead(name)

    def check_scope(self, value: "TracedElement | TracedList") -> None:
        """Raises InputError for what belongs to an operator that has ended, or to another trace."""
        own = {dim.name for dim in value.own} if isinstance(value, TracedList) else set()
        loops = {loop.name: loop for loop in self.loops}
        before = {loop.name: loop for loop in value.scope}
        # Operators of one depth have one name: that they are the same is what counts.
        ended = any(loops.get(name) is not before.get(name) for name in value.read.variables - own)
        if ended or value.read.buffer not in self.buffers:
            raise user_error("an item is used outside of the function that got it; let that function give it")

    def record(self, operation: ElementOperation, arguments: Sequence[Any]) -> TracedElement:
        """What an operation gives, in each iteration of the loops."""
        reads = tuple(map(self.read, arguments))
        try:
            shape = operation.shape(*map(shape_of, arguments))
        except ValueError as error:
            shapes = " and ".join(str(list(shape_of(a))) for a in arguments)
            raise user_error(f"{operation} of elements of shapes {shapes}: {error}") from None
        dims = tuple(Dim(loop.name, loop.extent) for loop in self.loops)
        return self.element(
            self._defined(Equation(self._names.fresh("t"), dims, shape, operation, reads)), shape
        )

    def view(self, source: ElementRead, own: tuple[Dim, ...], shape: tuple[int, ...]) -> "TracedList":
        """A list as an access operator gives it."""
        dims = (*self._used(source), *own)
        read = self._defined(ListView(self._names.fresh("v"), dims, shape, source))
        return TracedList(self, read, own, shape)

    def in_pieces(
        self, pieces: tuple[Stretch, ...], own: tuple[Dim, ...], shape: tuple[int, ...], role: str
    ) -> "TracedList":
        """A list in pieces along its outermost dimension."""
        used = dict.fromkeys(dim for piece in pieces for dim in self._used(piece.read))
        dims = (*(dim for dim in self._scope() if dim in used), *own)
        name = self._names.fresh(role)
        read = self._defined(Pieces(name, dims, shape, len(dims) - len(own), pieces, role))
        return TracedList(self, read, own, shape)

    def state(self, wish: str, own: tuple[Dim, ...], shape: tuple[int, ...]) -> ElementRead:
        """Where the state of a fold will be; `define_state` says what it is."""
        name = self._names.fresh(wish)
        dims = (*self._scope(), *own)
        return self._defined(Pieces(name, dims, shape, len(self.loops) - 1, (), "state"))

    def define_state(self, read: ElementRead, pieces: tuple[Stretch, ...]) -> None:
        """What a state is at the first steps, and at the others."""
        state = self.buffers[read.buffer]
        assert isinstance(state, Pieces)
        self.buffers[read.buffer] = replace(state, pieces=pieces)

    def result(self, leaf: Any, number: int | None) -> str:
        """The buffer of a result."""
        name = self._names.fresh("result" if number is None else f"result{number}")
        own = leaf.own if isinstance(leaf, TracedList) else ()
        self._defined(ListView(name, own, leaf.shape, leaf.read))
        return name

    def places(self, extent: int) -> "TracedList":
        """The list 0, 1, ..."""
        own = _own_dims((extent,))
        return TracedList(self, self._defined(Positions(self._names.fresh("places"), own, ())), own, ())

    @contextmanager
    def loop(self, operator: str, extent: int) -> Iterator[Loop]:
        """What is recorded inside belongs to an operator."""
        used = {loop.name for loop in self.loops}
        name = next((letter for letter in LOOPS if letter not in used), f"i{len(used)}")
        loop = Loop(name, extent, operator, user_place()[1])
        outer, self.body, self.loops = self.body, [], (*self.loops, loop)
        try:
            yield loop
            if self.body:
                outer.append(BlockNode((loop,), tuple(self.body)))
        finally:
            self.body, self.loops = outer, self.loops[:-1]

    @contextmanager
    def attempt(self) -> Iterator[Callable[[], None]]:
        """Gives what takes back all that is recorded in the meantime, but for the body."""
        buffers, names, known = dict(self.buffers), copy.deepcopy(self._names), dict(self._known)

        def take_back() -> None:
            self.buffers, self._names, self._known = dict(buffers), copy.deepcopy(names), dict(known)
            self.body.clear()

        yield take_back

    def _scope(self) -> tuple[Dim, ...]:
        return tuple(Dim(loop.name, loop.extent) for loop in self.loops)

    def _used(self, read: ElementRead) -> tuple[Dim, ...]:
        return tuple(dim for dim in self._scope() if dim.name in read.variables)

    def _defined(self, buffer: Buffer) -> ElementRead:
        self.buffers[buffer.name] = buffer
        self.body.append(buffer.name)
        return ElementRead(buffer.name, tuple(variable(dim.name) for dim in buffer.dims))


def _own_dims(extents: Sequence[int]) -> tuple[Dim, ...]:
    return tuple(Dim(OWN[n], extent) for n, extent in enumerate(extents))


class TracedList(NestedTensor):
    """A list that records what is done to it.

    Attributes:
        read: an element, under the list's own dimensions and the loops around it.
        own: its dimensions, which are called a, b, ...
        shape: of an element.
        dilation: if more than 1, this many sequences at once, interleaved; see `dilated_map`.
        scope: the loops around it.
    """

    def __init__(
        self,
        tracer: Tracer,
        read: ElementRead,
        own: tuple[Dim, ...],
        shape: tuple[int, ...],
        dilation: int = 1,
    ) -> None:
        self.tracer, self.read, self.own, self.shape, self.dilation = tracer, read, own, shape, dilation
        self.scope = tracer.loops

    @property
    def type(self) -> ListType:
        return ListType(tuple(dim.extent for dim in self.own), self.shape)

    def __len__(self) -> int:
        self._check_whole()
        return self.length

    def item_at(self, position: Index) -> Any:
        """The item at a position that loops, or a list of numbers, give."""
        inner = _own_dims(self.type.extents[1:])
        down = {dim.name: variable(new.name) for dim, new in zip(self.own[1:], inner, strict=True)}
        return self.tracer.of(self._placed(position, down), inner, self.shape)

    def _item(self, position: int) -> Any:
        self._check_whole()
        return self.item_at(constant(position))

    def _item_of(self, key: Any) -> Any:
        self._check_whole()
        if not isinstance(key, TracedElement) or key.shape:
            return super()._item_of(key)
        self.tracer.check_scope(key)
        return self.item_at(self._known_place(key.read, ()))

    def _known_place(self, read: ElementRead, more: tuple[Dim, ...]) -> Index:
        """A place in this list, as an affine index where it is one. Raises InputError if that leaves the
        list."""
        found = affine_place(self.tracer.buffers, read)
        if found is None:
            return read
        extents = {dim.name: dim.extent for dim in (*self.tracer.loops, *more)}
        least, greatest = span(found, extents)
        if least < 0 or greatest >= len(self):
            raise user_error(
                f"the places {found} go from {least} to {greatest}, and the list has {len(self)} items; take "
                "fewer steps, or pad it with nested.join"
            )
        return found

    def _viewed(self, first: tuple[int, ...], position: Index) -> "TracedList":
        """Other outermost dimensions instead of the outermost one: their extents, and the position in this
        list that their coordinates give."""
        self._check_whole()
        own = _own_dims((*first, *self.type.extents[1:]))
        down = {
            dim.name: variable(new.name) for dim, new in zip(self.own[1:], own[len(first) :], strict=True)
        }
        return self.tracer.view(self._placed(position, down), own, self.shape)

    def _placed(self, position: Index, others: Mapping[str, Affine]) -> ElementRead:
        """The read of an element, with a position instead of the outermost coordinate, and indices instead
        of the others."""
        values = {**others, self.own[0].name: position}
        try:
            return self.read.substituted(values)
        except (
            ValueError
        ):  # A list of numbers picks from what is seen in another order: that is a list first.
            return self.tracer.view(self.read, self.own, self.shape).read.substituted(values)

    def _check_whole(self) -> None:
        if self.dilation > 1:
            raise user_error(
                "a function of dilated_map is traced for all of its sequences at once, so it only maps, zips "
                "and scans them; take them apart with xs[r::dilation]"
            )

    def _strided(self, start: int, count: int, step: int) -> NestedTensor:
        return self._viewed((count,), variable(OWN[0]) * step + start)

    def _windows(
        self, first: int, outer: tuple[int, int], inner: tuple[int, int], fill: float | None
    ) -> NestedTensor:
        last = first + (outer[0] - 1) * outer[1] + (inner[0] - 1) * inner[1]
        inside = self
        if first < 0 or last >= len(self):
            inside = self._extended(min(first, 0), max(last + 1, len(self)), fill)
            first -= min(first, 0)
        place = variable(OWN[0]) * outer[1] + variable(OWN[1]) * inner[1] + first
        return inside._viewed((outer[0], inner[0]), place)

    def _extended(self, start: int, stop: int, fill: float | None) -> "TracedList":
        """The list from `start`, which is 0 or less, to below `stop`."""
        own = _own_dims((stop - start, *self.type.extents[1:]))
        if fill is not None:
            nothing = self.tracer.read(fill)
            between = [(start, 0, nothing), (0, len(self), self._shifted(-start)), (len(self), stop, nothing)]
        else:
            rounds = range(start // len(self), -(-stop // len(self)))
            length = len(self)
            between = [
                (max(start, k * length), min(stop, (k + 1) * length), self._shifted(k * length - start))
                for k in rounds
            ]
        pieces = tuple(Stretch(lo - start, hi - start, read) for lo, hi, read in between if lo < hi)
        return self.tracer.in_pieces(pieces, own, self.shape, "wrap" if fill is None else "pad")

    def _shifted(self, distance: int) -> ElementRead:
        """The read of this list where its first item stands at a coordinate `distance`."""
        return self.read.substituted({OWN[0]: variable(OWN[0]) - distance})

    def _picked(self, positions: Any) -> Any:
        if not isinstance(positions, NestedTensor):
            array = np.asarray(positions)
            if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
                return super()._item_of(positions)
            positions = ArrayList(array, 1)
        if positions.depth != 1 or positions.type.shape:
            return super()._item_of(positions)
        if isinstance(positions, ArrayList):
            wrong = positions.array[(positions.array < 0) | (positions.array >= len(self))]
            if wrong.size:
                raise user_error(f"there is no item {wrong[0]} in a list of {len(self)}")
        named = self.tracer.lifted(positions)
        return self._viewed((len(named),), self._known_place(named.read, named.own))

    def _positions(self) -> NestedTensor:
        return self.tracer.places(len(self))

    def _joined(self, others: Sequence[NestedTensor]) -> NestedTensor:
        pieces, start = [], 0
        for xs in (self, *others):
            assert isinstance(xs, TracedList)
            xs._check_whole()
            pieces.append(Stretch(start, start + len(xs), xs._shifted(start)))
            start += len(xs)
        own = _own_dims((start, *self.type.extents[1:]))
        return self.tracer.in_pieces(tuple(pieces), own, self.shape, "join")

    def _repeated(self, count: int, inside: bool) -> NestedTensor:
        first = (len(self), count) if inside else (count, len(self))
        return self._viewed(first, variable(OWN[0 if inside else 1]))

    def _compute(
        self, operator: str, lists: Sequence[NestedTensor], function: Callable[..., Any], initial: State
    ) -> Any:
        traced = [xs for xs in lists if isinstance(xs, TracedList)]
        if len({xs.dilation for xs in traced}) > 1:
            raise user_error("lists inside of dilated_map are zipped with others of it only")
        if operator == "map":
            return _mapped(self.tracer, traced, function)
        return self.tracer.fold(self.tracer, operator, traced, function, initial)

    def _dilated(self, lists: Sequence[NestedTensor], function: Callable[..., Any], dilation: int) -> Any:
        traced = [xs for xs in lists if isinstance(xs, TracedList)]
        found = function(*(xs.dilated(xs.dilation * dilation) for xs in traced))
        parts = parts_of(found)
        if any(not isinstance(xs, TracedList) or xs.length != self.length for xs in parts):
            raise user_error("the function of dilated_map gives lists as long as those that it gets")
        whole = tuple(xs.dilated(self.dilation) for xs in parts)
        return whole if isinstance(found, tuple) else whole[0]

    def dilated(self, dilation: int) -> "TracedList":
        """The same list as this many sequences."""
        return TracedList(self.tracer, self.read, self.own, self.shape, dilation)


def _mapped(tracer: Tracer, lists: Sequence[TracedList], function: Callable[..., Any]) -> Any:
    with tracer.loop("map", lists[0].length) as loop:
        found = function(*(xs.item_at(variable(loop.name)) for xs in lists))
        leaves = [tracer.leaf(part) for part in parts_of(found)]
    gathered = tuple(along(tracer, leaf, loop, variable(OWN[0]), lists[0].dilation) for leaf in leaves)
    return gathered if isinstance(found, tuple) else gathered[0]


def along(tracer: Tracer, leaf: Any, loop: Loop, step: Affine, dilation: int = 1) -> Any:
    """What the steps of a loop give, as a list under its coordinate a, where `step` says which step each item
    is of."""
    inner = leaf.own if isinstance(leaf, TracedList) else ()
    own = _own_dims((loop.extent, *(dim.extent for dim in inner)))
    moved = {dim.name: variable(new.name) for dim, new in zip(inner, own[1:], strict=True)}
    return tracer.of(leaf.read.substituted({**moved, loop.name: step}), own, leaf.shape, dilation)
