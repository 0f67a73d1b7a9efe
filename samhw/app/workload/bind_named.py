"""Programs by what a user calls them, on data."""

from collections.abc import Mapping, Sequence

from samhw.app.workload.bind import make_workload
from samhw.app.workload.model_data import make_model_workload
from samhw.app.workload.workload import DEFAULT, Workload
from samhw.errors import InputError
from samhw.graph.numerics import ValueType
from samhw.lang import Example, MlirFile, Named, OnnxFile, Program, load_named, model_names
from samhw.lang.typed import with_types

__all__ = ["bind_program"]


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
    from samhw.app.workload.nested import is_nested, make_nested_workload

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
