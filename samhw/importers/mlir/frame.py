"""The values of a function while it is imported, each made when somebody first needs it."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.graph.numerics import ValueType
from samhw.importers.core import Arguments, Build, HostArray, UnsupportedError, Value, check_unmasked
from samhw.importers.mlir.compute import Compute
from samhw.importers.mlir.encodings import Storage, check_encoding, constant, storage_of, stored_input
from samhw.importers.mlir.hosted import Hosted, HostedValues
from samhw.importers.mlir.idioms import number_of
from samhw.importers.mlir.number_system import NumberSystem
from samhw.importers.mlir.operation import MlirFunction, MlirModule, MlirOperation
from samhw.importers.mlir.scalars import Located, Scalars
from samhw.importers.mlir.types import MlirType, TensorType, element_type
from samhw.importers.mlir.whole_numbers import is_float
from samhw.lang.expr import Access, Expr, Literal

__all__ = ["EMPTY", "Frame", "FunctionWalk", "Held", "Make", "Unset", "result_type"]

EMPTY = ("tensor.empty", "bufferization.alloc_tensor", "linalg.init_tensor")
"""What gives tensors that nothing is in."""


@dataclass(frozen=True)
class Unset:
    """A tensor that nobody has written to.

    Attributes:
        zero: it is sparse, and so begins as zero.
    """

    shape: tuple[int, ...]
    zero: bool = False


Held = Value | Unset
"""What a name of a function stands for."""


def result_type(op: MlirOperation, place: int) -> TensorType:
    """The type of a result that is a tensor."""
    kind = op.gives[place] if place < len(op.gives) else None
    if not isinstance(kind, TensorType):
        raise UnsupportedError("gives no tensor", "mend its type")
    return kind


class FunctionWalk:
    """Imports a function of a module.

    Args:
        data: by name, what an argument, or a constant that the text leaves out, has for the run at hand.
        value: what the program is computed in.
        make: makes a result of an operation.

    Attributes:
        notes: what is done in another way than the text says, in sentences.
    """

    def __init__(
        self, module: MlirModule, data: Mapping[str, HostArray], value: ValueType, make: "Make"
    ) -> None:
        self.module, self.data, self.make = module, data, make
        self.build = Build()
        self.notes: dict[str, None] = {}
        self.system = NumberSystem.of(value, lambda note: self.notes.setdefault(note))
        self.compute = Compute(self.build, self.system)
        self.calls = 0

    def run(self, function: MlirFunction) -> list[Held]:
        """What the function returns, for its arguments as inputs."""
        given = [self.argument(function, name, kind) for name, kind in function.arguments]
        whole = [name for name, kind in function.arguments if not is_float(element_type(kind))]
        hosted = {name: self.hosted(name) for name in whole if name[1:] in self.data}
        return self.body(function, given, hosted)

    def hosted(self, name: str) -> Hosted:
        """An argument of whole numbers as what is known before the run."""

        def fetch(arguments: Arguments) -> npt.NDArray[np.float64]:
            return _data_of(arguments, name[1:]).to_dense()

        return Hosted(self.data[name[1:]].to_dense, fetch, constant=False)

    def argument(self, function: MlirFunction, name: str, kind: MlirType) -> Held:
        """An argument as an input; its data come by its name without the percent sign."""
        if not isinstance(kind, TensorType):
            return self.input(name[1:], Storage(None)) if name[1:] in self.data else Unset(())
        try:
            storage = storage_of(kind.encoding, self.data[name[1:]].shape)
            self.note(name, storage)
            return self.input(name[1:], storage)
        except UnsupportedError as error:
            raise self.located(function.at, f"The argument {name} of '{function.name}'", error) from None

    def note(self, name: str, storage: Storage) -> None:
        """Says what an encoding does not get."""
        self.notes.update(dict.fromkeys(f"{name}: {note}." for note in storage.notes))

    def input(self, name: str, storage: Storage) -> Value:
        """An input that a run gives data for."""

        def fetch(arguments: Arguments) -> HostArray:
            return _data_of(arguments, name)

        return stored_input(self.build, ("argument", name), name, self.data[name], fetch, storage)

    def body(self, function: MlirFunction, given: Sequence[Held], hosted: Mapping[str, Hosted]) -> list[Held]:
        """What a function returns for some arguments, of which some are known before the run."""
        last = function.body.last
        if last is None or last.name not in ("func.return", "scf.yield"):
            raise self.module.file.error(
                function.at,
                f"'{function.name}' does not end in a return; only functions without branches are read.",
            )
        self.calls += 1
        scope = self.build.scope
        self.build.scope = f"{scope}.{function.name}" if scope else function.name
        frame = Frame(self, function, given, hosted)
        found = [frame.held(name) for name in last.operands]
        self.build.scope = scope
        self.calls -= 1
        return found

    def located(self, at: int, what: str, error: InputError) -> InputError:
        """A refusal with its place."""
        return self.module.file.error(at, f"{what} {str(error).rstrip('.')}.")


class Frame:
    """The values of one call of a function, as operations ask for them.

    Attributes:
        kinds: the types that the text gives.
        hosted: what is known before the run.
    """

    def __init__(
        self, walk: FunctionWalk, function: MlirFunction, given: Sequence[Held], hosted: Mapping[str, Hosted]
    ) -> None:
        self.walk, self.compute, self.moves = walk, walk.compute, walk.compute.moves
        self.hosted = HostedValues(walk.module, function, hosted)
        self.function = function
        names = [name for name, _ in function.arguments]
        self.known: dict[str, Held] = dict(zip(names, given, strict=True))
        self.kinds: dict[str, MlirType] = dict(function.arguments)
        self.made: set[str] = set()
        self.making: set[str] = set()
        self.results: dict[MlirOperation, list[Held]] = {}
        for op in function.body.operations:
            self.made.update(op.results)
            self.kinds.update(zip(op.results, op.gives, strict=False))
        returned = function.body.yields
        self.uses = Counter(name for op in function.body.needed(returned) for name in op.values)
        self.uses.update(returned)

    # Values

    def held(self, name: str) -> Held:
        """What a name stands for."""
        if name not in self.known:
            self.make_all(name)
        return self.known[name]

    def make_all(self, name: str) -> None:
        """Makes a value, and before it in the order of the text all that it depends on: a text may be long,
        and Python's stack is not."""
        if name in self.making:
            raise UnsupportedError(f"needs {name}, which is made of it", "mend the file")
        if name not in self.made:
            raise self.walk.module.file.error(
                self.function.at,
                f"'{self.function.name}' uses {name}, which it does not define; mend the file.",
            )
        label = self.walk.build.result_name
        for op, results in self.steps_to(name):
            for result in results:
                self.making.add(result)
                self.known[result] = self.made_by(op, op.results.index(result))
                self.making.discard(result)
        self.walk.build.result_name = label

    def steps_to(self, name: str) -> Iterator[tuple[MlirOperation, list[str]]]:
        """The operations that a value depends on, and which results of each are still to be made."""
        wanted = {name}
        chosen: list[tuple[MlirOperation, list[str]]] = []
        for op in reversed(self.function.body.operations):
            results = [result for result in op.results if result in wanted and result not in self.known]
            if results:
                chosen.append((op, results))
                # What is known before the run is made where it turns out to be needed.
                known = self.hosted.names if results[0] not in self.hosted.names else ()
                wanted.update(value for value in op.values if value not in known)
        return reversed(chosen)

    def made_by(self, op: MlirOperation, place: int) -> Held:
        """A result of an operation."""
        walk, name = self.walk, op.results[place]
        label = name.lstrip("%").replace("#", "_")
        walk.build.result_name = f"v{label}" if label.isdecimal() else label
        kind = op.gives[place] if place < len(op.gives) else None
        try:
            if op.problem is not None:
                raise Located(op, UnsupportedError("cannot be read", "mend it"))
            if isinstance(kind, TensorType):
                _check_type(kind)
                found = self.counted(op, name, kind) or walk.make(self, op, place)
                self.check_shape(found, kind)
            else:
                found = walk.make(self, op, place)
        except Located as error:
            # What linalg names is made of operations that stand where it does.
            inner = error.operation
            raise self.refused(op if inner.at == op.at else inner, error) from None
        except UnsupportedError as error:
            raise self.refused(op, error) from None
        own = op.attributes.get("library_call")
        if isinstance(found, Value) and isinstance(own, str):
            return walk.compute.tensors.materialized(found, label=own)
        if isinstance(found, Value) and self.uses[name] > 1 and number_of(found.expr) is None:
            return walk.compute.tensors.materialized(found)
        return found

    def refused(self, op: MlirOperation, error: UnsupportedError) -> InputError:
        """A refusal of an operation, where it stands; of one that cannot be read, where that shows."""
        if op.problem is None:
            return self.walk.located(op.at, f"'{op.name}'", error)
        at, message = op.problem
        what = f"'{op.name}' cannot be read: {message}; mend it, or compute it elsewhere."
        return self.walk.module.file.error(at, what)

    def counted(self, op: MlirOperation, name: str, kind: TensorType) -> Held | None:
        """A tensor that numbers of rows and the like decide, as a constant; None for another one."""
        if name not in self.hosted.counts or op.name in ("arith.constant", *EMPTY):
            return None
        held = self.hosted.of(name)
        return None if held is None else constant(self.compute, name[1:], held.example, kind.element)

    def check_shape(self, found: Held, kind: TensorType) -> None:
        """Raises `UnsupportedError` where a value is not of the shape of its type."""
        shape = self.shape(found)
        fits = len(shape) == len(kind.shape)
        if not fits or any(want not in (None, size) for want, size in zip(kind.shape, shape, strict=True)):
            said = "x".join(map(str, shape)) or "a scalar"
            raise UnsupportedError(f"gives {said}, and its type is {kind}", "mend the type, or the data")

    def several(self, op: MlirOperation, make: Callable[[MlirOperation], list[Held]]) -> list[Held]:
        """All results of an operation, made once."""
        if op not in self.results:
            self.results[op] = make(op)
        return self.results[op]

    # What operations ask for

    def value(self, name: str, *, hidden: bool = False) -> Value:
        """A tensor or a number that is set, and unless `hidden` nowhere hidden."""
        found = self.held(name)
        if isinstance(found, Unset):
            if not found.zero:
                self.warn(name)
            return self.compute.uniform(0, found.shape)
        if not hidden:
            check_unmasked(found)
        return found

    def warn(self, name: str) -> None:
        """Says that a value is read that nobody has set."""
        self.walk.notes[f"{name} is read, and nothing has set it: it counts as zero or as nothing."] = None

    def operand(self, op: MlirOperation, place: int) -> str:
        """The name of an operand."""
        if place >= len(op.operands):
            raise UnsupportedError(
                f"takes {len(op.operands)} values, which are too few", "give it the others"
            )
        return op.operands[place]

    def first(self, op: MlirOperation) -> Value:
        """The first operand, which is set."""
        return self.value(self.operand(op, 0))

    def element(self, name: str) -> str:
        """The type of the elements of a value."""
        return element_type(self.kinds.get(name))

    def shape(self, held: Held) -> tuple[int, ...]:
        """The extents."""
        return held.shape if isinstance(held, Unset) else self.walk.build.shape(held)

    def number(self, name: str) -> int:
        """A whole number that is known before the run, such as an extent."""
        found = number_of(self.value(name).expr)
        if found is None or int(found) != found:
            raise UnsupportedError(f"needs {name} as a number, which depends on data", "give a constant")
        return int(found)

    def numbers(self, row: Sequence[Any]) -> list[int]:
        """Numbers, some of them by name."""
        return [item if isinstance(item, int) else self.number(str(item)) for item in row]

    def scalars(
        self, outer: dict[str, Value], extract: Callable[[MlirOperation], Expr] | None = None
    ) -> Scalars:
        """For a body; what it has from outside joins `outer`."""

        def find(name: str) -> Expr:
            value = self.value(name)
            if value.modes:
                raise UnsupportedError(f"uses the whole tensor {name} in its body", "make it an operand")
            if isinstance(value.expr, Literal):
                return value.expr
            outer[name] = value
            made.types[name] = self.element(name)
            return Access(name)

        made = Scalars(self.walk.system, find, extract)
        return made


Make = Callable[[Frame, MlirOperation, int], Held]
"""Makes one of the results of an operation, by its number, in a frame."""


def _check_type(kind: TensorType) -> None:
    check_encoding(kind.encoding)
    if kind.element.startswith(("complex", "!")):
        raise UnsupportedError(
            f"gives elements of the type {kind.element}, for which there is no hardware",
            "compute with real numbers",
        )


def _data_of(arguments: Arguments, name: str) -> HostArray:
    found = arguments[name]
    assert isinstance(found, HostArray)
    return found
