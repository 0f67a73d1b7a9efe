"""Directories of the SAM project's form: one text file per stored array, one number a line.

For a tensor B there are ``tensor_B_mode_shape`` and ``tensor_B_mode_vals``, and for each mode that is
compressed ``tensor_B_mode_0_seg`` (our ``pos``) and ``tensor_B_mode_0_crd``. The number is that of the
tensor's mode, not of the level. A dense mode has no file.

SAM's files do not tell the mode order. We add a file ``tensor_B_mode_format``, which SAM ignores, and where
it is missing deduce the order from the lengths of the arrays. A singleton mode, which SAM lacks, has a
``crd`` file alone.
"""

import os
import re
import shutil
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.files import temporary_beside
from samhw.tensors.formats import Format, level_type
from samhw.tensors.io.text import TextFile, read_table, write_rows
from samhw.tensors.tensor import Tensor

__all__ = ["read", "write"]

# Our names of the stored arrays, and SAM's.
_KINDS = {"pos": "seg", "crd": "crd"}

_LEVELS = {(): "dense", ("pos", "crd"): "compressed", ("crd",): "singleton"}
"""The levels that a directory has a form for, by the arrays that it then has."""


def read(path: Path, name: str | None) -> Tensor:
    """Read the tensor of that name, or the only one."""
    name = _find(path, name)
    prefix = path / f"tensor_{name}_mode"
    shape = tuple(_read_array(Path(f"{prefix}_shape")).tolist())
    vals = _read_array(Path(f"{prefix}_vals"))
    stored: list[dict[str, npt.NDArray[Any]]] = []
    for mode in range(len(shape)):
        files = {kind: Path(f"{prefix}_{mode}_{suffix}") for kind, suffix in _KINDS.items()}
        stored.append({kind: _read_array(file) for kind, file in files.items() if file.exists()})
    format_file = Path(f"{prefix}_format")
    try:
        if format_file.exists():
            format = Format.parse(format_file.read_text(errors="replace").strip(), len(shape))
        else:
            format = _deduce_format(shape, stored, vals)
        arrays = {"vals": vals}
        for level, mode in enumerate(format.level_modes):
            arrays |= {f"{kind}{level}": array for kind, array in stored[mode].items()}
        return Tensor.from_arrays(shape, format, arrays)
    except InputError as error:
        raise InputError(f"{path}, tensor {name}: {error}") from error


def write(path: Path, tensor: Tensor, name: str) -> None:
    """Write the tensor under that name, instead of an earlier one of that name."""
    if not re.fullmatch(r"\w+", name):
        raise InputError(f"{name!r} cannot name a tensor in a file name: use letters, digits and '_'")
    if tensor.format.block is not None:
        raise InputError(f"{path}: a directory has no form for blocks: convert the tensor to csr first")
    if not {str(level) for level in tensor.format.levels} <= set(_LEVELS.values()):
        raise InputError(
            f"{path}: a directory has no form for {tensor.format} levels: convert the tensor to csr first"
        )
    prefix = f"tensor_{name}_mode"
    texts = {
        f"{prefix}_format": f"{tensor.format}\n".encode(),
        f"{prefix}_shape": write_rows(np.array(tensor.shape, np.int64)),
    }
    for key, array in tensor.arrays().items():
        kind, level = key[:3], key[3:]
        suffix = "vals" if key == "vals" else f"{tensor.format.mode_order[int(level)]}_{_KINDS[kind]}"
        texts[f"{prefix}_{suffix}"] = write_rows(array)
    # Whatever can fail happens in a directory beside; only renames touch the one that is meant.
    staging = temporary_beside(path)
    staging.mkdir()
    try:
        for file_name, text in texts.items():
            (staging / file_name).write_bytes(text)
        if not path.exists():
            staging.rename(path)
            return
        for file_name in texts:
            os.replace(staging / file_name, path / file_name)
        for file in path.glob(f"{prefix}_*"):
            belongs = re.fullmatch(r"\d+_(seg|crd)", file.name.removeprefix(f"{prefix}_"))
            if belongs and file.name not in texts:
                file.unlink()
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _find(path: Path, name: str | None) -> str:
    files = path.glob("tensor_*_mode_shape")
    names = sorted(file.name.removeprefix("tensor_").removesuffix("_mode_shape") for file in files)
    if not names:
        raise InputError(f"{path} holds no tensor: a file such as tensor_B_mode_shape is missing")
    if name is None:
        if len(names) > 1:
            raise InputError(f"{path} holds the tensors {', '.join(names)}: name one of them")
        return names[0]
    if name not in names:
        raise InputError(f"{path} holds no tensor {name}: it has {', '.join(names)}")
    return name


def _read_array(path: Path) -> npt.NDArray[Any]:
    if not path.exists():
        raise InputError(f"{path} is missing")
    return read_table(TextFile(path)).rows.reshape(-1)


def _deduce_format(
    shape: tuple[int, ...], stored: list[dict[str, npt.NDArray[Any]]], vals: npt.NDArray[Any]
) -> Format:
    """The format whose arrays have these lengths. Where several mode orders fit, the natural one is meant."""
    types = []
    for mode, arrays in enumerate(stored):
        if "pos" in arrays and "crd" not in arrays:
            raise InputError(f"mode {mode} has a seg file but no crd file")
        types.append(level_type(_LEVELS[tuple(arrays)]))

    def fits(order: tuple[int, ...]) -> bool:
        count = 1
        for mode in order:
            if types[mode].is_full:
                count *= shape[mode]
                continue
            positions = len(stored[mode]["crd"])
            parents = len(stored[mode]["pos"]) - 1 if "pos" in stored[mode] else positions
            if parents != count:
                return False
            count = positions
        return count == len(vals)

    orders = [order for order in permutations(range(len(shape))) if fits(order)]
    natural = tuple(range(len(shape)))
    if not orders:
        raise InputError("no mode order fits the lengths of the seg, crd and vals files")
    if natural not in orders and len(orders) > 1:
        raise InputError("several mode orders fit the files: add a tensor_..._mode_format file to name one")
    order = natural if natural in orders else orders[0]
    return Format(tuple(types[mode] for mode in order), order)
