"""What the loops and the bodies of an operation mean, computed with NumPy.

The iterations of parallel loops are gone through at once. Those of reductions go one after another, unless
the body visibly adds, multiplies or takes the greater of what is there and of something else: then NumPy
folds them.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.importers.core import UnsupportedError
from samhw.importers.mlir.interpreted_elements import FOLDS, INTERPRETED, element, words
from samhw.importers.mlir.operation import Block, MlirOperation
from samhw.importers.mlir.structured import extents_of_loops, structured
from samhw.importers.mlir.types import AffineMap, TensorType, element_type

__all__ = ["Loops", "check_places", "is_body_operation", "taken"]

Array = npt.NDArray[np.float64]

_MA: Any = np.ma
"""Masked arrays, of which NumPy does not say all types."""

_LARGEST_GRID = 1 << 22
"""Elements of an array over loops."""

Constant = Callable[[MlirOperation], Array]


@dataclass(frozen=True)
class _Fold:
    """What is there becomes `function` of itself and of a term, the value of that name in the body; `kind` is
    the type of elements."""

    function: np.ufunc
    term: str
    kind: str


class Loops:
    """The loops of one operation of linalg.

    Args:
        known: the values around the operation, by name.
        constant: gives those of the operation's body.
        spend: is told how many iterations are gone through.
    """

    def __init__(
        self, op: MlirOperation, known: Mapping[str, Array], constant: Constant, spend: Callable[[int], None]
    ) -> None:
        self.known, self.constant, self.spend = known, constant, spend
        self.ins = [known[name] for name in op.inputs]
        self.outs = [known[name].copy() for name in op.outputs]
        self.first = [array.copy() for array in self.outs]
        self.stored: dict[str, Any] = {}
        operands = [*self.ins, *self.outs]
        self.loops = structured(op, [array.ndim for array in operands])
        self.body = self.loops.block
        self.sizes = extents_of_loops(self.loops.maps, [array.shape for array in operands])
        self.stores_some = {
            name
            for (name, _), kind in zip(self.body.arguments, op.types[: len(self.ins)], strict=False)
            if isinstance(kind, TensorType) and kind.stores_some
        }

    def results(self) -> list[Array]:
        """The outputs, after all iterations."""
        self.spend(math.prod(self.sizes))
        parallel = self.loops.parallel
        kept = [n for n, is_parallel in enumerate(parallel) if is_parallel]
        reduced = [n for n, is_parallel in enumerate(parallel) if not is_parallel]
        folds = self.folds() if reduced else None
        at_once: list[int] = []
        while folds and reduced and self.count([*kept, *at_once, reduced[-1]]) <= _LARGEST_GRID:
            at_once.insert(0, reduced.pop())
        self.spend(64 * self.count(reduced))
        grid = self.grid([*kept, *at_once])
        outer = self.grid(kept)
        for point in np.ndindex(*(self.sizes[n] for n in reduced)):
            one = dict(zip(reduced, point, strict=True))
            self.step([*kept, *at_once], grid | one, outer | one, folds)
        return self.outs

    def count(self, loops: Sequence[int]) -> int:
        """How many iterations some loops have together."""
        return math.prod(self.sizes[n] for n in loops)

    def grid(self, loops: Sequence[int]) -> dict[int, Any]:
        """The numbers of the iterations of some loops, each along an axis of its own."""
        places = np.meshgrid(*(np.arange(self.sizes[n]) for n in loops), indexing="ij", sparse=True)
        return dict(zip(loops, places, strict=True))

    def step(
        self,
        loops: Sequence[int],
        at: Mapping[int, Any],
        outer: Mapping[int, Any],
        folds: Sequence[_Fold] | None,
    ) -> None:
        """Goes through the iterations of some loops at once; `outer` has those that the outputs have too."""
        maps, count = self.loops.maps, len(self.ins)
        rows = [_places(m, at) for m in maps[:count]]
        own = [_places(m, outer) for m in maps[count:]]
        there = [np.asarray(array[row]) for array, row in zip(self.outs, own, strict=True)]
        deep = (1,) * (len(loops) - len(outer) + sum(n not in loops for n in outer))
        elements = [np.asarray(array[row]) for array, row in zip(self.ins, rows, strict=True)]
        elements += [array.reshape(array.shape + deep) for array in there]
        first = (np.asarray(array[row] != 0) for array, row in zip(self.first, own, strict=True))
        names = [name for name, _ in self.body.arguments[count:]]
        self.stored = {n: array.reshape(array.shape + deep) for n, array in zip(names, first, strict=False)}
        wanted = [fold.term for fold in folds] if folds else self.body.yields
        shape = tuple(self.sizes[n] for n in loops)
        axes = tuple(range(len(loops) - len(deep), len(loops)))
        for place, made in enumerate(self.block(self.body, elements, at, self.known, wanted)):
            whole = np.broadcast_to(np.ma.filled(np.ma.asarray(made, np.float64), 0), shape)
            if folds:
                function = folds[place].function
                whole = function(there[place], function.reduce(whole, axes) if axes else whole)
                whole = words(whole, folds[place].kind)
            self.outs[place][own[place]] = whole

    # Folds

    def folds(self) -> list[_Fold] | None:
        """How each output is folded; None if one is not, or is read besides."""
        block = self.body
        made = {result: op for op in block.operations for result in op.results}
        read = [name for op in block.operations for name in op.values]
        found = []
        for (own, _), name in zip(block.arguments[len(self.ins) :], block.yields, strict=False):
            op = made.get(name)
            function = FOLDS.get(op.name.removeprefix("arith.")) if op else None
            if op is None or function is None or read.count(own) != 1 or op.operands.count(own) != 1:
                return None
            if read.count(name) != 1 or _is_condition(op):
                return None
            (term,) = [operand for operand in op.operands if operand != own]
            found.append(_Fold(function, term, element_type(op.gives[0])))
        return found

    # Bodies

    def block(
        self,
        block: Block,
        given: Sequence[Any],
        at: Mapping[int, Any],
        known: Mapping[str, Any],
        names: Sequence[str],
    ) -> list[Any]:
        """The values of names in a block."""
        held: dict[str, Any] = dict(known)
        held.update({name: value for (name, _), value in zip(block.arguments, given, strict=False)})
        for op in block.needed(names):
            if op.name == "linalg.index":
                found: Any = at[int(op.attributes["dim"])] * 1.0
            elif op.name == "arith.constant":
                found = self.constant(op)
            elif op.name.startswith("sparse_tensor."):
                found = self.sparse(op, held)
            elif op.name == "tensor.extract":
                found = taken(op, held)
            else:
                found = element(op, [held[name] for name in op.operands])
            held.update(dict.fromkeys(op.results, found))
        return [held[name] for name in names]

    def values(self, names: Sequence[str]) -> list[Array]:
        """What values of the body are, each an array with an axis for each loop, of extent 1 for one that
        does not matter."""
        self.spend(math.prod(self.sizes))
        at = self.grid(range(len(self.sizes)))
        operands = [*self.ins, *self.outs]
        rows = [_places(amap, at) for amap in self.loops.maps]
        elements = [np.asarray(array[row]) for array, row in zip(operands, rows, strict=True)]
        found = self.block(self.body, elements, at, self.known, names)
        return [np.asarray(x, np.float64).reshape(np.shape(x) or (1,) * len(self.sizes)) for x in found]

    def sparse(self, op: MlirOperation, held: Mapping[str, Any]) -> Any:
        """Operations on what is stored: an array of which something is masked is empty there."""
        given = [held[name] for name in op.operands]

        def region(name: str, *arguments: Any) -> Any:
            block = op.region(name)
            return np.ma.masked if block is None else self.block(block, arguments, {}, held, block.yields)[0]

        def alone(name: str, x: Any) -> Any:
            return x if f"{name}_identity" in op.attributes else region(name, x)

        def chosen(condition: Any, yes: Any, no: Any) -> Any:
            a, b = (_MA.masked_all(np.shape(condition)) if x is np.ma.masked else x for x in (yes, no))
            return _MA.where(condition, a, b)

        there = [
            self.stored.get(name, np.asarray(np.ma.filled(x, 0)) != 0)
            for name, x in zip(op.operands, given, strict=True)
        ]
        plain = [np.ma.filled(x, 0) for x in given]
        if op.name.endswith("unary"):
            return chosen(there[0], alone("present", plain[0]), region("absent"))
        if op.name.endswith("select"):
            keep = np.asarray(region("0", plain[0])) != 0
            return chosen(keep & there[0], plain[0], np.ma.masked)
        if op.name.endswith("reduce"):
            # What is masked adds nothing.
            empty = np.ma.getmaskarray(np.ma.asarray(given[0]))
            if op.operands[0] in self.stores_some:
                empty = empty | ~there[0]
            made = np.ma.filled(region("0", plain[0], plain[1]), 0)
            return np.where(empty, plain[1], made)
        left, right = alone("left", plain[0]), alone("right", plain[1])
        only_one = chosen(there[0], left, chosen(there[1], right, np.ma.masked))
        return chosen(there[0] & there[1], region("overlap", *plain), only_one)


def check_places(places: npt.NDArray[Any], size: int, does: str = "takes the element") -> None:
    """Raises `UnsupportedError` for a place that a dimension of this size does not have."""
    if places.size and (places.min() < 0 or places.max() >= size):
        wrong = places.min() if places.min() < 0 else places.max()
        raise UnsupportedError(f"{does} {wrong:g} of a dimension of {size}", "mend the place")


def taken(op: MlirOperation, held: Mapping[str, Any]) -> Any:
    """Elements of a tensor.

    Raises:
        UnsupportedError: for one that the tensor does not have.
    """
    source = np.asarray(held[op.operands[0]])
    row = op.attributes["places"]
    places = [np.asarray(item if isinstance(item, int) else held[item]).astype(np.int64) for item in row]
    for place, size in zip(places, source.shape, strict=True):
        check_places(place, size)
    return source[tuple(places)]


def _places(amap: AffineMap, at: Mapping[int, Any]) -> tuple[Any, ...]:
    return tuple(
        result.offset + sum(factor * at[loop] for loop, factor in result.factors) for result in amap.results
    )


def is_body_operation(op: MlirOperation) -> bool:
    """Whether it computes with single elements in the body of another one."""
    others = ("linalg.index", "arith.constant", "tensor.extract")
    return op.name in others or (op.name in INTERPRETED and bool(op.types) and bool(op.gives))


def _is_condition(op: MlirOperation) -> bool:
    return any(str(kind) == "i1" for kind in op.types)
