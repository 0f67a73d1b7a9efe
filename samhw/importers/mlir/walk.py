"""Goes through the operations of a function, as far as its results need them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.graph.numerics import ValueType
from samhw.importers.core import Arguments, Build, HostArray, UnsupportedError, Value, check_unmasked
from samhw.importers.mlir.arithmetic import ElementArithmetic
from samhw.importers.mlir.attributes import is_float
from samhw.importers.mlir.compute import Compute, Init
from samhw.importers.mlir.constants import constant, constant_shape, values_of
from samhw.importers.mlir.encodings import Storage, check_encoding, storage_of, stored_input
from samhw.importers.mlir.gathers import gather, gathered
from samhw.importers.mlir.held import Held, Unset
from samhw.importers.mlir.hosted import Hosted, HostedValues, unknown_places
from samhw.importers.mlir.idioms import literal, number_of, simplified
from samhw.importers.mlir.moves import Moves
from samhw.importers.mlir.number_system import NumberSystem
from samhw.importers.mlir.operation import Block, Elements, MlirFunction, MlirModule, MlirOperation, Symbol
from samhw.importers.mlir.scalars import Located, Scalars, Unread, is_elementwise
from samhw.importers.mlir.scatters import scatter
from samhw.importers.mlir.softmax import softmax
from samhw.importers.mlir.structured import Structured, combined, operand_types, structured
from samhw.importers.mlir.tensor_operations import TENSOR_OPERATIONS
from samhw.importers.mlir.types import AffineMap, MlirType, TensorType, element_type
from samhw.lang.expr import Access, Expr, Literal

__all__ = ["FunctionWalk"]

Shape = tuple[int, ...]

_DEEPEST_CALLS = 64
_MOST_ITERATIONS = 1024
"""Of a loop, each of which becomes statements of its own."""
_SAME = frozenset(
    {
        *(
            "tensor.cast",
            "sparse_tensor.convert",
            "sparse_tensor.load",
            "bufferization.materialize_in_destination",
        ),
        *("sparse_tensor.reorder_coo", "tensor.bitcast", "shape.with_shape"),
    }
)
"""What gives what it takes."""
_EMPTY = ("tensor.empty", "bufferization.alloc_tensor", "linalg.init_tensor")


class FunctionWalk:
    """Imports a function of a module.

    Args:
        data: by name, what an argument, or a constant that the text leaves out, has for the run at hand.
        value: what the program is computed in.

    Attributes:
        notes: what is done in another way than the text says, in sentences.
    """

    def __init__(self, module: MlirModule, data: Mapping[str, HostArray], value: ValueType) -> None:
        self.module = module
        self.data = data
        self.build = Build()
        self.notes: dict[str, None] = {}
        self.system = NumberSystem.of(value, lambda note: self.notes.setdefault(note))
        self.compute = Compute(self.build, self.system)
        self.moves = Moves(self.compute)
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
            found = arguments[name[1:]]
            assert isinstance(found, HostArray)
            return found.to_dense()

        return Hosted(self.data[name[1:]].to_dense, fetch, constant=False)

    def argument(self, function: MlirFunction, name: str, kind: MlirType) -> Held:
        """An argument as an input; its data come by its name without the percent sign."""
        try:
            if isinstance(kind, TensorType):
                shape = self.data[name[1:]].shape
                storage = storage_of(kind.encoding, shape)
                self.note(name, storage)
                return self.input(name[1:], storage)
            if name[1:] in self.data:
                return self.input(name[1:], Storage(None))
            return Unset(())
        except UnsupportedError as error:
            raise self.located(function.at, f"The argument {name} of '{function.name}'", error) from None

    def note(self, name: str, storage: Storage) -> None:
        """Says what an encoding does not get."""
        for note in storage.notes:
            self.notes[f"{name}: {note}."] = None

    def input(self, name: str, storage: Storage) -> Value:
        """An input that a run gives data for."""

        def fetch(arguments: Arguments) -> HostArray:
            found = arguments[name]
            assert isinstance(found, HostArray)
            return found

        return stored_input(self.build, ("argument", name), name, self.data[name], fetch, storage)

    def body(self, function: MlirFunction, given: Sequence[Held], hosted: Mapping[str, Hosted]) -> list[Held]:
        """What a function returns for some arguments, of which some are known before the run."""
        self.calls += 1
        last = function.body.last
        if last is None or last.name not in ("return", "func.return", "scf.yield"):
            raise self.module.file.error(
                function.at,
                f"'{function.name}' does not end in a return; only functions without branches are read.",
            )
        scope = self.build.scope
        self.build.scope = f"{scope}.{function.name}" if scope else function.name
        frame = _Frame(self, function, given, hosted)
        found = [frame.held(name) for name in last.operands]
        self.build.scope = scope
        self.calls -= 1
        return found

    def located(self, at: int, what: str, error: InputError) -> InputError:
        """A refusal with its place."""
        return self.module.file.error(at, f"{what} {str(error).rstrip('.')}.")


class _Frame:
    """The values of one call of a function, each made when it is first asked for."""

    def __init__(
        self,
        walk: FunctionWalk,
        function: MlirFunction,
        given: Sequence[Held],
        hosted: Mapping[str, Hosted],
    ) -> None:
        self.walk = walk
        self.hosted = HostedValues(walk.module, function, hosted)
        self.compute, self.moves = walk.compute, walk.moves
        self.function = function
        names = [name for name, _ in function.arguments]
        self.known: dict[str, Held] = dict(zip(names, given, strict=True))
        self.kinds: dict[str, MlirType] = dict(function.arguments)
        self.made: dict[str, MlirOperation] = {}
        self.making: set[str] = set()
        self.results: dict[MlirOperation, list[Held]] = {}
        for op in function.body.operations:
            self.made.update(dict.fromkeys(op.results, op))
            self.kinds.update(zip(op.results, op.gives, strict=False))
        self.uses = Counter(name for op in self.needed() for name in op.values)

    def needed(self) -> Iterator[MlirOperation]:
        """The operations that the results depend on."""
        wanted: set[str] = set()
        last = self.function.body.last
        for op in reversed(self.function.body.operations):
            if op is last or wanted.intersection(op.results):
                wanted.update(op.values)
                yield op

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
        wanted = {name}
        chosen: list[tuple[MlirOperation, list[str]]] = []
        for op in reversed(self.function.body.operations):
            results = [result for result in op.results if result in wanted and result not in self.known]
            if results:
                chosen.append((op, results))
                # What is known before the run is made where it turns out to be needed.
                known = self.hosted.names if results[0] not in self.hosted.names else ()
                wanted.update(value for value in op.values if value not in known)
        label = self.walk.build.result_name
        for op, results in reversed(chosen):
            for result in results:
                self.making.add(result)
                self.known[result] = self.made_by(op, op.results.index(result))
                self.making.discard(result)
        self.walk.build.result_name = label

    def made_by(self, op: MlirOperation, place: int) -> Held:
        """A result of an operation."""
        walk = self.walk
        if op.problem is not None:
            raise walk.module.file.error(
                op.problem[0],
                f"'{op.name}' cannot be read: {op.problem[1]}; mend it, or compute it elsewhere.",
            )
        walk.build.result_name = op.results[place].lstrip("%").replace("#", "_")
        if walk.build.result_name.isdecimal():
            walk.build.result_name = f"v{walk.build.result_name}"
        kind = op.gives[place] if place < len(op.gives) else None
        try:
            if isinstance(kind, TensorType):
                check_encoding(kind.encoding)
                if kind.element.startswith("complex") or kind.element.startswith("!"):
                    raise UnsupportedError(
                        f"gives elements of the type {kind.element}, for which there is no hardware",
                        "compute with real numbers",
                    )
            found = self.counted(op, place, kind) or self.operation(op, place, kind)
            if isinstance(kind, TensorType):
                self.check_shape(found, kind)
        except Located as error:
            raise walk.located(error.operation.at, f"'{error.operation.name}'", error) from None
        except Unread as error:
            at, message = error.operation.problem or (op.at, "")
            raise walk.module.file.error(
                at, f"'{error.operation.name}' cannot be read: {message}; mend it, or compute it elsewhere."
            ) from None
        except UnsupportedError as error:
            raise walk.located(op.at, f"'{op.name}'", error) from None
        own = op.attributes.get("library_call")
        if isinstance(found, Value) and isinstance(own, str):
            return walk.compute.tensors.materialized(found, label=own)
        if isinstance(found, Value) and self.uses[op.results[place]] > 1:
            return walk.compute.tensors.materialized(found) if number_of(found.expr) is None else found
        return found

    def counted(self, op: MlirOperation, place: int, kind: MlirType | None) -> Held | None:
        """A tensor that numbers of rows and the like decide, as a constant; None for another one."""
        name = op.results[place]
        if name not in self.hosted.counts or op.name in ("arith.constant", "constant", *_EMPTY):
            return None
        if not isinstance(kind, TensorType):
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
        """The name of an operand; those of `ins` come before those of `outs`."""
        names = [*op.inputs, *op.outputs] or op.operands
        if place >= len(names):
            raise UnsupportedError(f"takes {len(names)} values, which are too few", "give it the others")
        return names[place]

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

    # Operations

    def operation(self, op: MlirOperation, place: int, kind: MlirType | None) -> Held:
        """What an operation gives."""
        name = op.name
        if name in _EMPTY:
            return self.empty(op, kind)
        if name in _SAME and op.operands:
            held = self.held(self.operand(op, 0))
            taken, gives = (element_type(one) for one in (self.kinds.get(op.operands[0]), kind))
            if taken != gives:
                raise UnsupportedError(
                    f"takes {taken} as {gives}", "cast the elements with operations of arith"
                )
            return held
        if name in ("arith.constant", "constant"):
            return self.constant(op)
        if name in ("call", "func.call"):
            return self.several(op, self.called)[place]
        if name == "scf.for":
            return self.several(op, self.repeated)[place]
        if name == "linalg.fill":
            return self.filled(op)
        if name == "linalg.softmax":
            return softmax(self.compute, self.value(self.operand(op, 0), hidden=True), op)
        if name.startswith("linalg."):
            return self.loops(op, place)
        if is_elementwise(name):
            return self.elements(op, kind)
        if name == "tm_tensor.scatter":
            return scatter(self, op, kind)
        if name == "tensor.gather":
            return gather(self, op, kind)
        if made := TENSOR_OPERATIONS.get(name):
            return made(self, op, kind)
        if name.partition(".")[0] in ("sam", "samml"):
            raise UnsupportedError(
                "is of a dialect of dataflow graphs, which are made here and not read",
                "give the linalg that it comes from",
            )
        raise UnsupportedError("is not imported", "compute it before or after the run, or with linalg")

    def empty(self, op: MlirOperation, kind: MlirType | None) -> Held:
        """A tensor that nothing is in."""
        if not isinstance(kind, TensorType):
            raise UnsupportedError("gives no tensor", "mend its type")
        if op.groups.get("copy"):
            return self.held(op.groups["copy"][0])
        left = iter(op.operands)
        shape = []
        for size in kind.shape:
            if size is None:
                name = next(left, None)
                if name is None:
                    raise UnsupportedError("has an extent that nothing gives", "give it as an operand")
                size = self.number(name)
            shape.append(size)
        return Unset(tuple(shape), kind.encoding is not None)

    def constant(self, op: MlirOperation) -> Held:
        value = op.attributes.get("value")
        if isinstance(value, Elements):
            return self.stored(op, value)
        if isinstance(value, bool):
            return Value((), Literal(int(value)))
        if isinstance(value, int | float):
            return Value((), literal(value))
        raise UnsupportedError("is no number and no tensor", "give one of these")

    def stored(self, op: MlirOperation, held: Elements) -> Held:
        """A tensor that the text holds, or leaves out."""
        name, kind = op.results[0], held.type
        shape = constant_shape(kind)
        storage = storage_of(kind.encoding, shape)
        self.walk.note(name, storage)
        values = values_of(self.walk.module, held)
        if values is None:
            return self.walk.input(elided_name(self.walk.data, name[1:]), storage)
        return constant(self.compute, name[1:], values, kind.element, storage)

    def several(self, op: MlirOperation, make: Callable[[MlirOperation], list[Held]]) -> list[Held]:
        """All results of an operation, made once."""
        if op not in self.results:
            self.results[op] = make(op)
        return self.results[op]

    def repeated(self, op: MlirOperation) -> list[Held]:
        """What a loop leaves of the tensors that it changes: its body, once for each number."""
        block, walk = op.body, self.walk
        inits = [*op.operands[3:], *op.groups.get("iter_args", [])]
        if block is None or len(op.operands) < 3 or len(block.arguments) != 1 + len(inits):
            raise UnsupportedError(
                "is no loop over numbers", "give it a lower bound, an upper one and a step"
            )
        lower, upper, step = (self.number(name) for name in op.operands[:3])
        numbers = range(lower, upper, step) if step > 0 else range(0)
        if step < 1 or len(numbers) > _MOST_ITERATIONS or walk.calls > _DEEPEST_CALLS:
            raise UnsupportedError(
                f"goes from {lower} to {upper} by {step}, and each iteration becomes statements",
                f"go up, at most {_MOST_ITERATIONS} times",
            )
        inside = (name for inner in block.operations for name in inner.values)
        around = list(dict.fromkeys(name for name in inside if name in self.kinds))
        arguments = [*((name, self.kinds[name]) for name in around), *block.arguments]
        outside = {name: held for name in around if (held := self.hosted.of(name)) is not None}
        carried = [self.held(name) for name in inits]
        given = [self.held(name) for name in around]
        for number in numbers:
            function = MlirFunction(f"step{number}", op.at, arguments, op.gives, block)
            hosted = {**outside, block.arguments[0][0]: Hosted.number(number)}
            carried = walk.body(function, [*given, Value((), Literal(number)), *carried], hosted)
        return carried

    def called(self, op: MlirOperation) -> list[Held]:
        """What a function of the same file gives."""
        walk = self.walk
        symbols = [value.name for value in op.attributes.values() if isinstance(value, Symbol)]
        function = walk.module.functions.get(symbols[0]) if symbols else None
        if function is None:
            raise UnsupportedError(
                f"calls '{symbols[0] if symbols else ''}', which the file does not define", "define it"
            )
        if walk.calls > _DEEPEST_CALLS or len(function.arguments) != len(op.operands):
            raise UnsupportedError("calls without an end, or with other arguments", "mend the call")
        names = [name for name, _ in function.arguments]
        hosted = {
            name: held
            for name, own in zip(names, op.operands, strict=True)
            if own in self.hosted.names and (held := self.hosted.of(own)) is not None
        }
        return walk.body(function, [self.held(name) for name in op.operands], hosted)

    def filled(self, op: MlirOperation) -> Held:
        number = self.value(self.operand(op, 0))
        out = self.operand(op, 1)
        shape = self.shape(self.held(out))
        known = number_of(number.expr)
        taken, gives = (element_type(self.kinds.get(self.operand(op, n))) for n in range(2))
        if taken != gives and not (is_float(taken) and is_float(gives)):
            if known is None:
                raise UnsupportedError(f"fills {gives} with {taken}", "cast the number by arith before")
            cast = ElementArithmetic(taken, self.walk.system).cast(literal(known), gives, signed=True)
            known = number_of(simplified(cast))
        if known is not None:
            return self.compute.uniform(known, shape)
        return self.compute.views.expand(number, shape)

    def elements(self, op: MlirOperation, kind: MlirType | None) -> Held:
        """An operation of arith or math, on numbers or on whole tensors."""
        given = [self.value(name, hidden=True) for name in op.operands]
        places = [Access(f"%in{n}") for n in range(len(given))]
        exprs: list[Expr] = [
            value.expr if isinstance(value.expr, Literal) else place
            for value, place in zip(given, places, strict=True)
        ]
        scalars = Scalars(self.walk.system, lambda _: Literal(0))
        for name, place in zip(op.operands, places, strict=True):
            scalars.types[place.tensor] = element_type(self.kinds.get(name))
        made = scalars.operation(op, exprs)
        shapes = [self.shape(value) for value in given]
        shape = max(shapes, key=len, default=())
        rank = len(shape)
        maps = [AffineMap.of_loops(rank, range(len(own))) for own in (*shapes, shape)]
        loops = Structured(tuple(maps), (True,) * rank)
        return self.compute.result(loops, 0, given, [Init(shape)], made, {}, lambda: None)

    # linalg

    def loops(self, op: MlirOperation, place: int) -> Held:
        """A result of an operation of linalg."""
        groups = op.groups if op.groups else {"ins": op.operands[:-1], "outs": op.operands[-1:]}
        names, outs = groups.get("ins", []), groups.get("outs", groups.get("init", []))
        if not outs:
            raise UnsupportedError("writes to nothing", "give it outs")
        given = [self.value(name, hidden=True) for name in names]
        inits = [self.init(name) for name in outs]
        ranks = [len(self.shape(value)) for value in given] + [len(init.shape) for init in inits]
        loops = structured(op, ranks)
        if len(loops.maps) != len(ranks) or any(m.loops != loops.maps[0].loops for m in loops.maps):
            raise UnsupportedError("has not one map for each operand", "mend its maps")
        ins = [Access(f"%in{n}") for n in range(len(given))]
        own = [Access(f"%out{n}") for n in range(len(inits))]
        outer: dict[str, Value] = {}
        where: Expr | None = None
        if loops.combine is not None:
            yielded: Expr | None = self.named(op, loops, [*ins, *own])
        else:
            assert loops.block is not None
            shapes = {name: self.shape(self.held(name)) for name in (*names, *outs)}
            scalars = self.scalars(outer, lambda inner: self.taken(op, inner, shapes, outer))
            yielded = scalars.body(loops.block, [*ins, *own], place)
            where = scalars.stored(loops.block, [*ins, *own], self.sparse(names, loops.block))
        if yielded is None:
            raise UnsupportedError("yields less than it gives", "yield an element for each result")
        return self.compute.result(
            loops,
            place,
            given,
            inits,
            yielded,
            outer,
            lambda: self.warn(outs[place]),
            where=where,
        )

    def named(self, op: MlirOperation, loops: Structured, elements: Sequence[Access]) -> Expr:
        """What a named operation makes of elements."""
        kinds = [element_type(kind) for kind in operand_types(op)]
        if len(kinds) != len(elements):
            raise UnsupportedError("does not give the type of each operand", "mend its types")
        types = {access.tensor: kind for access, kind in zip(elements, kinds, strict=True)}
        return combined(loops, kinds, replace(self.walk.system, types=types), elements)

    def init(self, name: str) -> Init:
        held = self.held(name)
        check_unmasked(held)
        if isinstance(held, Value):
            return Init(self.shape(held), held)
        return Init(held.shape, self.compute.uniform(0, held.shape) if held.zero else None)

    def sparse(self, names: Sequence[str], block: Block) -> set[str]:
        """The arguments of a body whose tensors store only some elements."""
        found = set()
        for name, (argument, _) in zip(names, block.arguments, strict=False):
            kind = self.kinds.get(name)
            if isinstance(kind, TensorType) and kind.stores_some:
                found.add(argument)
        return found

    def taken(
        self, op: MlirOperation, inner: MlirOperation, shapes: Mapping[str, Shape], outer: dict[str, Value]
    ) -> Expr:
        """An element of a tensor in the body of an operation, whose place is known before the run.

        Args:
            shapes: by name, those of the operands.
        """
        source = self.value(inner.operands[0])
        row = inner.lists[0] if inner.lists else inner.operands[1:]
        places = self.hosted.in_body(op, [str(item) for item in row], shapes)
        if places is None or len(row) != len(source.modes):
            raise unknown_places("takes an element at a place")
        (name,) = inner.results
        outer[name] = gathered(self.compute, source, places, len(places.example[0].shape))
        return Access(name)

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
            made.types[name] = element_type(self.kinds.get(name))
            return Access(name)

        made = Scalars(self.walk.system, find, extract)
        return made


def elided_name(data: Mapping[str, HostArray], name: str) -> str:
    """What a constant that the text leaves out is called among the data."""
    if name not in data:
        raise UnsupportedError("has data that the text leaves out", "give them, as in --data NAME=FILE")
    return name
