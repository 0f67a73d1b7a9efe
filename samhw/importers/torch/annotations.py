"""Formats that users ask for: they stay with the tensor."""

from torch import Tensor

from samhw.errors import InputError
from samhw.tensors import Format

__all__ = ["annotate", "annotation_of"]

_ATTRIBUTE = "_samhw_format"


def annotate(tensor: Tensor, format: str) -> None:
    """Asks for a parameter, buffer or argument to be stored in a format, in the words of a declaration, by
    PyTorch's modes: `annotate(model.fc1.weight, "csr")`.

    Raises:
        InputError: for a format that it cannot have.
    """
    found = Format.parse(format, tensor.dim())
    if found.block is not None:
        raise InputError(f"The format {format} is stored in blocks, which are not compiled; use csr.")
    setattr(tensor, _ATTRIBUTE, format)


def annotation_of(tensor: Tensor) -> str | None:
    """The format that was asked for."""
    return getattr(tensor, _ATTRIBUTE, None)
