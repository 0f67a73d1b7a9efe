"""Sparse tensors: storage formats, conversions, files and generators. This package knows nothing of hardware.

A :class:`Format` is a list of level types with a mode order, and has a short name. A :class:`Tensor` is a
shape, a format, one record per level, and the values::

    >>> import numpy as np
    >>> from samhw.tensors import Tensor
    >>> a = Tensor.from_dense(np.array([[0, 5, 0], [0, 0, 0], [7, 0, 8]]), "csr")
    >>> a
    <Tensor 3x3 csr, 3 values of int64>
    >>> a.arrays()
    {'pos1': array([0, 1, 1, 3]), 'crd1': array([1, 0, 2]), 'vals': array([5, 7, 8])}
    >>> a.convert("csc").arrays()["vals"]
    array([7, 5, 8])

Formats by name: ``dense``, ``csr``, ``csc``, ``dcsr``, ``dcsc``, ``coo``, ``csf``, ``ragged``, ``ell(w)``,
``dia``, ``bcsr(b)``, ``scalar``, or level by level, ``(dense, compressed, singleton)``; with a mode order,
``csf @ (2, 0, 1)``.
"""

from samhw.tensors.formats import Format, LevelType, StoredLevel
from samhw.tensors.generate import block_diagonal_graph, karate, power_law_graph, random_tensor, uniform_graph
from samhw.tensors.io import (
    check_form,
    is_archive,
    is_dataset,
    read_dataset,
    read_tensor,
    read_tensors,
    write_tensor,
    write_tensors,
)
from samhw.tensors.pytorch import check_layout as check_torch_layout
from samhw.tensors.stand_ins import STAND_INS, stand_in
from samhw.tensors.tensor import Tensor
from samhw.tensors.voxels import KernelMap, SparseConvolution, kernel_map
from samhw.tensors.zeros import Zeros, zeros_of

__all__ = [
    "STAND_INS",
    "Format",
    "KernelMap",
    "LevelType",
    "SparseConvolution",
    "StoredLevel",
    "Tensor",
    "Zeros",
    "block_diagonal_graph",
    "check_form",
    "check_torch_layout",
    "is_archive",
    "is_dataset",
    "karate",
    "kernel_map",
    "power_law_graph",
    "random_tensor",
    "read_dataset",
    "read_tensor",
    "read_tensors",
    "stand_in",
    "uniform_graph",
    "write_tensor",
    "write_tensors",
    "zeros_of",
]
