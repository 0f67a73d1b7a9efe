"""A function of a file in MLIR as a program."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.frontend.expr import Access, Literal
from samhw.frontend.program import Program
from samhw.importers.core import Build, Emitted, HostArray, InputSource, Value, emit, input_sources
from samhw.importers.mlir.attributes import is_float, is_integer
from samhw.importers.mlir.held import Held, Unset
from samhw.importers.mlir.idioms import with_erf
from samhw.importers.mlir.operation import MlirFunction, MlirModule, MlirOperation, Symbol
from samhw.importers.mlir.types import MlirType, TensorType, element_type
from samhw.importers.mlir.walk import FunctionWalk
from samhw.names import plain
from samhw.numerics import Float, Integer, ValueType
from samhw.suggestion import did_you_mean
from samhw.tensors import Tensor

__all__ = ["ImportedFunction", "choose_function", "element_of", "import_function"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class MlirResult:
    """A result of a function: a tensor of the program, its modes as it is stored and as the function has
    them; or one number all over."""

    name: str | None
    shape: tuple[int, ...]
    order: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    atoms: tuple[int, ...] = ()
    number: float = 0.0

    def of(self, tensors: Mapping[str, npt.NDArray[np.generic]]) -> Array:
        """The array that the function gives, of those of the program."""
        if self.name is None:
            return np.full(self.shape, self.number)
        array = np.asarray(tensors[self.name], np.float64).transpose(self.order).reshape(self.sizes)
        return np.broadcast_to(array, self.atoms).reshape(self.shape)


@dataclass(frozen=True)
class ImportedFunction:
    """A function as a program.

    Attributes:
        inputs: how each input of the program is made of the arguments.
        outputs: the results of the function, in its order.
        scopes: by result, the functions that compute it.
        notes: what is done in another way than the text says, in sentences.
        element: the value type that the function computes in: `f32`, `bf16` or `i32`.
    """

    program: Program
    inputs: Mapping[str, InputSource]
    outputs: Sequence[MlirResult]
    scopes: Mapping[str, str]
    notes: tuple[str, ...]
    element: str

    def tensors(self, data: Mapping[str, HostArray]) -> dict[str, Tensor]:
        """The program's inputs, of the data of the arguments."""
        return {name: source.of(data) for name, source in self.inputs.items()}


def choose_function(module: MlirModule, name: str | None) -> MlirFunction:
    """The function of that name; without one, the only function that gives tensors and that no other one
    calls.

    Raises:
        InputError: where there is none, or more than one.
    """
    file, functions = module.file, module.functions
    if name is not None:
        if name not in functions:
            meant = did_you_mean(name, functions) or (f"; it has {', '.join(functions)}" if functions else "")
            raise InputError(f"{file.name} defines no function '{name}'{meant}.")
        return functions[name]
    found = [f for f in functions.values() if gives_tensors(f) and not f.private]
    found = found or [f for f in functions.values() if gives_tensors(f)]
    called = {
        value.name
        for f in found
        for op in f.body.operations
        for value in op.attributes.values()
        if op.name in ("call", "func.call") and hasattr(value, "name")
    }
    roots = [f for f in found if f.name not in called] or found
    if not roots:
        raise InputError(f"{file.name} defines no function that gives a tensor; there is nothing to compile.")
    if len(roots) > 1:
        names = ", ".join(f.name for f in roots)
        raise InputError(
            f"{file.name} defines several functions ({names}); name one: {file.name}:{roots[0].name}."
        )
    return roots[0]


def gives_tensors(function: MlirFunction) -> bool:
    """Whether a function computes tensors or numbers, and takes nothing else."""
    kinds = [kind for _, kind in function.arguments]
    given = [kind for kind in function.results if isinstance(kind, TensorType) or _is_number(kind)]
    return bool(given) and all(isinstance(kind, TensorType) or _is_number(kind) for kind in kinds)


def _is_number(kind: MlirType) -> bool:
    return is_float(str(kind)) or is_integer(str(kind))


def import_function(
    module: MlirModule, function: MlirFunction, data: Mapping[str, HostArray], value: ValueType | None = None
) -> ImportedFunction:
    """A function as a program, for data of these shapes.

    Args:
        value: what the program is to be computed in; by default what the types of the text say.

    Raises:
        InputError: for a function that cannot be imported, with the place of the operation and a way out.
    """
    element, more = element_of(module, function)
    walk = FunctionWalk(module, data, value or (Integer(32) if element == "i32" else Float(element)))
    given = zip(walk.run(function), function.results, strict=False)
    found = [held for held, kind in given if isinstance(kind, TensorType) or _is_number(kind)]
    outputs = _Outputs(walk)
    for held in found:
        if isinstance(held, Value) and held.mask is not None:
            raise module.file.error(
                function.at,
                f"'{function.name}' returns what is -inf at places; return it before it is masked.",
            )
        outputs.add(held)
    if not outputs.computed:
        raise module.file.error(
            function.at, f"'{function.name}' computes nothing of its arguments; there is nothing to compile."
        )
    build = walk.build
    for made in build.statements:
        made.rhs = with_erf(made.rhs)
    emitted = emit(build, plain(function.name) or "module", [access.tensor for access, _ in outputs.computed])
    program = emitted.program
    return ImportedFunction(
        program,
        input_sources(build, emitted),
        outputs.placed(emitted),
        emitted.scopes,
        (*walk.notes, *more),
        element,
    )


class _Outputs:
    """Collects the results of a function."""

    def __init__(self, walk: FunctionWalk) -> None:
        self.walk = walk
        self.computed: list[tuple[Access, Value]] = []
        self._found: list[MlirResult | int] = []

    def add(self, held: Held) -> None:
        """Adds one; one that is computed gets a statement that nobody else reads."""
        build = self.walk.build
        if isinstance(held, Unset):
            self._found.append(MlirResult(None, held.shape))
            return
        build.scope, build.result_name = "", "result"
        value = self.walk.compute.tensors.materialized(held)
        if isinstance(value.expr, Literal):
            self._found.append(MlirResult(None, build.shape(value), number=float(value.expr.value)))
            return
        access = value.expr
        assert isinstance(access, Access)
        read = {a.tensor for made in build.statements for a in made.reads}
        taken = {other.tensor for other, _ in self.computed}
        if access.tensor in read | taken or build.stored[access.tensor].fetch is not None:
            access = build.statement(access.names, access, label="result")
        self._found.append(len(self.computed))
        self.computed.append((access, value))

    def placed(self, emitted: Emitted) -> list[MlirResult]:
        """The results, with their modes as the program stores them."""
        return [
            held if isinstance(held, MlirResult) else _placed(self.walk.build, *self.computed[held], emitted)
            for held in self._found
        ]


def _placed(build: Build, access: Access, value: Value, emitted: Emitted) -> MlirResult:
    axes = build.axes
    place = emitted.placed[access.tensor]
    own = axes.resolved(build.stored[access.tensor].modes)
    theirs = dict(zip(own, axes.resolved(access.names), strict=True))
    stored = [theirs[index] for index in place.indices]
    indices = axes.resolved(value.indices)
    return MlirResult(
        access.tensor,
        build.shape(value),
        tuple(stored.index(index) for index in indices if index in stored),
        tuple(axes.size([index]) if index in stored else 1 for index in indices),
        tuple(axes.size([index]) for index in indices),
    )


def element_of(module: MlirModule, function: MlirFunction) -> tuple[str, list[str]]:
    """The value type that a function computes in, and what of the text's types it changes."""
    kinds = [kind for _, kind in function.arguments] + list(function.results)
    for op in function.body.operations:
        kinds += op.gives
    computed = (op for op in _reached(module, function) if op.name not in ("arith.constant", "constant"))
    inside = [kind for op in computed for kind in op.gives]
    names = sorted({element_type(kind) for kind in kinds})
    floats = sorted(
        {name for name in map(element_type, inside) if is_float(name)} | set(filter(is_float, names))
    )
    if floats and [name for name in names if is_float(name)] == ["bf16"]:
        return "bf16", []
    if floats:
        others = [name for name in floats if name != "f32"]
        return "f32", [f"What the text has in {name} is computed in f32." for name in others]
    wide = [name for name in names if name in ("i64", "ui64")]
    return "i32", [f"What the text has in {name} is computed in i32." for name in wide]


def _reached(module: MlirModule, function: MlirFunction) -> Iterator[MlirOperation]:
    """The operations of a function, those in others and in functions that it calls too."""
    left = list(function.body.operations)
    seen = {function.name}
    while left:
        op = left.pop()
        yield op
        left += [inner for blocks in op.regions.values() for block in blocks for inner in block.operations]
        for symbol in op.attributes.values():
            if isinstance(symbol, Symbol) and symbol.name in module.functions and symbol.name not in seen:
                seen.add(symbol.name)
                left += module.functions[symbol.name].body.operations
