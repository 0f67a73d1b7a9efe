"""A function of a file in MLIR as a program."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.graph.numerics import Float, Integer, ValueType
from samhw.importers.core import (
    Build,
    Emitted,
    HostArray,
    InputSource,
    PlacedResult,
    Value,
    as_results,
    emit,
    input_sources,
    placed_result,
)
from samhw.importers.mlir.frame import FunctionWalk, Held, Unset
from samhw.importers.mlir.lowered_functions import with_erf
from samhw.importers.mlir.op_values import make_result
from samhw.importers.mlir.operation import MlirFunction, MlirModule, MlirOperation
from samhw.importers.mlir.types import MlirType, TensorType, element_type
from samhw.importers.mlir.whole_numbers import is_float, is_integer
from samhw.lang.expr import Access, Literal
from samhw.lang.program import Program
from samhw.names import plain
from samhw.tensors import Tensor
from samhw.words import did_you_mean

__all__ = ["ImportedFunction", "choose_function", "element_of", "import_function"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class MlirResult:
    """A result of a function: one of the program; or a number all over a shape."""

    source: PlacedResult | tuple[float, tuple[int, ...]]

    @property
    def is_computed(self) -> bool:
        """Whether the program computes it."""
        return isinstance(self.source, PlacedResult)

    def of(self, tensors: Mapping[str, npt.NDArray[np.generic]]) -> Array:
        """The array that the function gives, of those of the program."""
        if isinstance(self.source, PlacedResult):
            return np.asarray(self.source.of(tensors), np.float64)
        number, shape = self.source
        return np.full(shape, number)


@dataclass(frozen=True)
class ImportedFunction:
    """A function as a program.

    Attributes:
        inputs: how each input of the program is made of the arguments.
        outputs: the results of the function, in its order.
        scopes: by result, the functions that compute it.
        notes: what is done in another way than the text says, in sentences.
        element: the value type that the function computes in: `f32`, `bf16`, `f16` or `i32`.
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
    called = {op.callee for f in found for op in f.body.operations if op.name == "func.call"}
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
    return any(map(_is_computed, function.results)) and all(
        _is_computed(kind) for _, kind in function.arguments
    )


def _is_computed(kind: MlirType) -> bool:
    """Whether a program computes with what is of a type."""
    return isinstance(kind, TensorType) or is_float(str(kind)) or is_integer(str(kind))


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
    walk = FunctionWalk(
        module, data, value or (Integer(32) if element == "i32" else Float(element)), make_result
    )
    given = zip(walk.run(function), function.results, strict=False)
    found = [held for held, kind in given if _is_computed(kind)]
    for held in found:
        if isinstance(held, Value) and held.mask is not None:
            raise module.file.error(
                function.at,
                f"'{function.name}' returns what is -inf at places; return it before it is masked.",
            )
    build = walk.build
    build.scope, build.result_name = "", "result"
    values = [held for held in found if isinstance(held, Value)]
    made = iter(as_results(build, walk.compute.tensors, values, "result"))
    results = [next(made) if isinstance(held, Value) else held for held in found]
    exprs = [held.expr for held in results if isinstance(held, Value)]
    computed = [expr.tensor for expr in exprs if isinstance(expr, Access)]
    if not computed:
        raise module.file.error(
            function.at, f"'{function.name}' computes nothing of its arguments; there is nothing to compile."
        )
    for statement in build.statements:
        statement.rhs = with_erf(statement.rhs)
    emitted = emit(build, plain(function.name) or "module", computed)
    return ImportedFunction(
        emitted.program,
        input_sources(build, emitted),
        [_result(build, held, emitted) for held in results],
        emitted.scopes,
        (*walk.notes, *more),
        element,
    )


def _result(build: Build, held: Held, emitted: Emitted) -> MlirResult:
    """A result, with its modes as the program stores them."""
    if isinstance(held, Unset):
        return MlirResult((0.0, held.shape))
    if isinstance(held.expr, Literal):
        return MlirResult((float(held.expr.value), build.shape(held)))
    return MlirResult(placed_result(build, held, emitted))


def element_of(module: MlirModule, function: MlirFunction) -> tuple[str, list[str]]:
    """The value type that a function computes in, and what of the text's types it changes."""
    kinds = [kind for _, kind in function.arguments] + list(function.results)
    for op in function.body.operations:
        kinds += op.gives
    computed = (op for op in _reached(module, function) if op.name != "arith.constant")
    inside = [kind for op in computed for kind in op.gives]
    names = sorted({element_type(kind) for kind in kinds})
    floats = sorted(
        {name for name in map(element_type, inside) if is_float(name)} | set(filter(is_float, names))
    )
    if floats in (["bf16"], ["f16"]):
        return floats[0], []
    if floats:
        others = [name for name in floats if name != "f32"]
        return "f32", [f"What the text has in {name} is computed in f32." for name in others]
    wide = [name for name in names if name in ("i64", "ui64")]
    return "i32", [f"What the text has in {name} is computed in i32." for name in wide]


def _reached(module: MlirModule, function: MlirFunction) -> Iterator[MlirOperation]:
    """The operations of a function, those in others and in functions that it calls too."""
    left, seen = [function], {function.name}
    while left:
        for op in left.pop().body.inner:
            yield op
            if op.callee in module.functions and op.callee not in seen:
                seen.add(op.callee)
                left.append(module.functions[op.callee])
