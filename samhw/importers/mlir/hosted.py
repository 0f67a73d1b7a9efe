"""Values that are known before the run: what constants decide, and arguments of whole numbers, such as the
places of an embedding.

They are computed with NumPy, as the interpreter does: anew for the data of each run, unless constants alone
decide them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from samhw.importers.core import Arguments, UnsupportedError
from samhw.importers.mlir.interpret import Interpreter, TooLargeError, is_interpreted
from samhw.importers.mlir.interpreted_loops import Loops, is_body_operation
from samhw.importers.mlir.operation import Block, MlirFunction, MlirModule, MlirOperation
from samhw.importers.mlir.types import TensorType
from samhw.importers.mlir.whole_numbers import is_float

__all__ = ["Hosted", "HostedValues", "Places", "unknown_places"]

Array = npt.NDArray[np.float64]
Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Hosted:
    """A value that the host computes.

    Attributes:
        make: gives what it is for the data at hand.
        fetch: gives what it is for the data of a run.
        constant: it is the same in every run.
    """

    make: Callable[[], Array]
    fetch: Callable[[Arguments], Array]
    constant: bool

    @classmethod
    def number(cls, number: float) -> "Hosted":
        """A number that is the same in every run."""
        held = np.asarray(float(number))
        return cls(lambda: held, lambda _: held, constant=True)

    @cached_property
    def example(self) -> Array:
        """What it is for the data at hand: all elements, also of a sparse argument, of which most are never
        asked for."""
        return self.make()


@dataclass(frozen=True, eq=False)
class Places:
    """Numbers for each iteration of some loops, such as the places where elements are taken.

    Attributes:
        example: for each number, an array with an axis for each loop, of extent 1 for a loop that does not
            matter; for the data at hand.
        fetch: gives these arrays for the data of a run.
        constant: they are the same in every run.
    """

    example: list[Array]
    fetch: Callable[[Arguments], list[Array]]
    constant: bool


def unknown_places(what: str) -> UnsupportedError:
    """The refusal of places that nobody knows before the run."""
    return UnsupportedError(
        f"{what} that depends on data in floating point", "give the places as an argument or a constant"
    )


class HostedValues:
    """The values of one call of a function that are known before the run.

    Args:
        given: by name, the arguments that are.

    Attributes:
        names: of all of them.
        counts: the names of those constants that whole numbers go into, such as the numbers of rows: the
            text computes what a person would have written down.
    """

    def __init__(self, module: MlirModule, function: MlirFunction, given: Mapping[str, Hosted]) -> None:
        self.interpreter = Interpreter(module, {})
        self.given = given
        self.place = {op: n for n, op in enumerate(function.body.operations)}
        self.made: dict[str, MlirOperation] = {}
        self.names = set(given)
        self.counts: set[str] = set()
        self._found: dict[str, Hosted | None] = {}
        self._known: dict[str, Array] = {}
        self._varying = {name for name, held in given.items() if not held.constant}
        for op in function.body.operations:
            parts = [op]
            if len(op.results) > 1 and not self.names.issuperset(_taken(op)):
                parts = [part for place in range(len(op.results)) if (part := _single(op, place)) is not None]
            for part in parts:
                self.place[part] = self.place[op]
                if self.names.issuperset(_taken(part)) and is_interpreted(part, module.resources):
                    self._add(part)

    def _add(self, op: MlirOperation) -> None:
        values = _taken(op)
        self.made.update(dict.fromkeys(op.results, op))
        self.names.update(op.results)
        if not self._varying.isdisjoint(values):
            self._varying.update(op.results)
        elif not self.counts.isdisjoint(values) or any(map(_is_whole, op.gives)) or _asks_loops(op):
            self.counts.update(op.results)

    def of(self, name: str) -> Hosted | None:
        """What a value is; None for one that is not known before the run, or takes too long to compute."""
        if name not in self._found:
            self._found[name] = self._computed(name) if name in self.names else None
        return self._found[name]

    def in_body(self, op: MlirOperation, names: Sequence[str], shapes: Mapping[str, Shape]) -> Places | None:
        """Values in the body of an operation; None for what is not known before the run.

        Args:
            shapes: those of the operation's operands, by their names.
        """
        block = op.body
        assert block is not None
        inner = block.needed(names)
        made = {result for part in inner for result in part.results}
        operands = dict(zip((name for name, _ in block.arguments), op.operands, strict=False))
        used = {value for part in inner for value in part.values}.union(names) - made
        wanted = {operands.get(value, value) for value in used}
        held = {name: self.of(name) for name in wanted}
        if not all(map(is_body_operation, inner)) or None in held.values():
            return None
        found = {name: value for name, value in held.items() if value is not None}

        def computed(known: Mapping[str, Array]) -> list[Array]:
            others = {name: np.broadcast_to(0.0, shape) for name, shape in shapes.items()}
            machine = self.interpreter
            return Loops(op, {**others, **known}, machine.constant, machine.spend).values(names)

        def fetch(arguments: Arguments) -> list[Array]:
            return computed({name: value.fetch(arguments) for name, value in found.items()})

        example = computed({name: value.example for name, value in found.items()})
        return Places(example, fetch, all(value.constant for value in found.values()))

    def _computed(self, name: str) -> Hosted | None:
        leaves, operations = self._cone(name)
        self._known |= {leaf: self.given[leaf].example for leaf in leaves}
        try:
            self._run([op for op in operations if not self._known.keys() >= set(op.results)], self._known)
        except (TooLargeError, LookupError, ValueError):
            return None  # An operation that is not made as it should be is refused where it is imported.

        def fetch(arguments: Arguments) -> Array:
            known = {leaf: self.given[leaf].fetch(arguments) for leaf in leaves}
            self._run(operations, known)
            return known[name]

        return Hosted(lambda: self._known[name], fetch, all(self.given[leaf].constant for leaf in leaves))

    def _run(self, operations: list[MlirOperation], known: dict[str, Array]) -> None:
        with np.errstate(all="ignore"):
            for op in operations:
                known.update(zip(op.results, self.interpreter.operation(op, known), strict=False))

    def _cone(self, name: str) -> tuple[list[str], list[MlirOperation]]:
        """The arguments that a value depends on, and the operations, in the order of the text."""
        leaves: dict[str, None] = {}
        operations: set[MlirOperation] = set()
        left = [name]
        while left:
            wanted = left.pop()
            op = self.made.get(wanted)
            if op is None:
                leaves[wanted] = None
            elif op not in operations:
                operations.add(op)
                left += _taken(op)
        return list(leaves), sorted(operations, key=self.place.__getitem__)


def _is_whole(kind: object) -> bool:
    """Whether a type is of a tensor of whole numbers, or of one number."""
    return isinstance(kind, TensorType) and (not is_float(kind.element) or set(kind.shape) <= {1})


def _asks_loops(op: MlirOperation) -> bool:
    return op.body is not None and any(inner.name == "linalg.index" for inner in op.body.operations)


def _single(op: MlirOperation, place: int) -> MlirOperation | None:
    """An operation of several results as one that gives one of them, of the operands that this one needs;
    None where that cannot be told apart."""
    block, maps = op.body, op.attributes.get("indexing_maps")
    if op.name != "linalg.generic" or block is None or block.last is None or not isinstance(maps, list):
        return None
    if len(block.yields) != len(op.results) or len(maps) != len(op.inputs) + len(op.outputs):
        return None
    name = block.yields[place]
    inner = block.needed([name])
    used = {value for part in inner for value in part.values} | {name}
    count = len(op.inputs)
    kept = [n for n in range(count) if block.arguments[n][0] in used]
    given = [*kept, count + place]
    if any(block.arguments[n][0] in used for n in range(count, len(maps))):
        return None
    last = replace(block.last, operands=[name])
    inputs, outputs = [op.inputs[n] for n in kept], [op.outputs[place]]
    return replace(
        op,
        results=[op.results[place]],
        gives=op.gives[place : place + 1],
        operands=[*inputs, *outputs],
        inputs=inputs,
        outputs=outputs,
        types=[op.types[n] for n in given] if len(op.types) == len(maps) else [],
        attributes={**op.attributes, "indexing_maps": [maps[n] for n in given]},
        regions={"0": [Block([block.arguments[n] for n in given], [*inner, last])]},
    )


def _taken(op: MlirOperation) -> list[str]:
    """The values from outside that an operation takes."""
    own = {name for blocks in op.regions.values() for block in blocks for name, _ in block.arguments}
    for inner in op.inner:
        own.update(inner.results)
        own.update(n for blocks in inner.regions.values() for block in blocks for n, _ in block.arguments)
    return [value for value in op.values if value not in own]
