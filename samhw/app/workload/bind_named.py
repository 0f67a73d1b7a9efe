"""Programs by what a user calls them, on data."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.app.workload.agreement import greatest_difference, in_float64, parts_of
from samhw.app.workload.bind import make_workload
from samhw.app.workload.workload import (
    DEFAULT,
    SYNTHETIC,
    Workload,
    check_free,
    check_known,
    short_name,
    synthetic,
)
from samhw.compiler import AUTO
from samhw.errors import InputError
from samhw.graph.numerics import ValueType
from samhw.lang import (
    Example,
    MlirFile,
    Named,
    OnnxFile,
    Program,
    load_model,
    load_named,
    model_data,
    model_names,
)
from samhw.lang.nested import ListType, LoweredFunction, NestedTensor, lowered, nested_tensor, trace
from samhw.lang.nested import evaluate as evaluate_nested
from samhw.lang.reference import Bounded
from samhw.lang.typed import with_types
from samhw.tensors import Tensor, is_dataset, karate, read_dataset, read_tensor

__all__ = ["bind_program", "is_nested", "make_model_workload", "make_nested_workload"]

# Data for a built-in model.


LONGEST = 20
"""Digits of a number in `random:..`."""

_ROLES = {"adjacency": "A", "features": "X", "input": "X", "mask": "M"}
"""The tensors that models make of those of a data set."""


def make_model_workload(name: str, data: Sequence[str] = DEFAULT) -> Workload:
    """A built-in model on data.

    Args:
        data: `karate`; `random` or `random:i=32,seed=1` with sizes by index name; a graph's file, or a data
            set with its features; `NAME=FILE` for single tensors; or `synthetic:cora`. What is not given
            is drawn. `auto` is `karate` for a model that reads a graph, else `random`.

    Raises:
        InputError: as `make_workload` does.
    """
    program = load_model(name)
    reads_graph = any(decl.name == "A" for decl in program.inputs)
    data = [("karate" if reads_graph else "random") if spec == AUTO else spec for spec in data]
    seed = 0
    sizes: dict[str, int] = {}
    given: dict[str, Tensor] = {}
    roles: dict[str, Tensor] = {}
    taken: set[str] = set()
    for spec in data:
        key, equals, path = spec.partition("=")
        if spec.partition(":")[0] == "random":
            for item, number in _settings(spec):
                if item == "seed":
                    seed = number
                else:
                    sizes[item] = number
            continue
        if equals and key.isidentifier():
            program.check_operand(key)
            check_free(key, taken)
            taken.add(key)
            given[key] = read_tensor(Path(path))
            continue
        found = _by_role(spec) if spec != "karate" or reads_graph else {}
        for role, tensor in found.items():
            check_free(_ROLES[role], taken)
            taken.add(_ROLES[role])
            roles[role] = tensor
    if "mask" in roles:
        program.check_operand("M")
        given["M"] = roles["mask"]
    tensors = model_data(
        name,
        graph=roles.get("adjacency"),
        features=roles.get("features", roles.get("input")),
        given=given,
        sizes=sizes,
        seed=seed,
    )
    program = program.bind({key: tensor.shape for key, tensor in tensors.items()})
    return Workload("+".join(short_name(spec) for spec in data), program, tensors)


def _by_role(spec: str) -> dict[str, Tensor]:
    """The tensors of a `--data` that names none: those of a data set, or a graph alone."""
    if spec == "karate":
        return {"adjacency": karate()}
    if spec.partition(":")[0] == SYNTHETIC:
        return synthetic(spec)
    check_known(spec)
    if is_dataset(Path(spec)):
        return read_dataset(Path(spec))
    return {"adjacency": read_tensor(Path(spec))}


def _settings(spec: str) -> Iterator[tuple[str, int]]:
    """The settings of `random:a=1,b=2`."""
    for item in filter(None, spec.partition(":")[2].split(",")):
        key, _, text = item.partition("=")
        if not text.isdecimal() or len(text) > LONGEST:
            raise InputError(
                f"--data {spec}: '{text}' is no whole number of up to {LONGEST} digits for {key}."
            )
        yield key, int(text)


# A function of nested lists on its arguments, and the comparison with the function itself.


def is_nested(given: object) -> bool:
    """Whether what a user's function gives is a function of nested lists with its arguments, or a lowered one
    with them: some of these are lists, or types of lists."""
    match given:
        case (function, tuple() | list() as arguments) if callable(function):
            return any(isinstance(argument, NestedTensor | ListType) for argument in arguments)
        case (LoweredFunction(), tuple() | list()):
            return True
    return False


def make_nested_workload(example: Example, given: Any) -> Workload:
    """A function of nested lists as a program, on its arguments. Of an argument that is a `ListType` the data
    are random: multiples of 1/16 between -1 and 1.

    Args:
        example: whose function has given `given`, which is as `is_nested` says.

    Raises:
        InputError: for a function that cannot be traced or lowered, with the line of the user's file, or
            arguments that do not fit it.
    """
    function, arguments = given
    found: LoweredFunction = example.script.function(
        lambda: function if isinstance(function, LoweredFunction) else lowered(trace(function, *arguments))
    )()
    rng = np.random.default_rng(0)
    lists = [_drawn(rng, value) if isinstance(value, ListType) else value for value in arguments]
    tensors = {
        name: Tensor.from_dense(array, found.program.tensors[name].format)
        for name, array in found.inputs(*lists).items()
    }
    program = found.program.bind({name: tensor.shape for name, tensor in tensors.items()})

    def oracle() -> float:
        return _difference(found, lists, tensors)

    return Workload("example", program, tensors, oracle)


def _drawn(rng: np.random.Generator, kind: ListType) -> NestedTensor | npt.NDArray[Any]:
    array = rng.integers(-16, 17, (*kind.extents, *kind.shape)) / 16
    return nested_tensor(array, len(kind.extents)) if kind.extents else array


def _difference(found: LoweredFunction, lists: Sequence[Any], tensors: dict[str, Tensor]) -> float:
    """How far the program is from the function, both in float64.

    Raises:
        RunError: where that is more than rounding explains.
    """
    parts = parts_of(in_float64(found.program, tensors))
    wanted = _parts(evaluate_nested(found.function, *lists))
    worst = 0.0
    for value, bound, is_open, theirs in zip(
        *(_parts(found.results(part)) for part in parts), wanted, strict=True
    ):
        # Both round, and each in its own order.
        ours = Bounded(value, bound, is_open > 0)
        worst = max(worst, greatest_difference(ours, theirs, name=found.function.name, scale=4))
    return worst


def _parts(value: Any) -> list[npt.NDArray[Any]]:
    parts = value if isinstance(value, tuple) else (value,)
    return [np.asarray(getattr(part, "array", part), float) for part in parts]


def bind_program(
    spec: str,
    data: Sequence[str] = DEFAULT,
    *,
    value: ValueType | None = None,
    types: Mapping[str, ValueType] | None = None,
    loaded: Named | None = None,
) -> Workload:
    """The program that `spec` names (`load_named`), a built-in model or any other one, on data; a module of
    PyTorch, or a function of nested lists, on its example arguments; a file in MLIR on data for its
    function's arguments, and one in ONNX for its inputs.

    Args:
        types: of tensors, instead of those that it gives them.
        loaded: what `load_named` gave, where it was asked already.

    Raises:
        InputError: as `load_named` and `make_workload` do.
    """
    if spec in model_names():
        return make_model_workload(spec, data).with_types(types or {})
    found = loaded or load_named(spec)
    if isinstance(found, Program):
        return make_workload(with_types(found, types or {}), data, value=value)
    return _made(spec, data, value, found).with_types(types or {})


def _made(
    spec: str, data: Sequence[str], value: ValueType | None, found: Example | MlirFile | OnnxFile
) -> Workload:
    """What a program is made of, on data."""
    if isinstance(found, MlirFile):
        # Imported here, as few programs are in MLIR, and its reader is large.
        from samhw.app.workload.mlir import make_mlir_workload

        return make_mlir_workload(found, data, value=value)
    if isinstance(found, OnnxFile):
        return _onnx(found, data, value)
    if tuple(data) != DEFAULT:
        raise InputError(f"'{spec}' has its own data, the example arguments that it gives; leave out --data.")
    given = found.function()
    # Imported here, as few programs are nested lists.
    from samhw.app.workload.bind_named import is_nested, make_nested_workload

    if is_nested(given):
        return make_nested_workload(found, given)
    # Imported here, since nothing else needs PyTorch, which takes longer than all else.
    try:
        from samhw.app.workload.torch_module import make_module_workload
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise InputError(
            f"'{spec}' is a function, whose module needs PyTorch; install it with pip install 'samhw[torch]'."
        ) from None

    return make_module_workload(spec, found, given)


def _onnx(file: OnnxFile, data: Sequence[str], value: ValueType | None) -> Workload:
    # Imported here, since nothing else needs the package of ONNX.
    try:
        from samhw.app.workload.onnx_model import make_onnx_workload
    except ModuleNotFoundError as error:
        if error.name not in ("onnx", "ml_dtypes"):
            raise
        raise InputError(
            f"'{file.path}' is read with the package of ONNX; install it with pip install 'samhw[onnx]'."
        ) from None
    return make_onnx_workload(file, data, value=value)
