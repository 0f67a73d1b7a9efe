"""Tensors in files: Matrix Market, FROSTT, NumPy archives, and the SAM project's directories."""

from samhw.tensors.io.dataset import is_dataset, read_dataset
from samhw.tensors.io.file_formats import check_form, read_tensor, write_tensor
from samhw.tensors.io.npz import is_archive, read_tensors, write_tensors

__all__ = [
    "check_form",
    "is_archive",
    "is_dataset",
    "read_dataset",
    "read_tensor",
    "read_tensors",
    "write_tensor",
    "write_tensors",
]
