"""What a module and its arguments may hold: ordinary numbers, in sparse layouts that are whole; and the
formats that users ask for, which stay with the tensor."""

import warnings
from collections.abc import Sequence

import torch
from torch import nn
from torch.export import ExportedProgram

from samhw.errors import InputError, shown
from samhw.tensors import Format, check_torch_layout

__all__ = ["annotate", "annotation_of", "check_arguments", "check_module", "module_of"]

_INTEGERS = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
_DTYPES = (*_INTEGERS, torch.float16, torch.bfloat16, torch.float32, torch.float64)


def check_arguments(arguments: Sequence[object]) -> None:
    """Raises `InputError` for what no module can be traced with, and no values come from."""
    found = torch.utils._pytree.tree_leaves(tuple(arguments))
    for leaf in found:
        if isinstance(leaf, torch.Tensor):
            _check_tensor(leaf, "An argument")
            if leaf.is_complex():
                raise InputError(
                    f"An argument is complex ({leaf.dtype}), and inputs are real; give it as "
                    "torch.view_as_real(z), and have the module begin with torch.view_as_complex."
                )
            if leaf.dtype not in _DTYPES:
                raise InputError(f"An argument is of {leaf.dtype}; give numbers that NumPy has too.")
        elif not isinstance(leaf, bool | int | float | str | None):
            raise InputError(
                f"An argument is {shown(leaf)}; give tensors of PyTorch, as torch.as_tensor makes them of "
                "arrays, or numbers, which are constants."
            )
    if not any(isinstance(leaf, torch.Tensor) for leaf in found):
        raise InputError(
            "None of the arguments is a tensor, and all else is a constant of the module; give a tensor, "
            "such as torch.tensor(3) for 3."
        )


def module_of(given: object) -> nn.Module:
    """The module that somebody gives, as such or already exported; raises `InputError` for anything else."""
    if isinstance(given, ExportedProgram):
        with warnings.catch_warnings(action="ignore", category=FutureWarning):  # Of PyTorch about itself.
            given = given.module()
    if not isinstance(given, nn.Module):
        raise InputError(
            f"The module cannot be {shown(given)}; give a module of PyTorch, or what torch.export makes of "
            "one."
        )
    return given


def check_module(module: nn.Module) -> None:
    """Raises `InputError` for parameters and buffers that have no values, or a damaged layout, and for
    modules that PyTorch cannot export."""
    for path, part in module.named_modules():
        if type(part).__module__.startswith(_PACKED):
            raise InputError(
                f"'{path or type(part).__name__}' is a quantised {type(part).__name__} of PyTorch's eager "
                "mode, which packs its weights so that torch.export cannot read them; quantise the module by "
                "torchao.quantization.pt2e (prepare_pt2e, convert_pt2e), or by torchao's quantize_."
            )
    for name, tensor in (*module.named_parameters(), *module.named_buffers()):
        _check_tensor(tensor, f"'{name}'")


_PACKED = ("torch.ao.nn.quantized", "torch.ao.nn.intrinsic.quantized", "torch.ao.nn.sparse.quantized")
"""Where the modules are that `quantize_dynamic` and `convert` put into the place of others."""


def _check_tensor(tensor: torch.Tensor, what: str) -> None:
    if tensor.is_meta:
        raise InputError(f"{what} is on the device 'meta' and has no values; make it on the device 'cpu'.")
    if tensor.is_nested:
        raise InputError(f"{what} is a nested tensor; give a tensor with one extent for each dimension.")
    if tensor.is_quantized:
        raise InputError(f"{what} is of {tensor.dtype}; give its dequantize().")
    if tensor.is_floating_point() and tensor.dtype.itemsize == 1:
        raise InputError(f"{what} is of {tensor.dtype}; give it as torch.float32.")
    if tensor.layout != torch.strided and tensor.dense_dim():
        raise InputError(
            f"{what} is a sparse tensor with dense dimensions, which are not stored as such; give "
            "its to_dense().to_sparse()."
        )
    try:
        check_torch_layout(tensor)
    except InputError as error:
        raise InputError(f"{what} is {error}.") from None


_ATTRIBUTE = "_samhw_format"


def annotate(tensor: torch.Tensor, format: str) -> None:
    """Asks for a parameter, buffer or argument to be stored in a format, in the words of a declaration, by
    PyTorch's modes: `annotate(model.fc1.weight, "csr")`.

    Raises:
        InputError: for a format that there is not, of another number of modes than the tensor, or in blocks.
    """
    found = Format.parse(format, tensor.dim())
    if found.block is not None:
        raise InputError(f"The format {format} is stored in blocks, which are not compiled; use csr.")
    setattr(tensor, _ATTRIBUTE, format)


def annotation_of(tensor: torch.Tensor) -> str | None:
    """The format that was asked for."""
    return getattr(tensor, _ATTRIBUTE, None)
