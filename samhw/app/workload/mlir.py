"""A function of a file in MLIR on data, and the comparison with what it means operation by operation."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from samhw.app.workload.agreement import SINGLE, exactly, greatest_difference, in_float64, parts_of
from samhw.app.workload.bind import make_workload
from samhw.app.workload.workload import DEFAULT, Workload
from samhw.compiler import asked_type
from samhw.errors import InputError
from samhw.files import check_readable, reason
from samhw.graph.numerics import ValueType
from samhw.importers.core import HostArray
from samhw.importers.mlir import (
    FunctionInputs,
    ImportedFunction,
    MlirFunction,
    MlirModule,
    TooLargeError,
    choose_function,
    import_function,
    inputs_of,
    interpret,
    read_module,
    width_of,
    words_of_data,
)
from samhw.lang import MlirFile, Program, parse
from samhw.lang.reference import Bounded
from samhw.names import Names
from samhw.tensors import Tensor

__all__ = ["make_mlir_workload"]


def make_mlir_workload(
    file: MlirFile, data: Sequence[str] = DEFAULT, *, value: ValueType | None = None
) -> Workload:
    """A function of a file in MLIR as a program, on data.

    Args:
        data: as for `make_workload`, by the names of the function's arguments, and of constants that the
            file leaves out. What none of them names is random.
        value: the value type; by default that of the file's types.

    Raises:
        InputError: for a file that cannot be read, a function that cannot be imported, with the place of the
            operation, or data that do not fit.
    """
    module = read_module(_text(file), file.path)
    function = choose_function(module, file.function)
    return workload_of(module, function, data, value=value)


def workload_of(
    module: MlirModule,
    function: MlirFunction,
    data: Sequence[str] = DEFAULT,
    *,
    value: ValueType | None = None,
) -> Workload:
    """A function of a module that has been read, as `make_mlir_workload` gives it."""
    inputs = inputs_of(module, function)
    names = {name: _name(name) for name in inputs.types}
    chosen = value or asked_type(_element(inputs))
    bound = _bound(function.name, inputs, names, data, chosen)
    given = {name for name in names if any(spec.startswith(f"{names[name]}=") for spec in data)}
    held: dict[str, HostArray] = {}
    for name, kind in inputs.types.items():
        array = _array(bound.tensors[names[name]], kind.element)
        if name in inputs.counts and name not in given:
            # Drawn numbers, of which each is to be a place.
            array = replace(array, values=np.abs(array.values).astype(np.int64) % inputs.places)
        held[name] = _words(name, array, kind.element, drawn=name not in given)
    imported = import_function(module, function, held, value)
    tensors = imported.tensors(held)
    program = imported.program.bind({name: tensor.shape for name, tensor in tensors.items()})
    program = replace(program, value=asked_type(imported.element))

    def oracle() -> float | None:
        return difference(module, function, imported, held, tensors)

    drawn = [name for name in inputs.elided if name not in given]
    notes = imported.notes
    if drawn:
        notes = (f"The file leaves out the data of {', '.join(drawn)}, which are random here.", *notes)
    return Workload(bound.name, program, tensors, oracle, imported.scopes, notes=notes)


def _bound(
    name: str, inputs: FunctionInputs, names: Mapping[str, str], data: Sequence[str], value: ValueType | None
) -> Workload:
    """The arguments of a function on data."""
    if not inputs.types:
        return Workload("no data", Program(name, {}, ()), {})
    text = _declared(inputs, names, value, windows=_is_random(data))
    return make_workload(parse(text, name), data, value=value)


def _text(file: MlirFile) -> str:
    try:
        return check_readable(Path(file.path)).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"Cannot read {file.path} ({reason(error)}); give a file in MLIR.") from None
    except UnicodeDecodeError:
        raise InputError(f"{file.path} is no text, as MLIR's bytecode is not; write it as text.") from None


def _name(name: str) -> str:
    """What data are called by on the command line: a name of the language."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name)
    plain = f"v{plain}" if plain[:1].isdigit() or not plain else plain
    return f"{plain}_" if plain in ("tensor", "fuse", "where", "order", "value") else plain


def _element(inputs: FunctionInputs) -> str:
    """The value type for which random data are drawn."""
    return "f32" if any("f" in kind.element for kind in inputs.types.values()) else "i32"


def _is_random(data: Sequence[str]) -> bool:
    return all(spec in DEFAULT or spec.partition(":")[0] == "random" for spec in data)


def _declared(
    inputs: FunctionInputs, names: Mapping[str, str], value: ValueType | None, *, windows: bool
) -> str:
    """The text of a program that reads the arguments, in statements that give dimensions of one extent one
    index: what data are bound to."""
    extents = dict(inputs.extents) | (inputs.windows if windows else {})
    lines = [] if value is None else [f"value {value.name}"]
    fresh = Names(names.values())
    places: dict[str, list[tuple[str, int]]] = {}
    for name, kind in inputs.types.items():
        rank = len(kind.shape)
        modes = []
        for dim in range(rank):
            label = inputs.groups[name, dim]
            places.setdefault(label, []).append((name, dim))
            size = extents.get(label)
            modes.append(f"m{dim}" if size is None else f"m{dim}={size}")
        fmt = ("csr" if rank == 2 else "csf") if kind.stores_some and rank else "dense"
        row = f"[{', '.join(modes)}]" if modes else ""
        lines.append(f"tensor {names[name]}{row} : {fmt}")
        lines.append(_reading(fresh.fresh("use"), [(names[name], [f"m{dim}" for dim in range(rank)])]))
    for row_of in places.values():
        for (one, a), (other, b) in pairwise(row_of):
            left = [f"p{dim}" for dim in range(len(inputs.types[one].shape))]
            right = [f"q{dim}" for dim in range(len(inputs.types[other].shape))]
            right[b] = left[a]
            lines.append(_reading(fresh.fresh("use"), [(names[one], left), (names[other], right)]))
    return "\n".join(lines)


def _reading(result: str, read: Sequence[tuple[str, Sequence[str]]]) -> str:
    """A statement that reads tensors, and stores one number; its operands are no weights of a sum."""

    def access(name: str, row: Sequence[str]) -> str:
        return f"{name}[{', '.join(row)}]" if row else name

    return f"{result} max= {' * '.join(access(name, row) for name, row in read)}"


def _array(tensor: Tensor, element: str) -> HostArray:
    """The data of an argument."""
    if tensor.format.is_sparse:
        coords, vals = tensor.to_coo()
        held = HostArray(tensor.shape, vals, coords)
    else:
        held = HostArray.dense(tensor.to_dense())
    if element == "i1":
        return replace(held, values=(held.values != 0).astype(np.int64))
    return held


def _words(name: str, array: HostArray, element: str, *, drawn: bool) -> HostArray:
    """Data of whole numbers as a program has the words of their type; drawn ones lose their fractions."""
    values = np.trunc(array.values) if drawn and width_of(element) is not None else array.values
    try:
        return replace(array, values=words_of_data(values, element))
    except ValueError as error:
        raise InputError(
            f"The argument %{name} is of {element}, and its data have {error}; give whole numbers of it."
        ) from None


def difference(
    module: MlirModule,
    function: MlirFunction,
    imported: ImportedFunction,
    data: Mapping[str, HostArray],
    tensors: Mapping[str, Tensor],
) -> float | None:
    """How far the program is from what the function means, both in float64; None where that takes too long to
    find out.

    Raises:
        RunError: where an element is further than rounding in f32 explains.
    """
    try:
        wanted = interpret(
            module, function, {name: np.asarray(held.to_dense(), np.float64) for name, held in data.items()}
        )
    except TooLargeError:
        return None
    # Whole numbers are exact; the program's constants are rounded to f32.
    scale = 4 if imported.element == "i32" else SINGLE
    parts = parts_of(in_float64(imported.program, tensors))
    worst = 0.0
    for output, theirs in zip(imported.outputs, wanted, strict=False):
        value, bound, is_open = (output.of(part) for part in parts)
        found = Bounded(value, bound, is_open > 0) if output.is_computed else exactly(value)
        worst = max(worst, greatest_difference(found, theirs, name=imported.program.name, scale=scale))
    return worst
