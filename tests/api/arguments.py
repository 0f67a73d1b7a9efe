"""Random arguments for the Python interface: what it is made for, what is nearly that, and anything else."""

import itertools
import random
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from samhw.choices.schedule import Schedule
from samhw.graph import DDR4, Arch
from samhw.lang import ProgramBuilder, load_kernel
from samhw.tensors import Format, Tensor

__all__ = ["anything", "array", "damaged_scipy", "data", "one_of", "scipy_sparse", "torch_tensor"]

DTYPES = (
    *("?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "e", "f", "d", "g", "F", "D", "G"),
    *(">i4", ">f8", "S3", "U2", "O", "M8[s]", "m8[s]", "V4", "i4,f8"),
)
TORCH_DTYPES = sorted({d for d in vars(torch).values() if isinstance(d, torch.dtype)}, key=str)
TORCH_LAYOUTS = ("strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc")
KINDS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")
TEXTS = (
    *("", "auto", "i32", "f32", "fixed<8,4>", "csr", "dense", "csf @ (1, 0)", "full", "none", "partial"),
    *("module", "sim", "hls", "verilator", "ddr4", "hbm2", "vitis", "samhw", "spmv", "A", "i", "\0", "x=y"),
    *("y[i] = a[i]", "T[i,j] = A[i,k] * X[k,j]", "p.ein", "no.toml", "q.py:z", "\udcff", "0", "nan", "-"),
)


SINGLE = (
    *(True, False, 0, 1, -1, 3, 5, 2**70, 10**400, 0.5, float("nan"), float("inf"), 1j, Decimal(3)),
    *(Fraction(1, 3), b"", b"\xff", bytearray(b"a"), range(3), object(), int, len, ..., NotImplemented),
    *(Path("p.ein"), Path("no"), Path("/"), Path(), Path("\0")),
)


def one_of(rng: random.Random, *choices: Callable[[random.Random], Any]) -> Any:
    """One of several draws."""
    return rng.choice(choices)(rng)


def array(rng: random.Random, shape: tuple[int, ...] | None = None) -> Any:
    """A NumPy array of any dtype and kind; of that shape, mostly."""
    if shape is None or rng.random() < 0.1:
        shape = tuple(rng.randrange(4) for _ in range(rng.randrange(4)))
    dtype = rng.choice(DTYPES)
    numbers = np.array([rng.randrange(-4, 5) * (rng.random() < 0.6) for _ in range(int(np.prod(shape)))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if dtype in ("V4", "i4,f8"):
            made = np.zeros(shape, dtype)
        else:
            made = np.abs(numbers).astype(dtype).reshape(shape)
    if made.dtype.kind == "f" and made.size and rng.random() < 0.2:
        made.flat[rng.randrange(made.size)] = rng.choice([np.nan, np.inf, -np.inf, 0.5, 1e30])
    return rng.choice(
        [
            lambda: made,
            lambda: made.tolist(),
            lambda: np.asfortranarray(made),
            lambda: made.view(np.recarray),
            lambda: np.ma.masked_array(made, mask=rng.random() < 0.5),
            lambda: np.ma.masked_array(made, mask=np.arange(made.size).reshape(made.shape) % 3 == 0),
            lambda: [np.ma.masked_array(row) for row in made] if made.ndim else made,
            lambda: np.matrix(made) if 0 < made.ndim < 3 else made,
            lambda: made[..., ::-1] if made.ndim else made,
            lambda: made[()] if not made.ndim else made,
            lambda: np.array(made, dtype=np.dtypes.StringDType()) if made.dtype.kind in "US" else made,
        ]
    )()


def scipy_sparse(rng: random.Random, shape: tuple[int, ...] = (4, 3)) -> Any:
    """A SciPy sparse array or matrix of any kind."""
    dense = array_of_numbers(rng, shape)
    kind = rng.choice(KINDS)
    if not shape:
        return dense
    if len(shape) != 2:
        kinds = ("coo", "csr", "dok") if len(shape) == 1 else ("coo",)
        return getattr(sp, f"{rng.choice(kinds)}_array")(dense)
    suffix = rng.choice(["array", "matrix"])
    if kind == "bsr" and shape[0] % 2 == 0:
        return getattr(sp, f"bsr_{suffix}")(dense, blocksize=(2, 1))
    return getattr(sp, f"{kind}_{suffix}")(dense)


def array_of_numbers(rng: random.Random, shape: tuple[int, ...]) -> Any:
    """An array of a dtype that sparse matrices have, too."""
    numbers = [rng.randrange(5) * (rng.random() < 0.5) for _ in range(int(np.prod(shape)))]
    return np.array(numbers).reshape(shape).astype(rng.choice(["?", "b", "H", "i", "q", "f", "d", "D"]))


def damaged_scipy(rng: random.Random, shape: tuple[int, ...] = (4, 3)) -> Any:
    """A SciPy sparse matrix, one array of which is not what it was."""
    matrix = scipy_sparse(rng, shape)
    if not shape:
        return matrix
    match matrix.format:
        case "csr" | "csc" | "bsr":
            name = rng.choice(["indptr", "indices", "data"])
            setattr(matrix, name, damaged(rng, getattr(matrix, name)))
        case "coo":
            coords = list(matrix.coords)
            mode = rng.randrange(len(coords))
            coords[mode] = damaged(rng, coords[mode])
            matrix.coords = tuple(coords)
        case "dia":
            name = rng.choice(["offsets", "data"])
            setattr(matrix, name, damaged(rng, getattr(matrix, name)))
        case "lil":
            lists = getattr(matrix, rng.choice(["rows", "data"]))
            lists[rng.randrange(len(lists))] = rng.choice([[], [9], [-1, 0], [0, 1, 2, 3], None, 3, ["a"]])
        case "dok":
            matrix._dict[rng.choice([(9, 9), (-1, 0), (0,), 3, "a", (0, 0, 0)])] = 1
    return matrix


def damaged(rng: random.Random, held: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array that is not what it was."""
    held = held.copy()
    match rng.randrange(6):
        case 0 if held.size:
            held.flat[rng.randrange(held.size)] = rng.choice([-1, 100, 127])
        case 1:
            held = held[: rng.randrange(len(held) + 1)]
        case 2:
            held = np.concatenate([held, held])
        case 3:
            held = held.astype(rng.choice(["f", "O", "S2", "u1", "i1"]))
        case 4:
            held = held[::-1]
        case 5:
            held = held.reshape(1, *held.shape)
    return held


def torch_tensor(rng: random.Random, shape: tuple[int, ...] = (4, 3)) -> Any:
    """A PyTorch tensor of any dtype, layout and device; None where PyTorch makes no such."""
    numbers = torch.tensor([rng.randrange(5) * (rng.random() < 0.5) for _ in range(int(np.prod(shape)))])
    try:
        made = numbers.reshape(shape).to(rng.choice(TORCH_DTYPES))
    except (RuntimeError, TypeError):
        made = numbers.reshape(shape)
    layout = rng.choice(TORCH_LAYOUTS)
    try:
        match rng.randrange(10):
            case 0:
                return made.to("meta")
            case 1:
                return torch.quantize_per_tensor(made.float(), 0.5, 0, torch.qint8)
            case 2 if made.is_floating_point():
                return made.requires_grad_()
            case 3:
                return torch.nested.nested_tensor([made, made])
            case 4:
                return made.to(torch.complex64).conj().imag
            case 5 | 6 | 7:
                if layout != "strided":
                    block = (2, 1) if layout.startswith("sparse_bs") else None
                    made = made.to_sparse(layout=getattr(torch, layout), blocksize=block)
                return damaged_torch(rng, made) if rng.random() < 0.4 else made
    except (RuntimeError, TypeError, NotImplementedError, ValueError, IndexError):
        pass
    return made


def damaged_torch(rng: random.Random, tensor: Any) -> Any:
    """A sparse tensor whose indices are wrong, as PyTorch makes it without a word."""
    if tensor.layout == torch.sparse_coo:
        indices = tensor._indices() + rng.choice([-1, 3, 100])
        return torch.sparse_coo_tensor(indices, tensor._values(), tensor.shape, check_invariants=False)
    if tensor.layout == torch.strided:
        return tensor
    by_rows = tensor.layout in (torch.sparse_csr, torch.sparse_bsr)
    pos = (tensor.crow_indices() if by_rows else tensor.ccol_indices()).clone()
    crd = (tensor.col_indices() if by_rows else tensor.row_indices()).clone()
    if rng.random() < 0.5 or not len(crd):
        pos[rng.randrange(len(pos))] = rng.choice([-1, 1, 100])
    else:
        crd[rng.randrange(len(crd))] = rng.choice([-1, 100])
    return torch.sparse_compressed_tensor(
        pos, crd, tensor.values(), tensor.shape, layout=tensor.layout, check_invariants=False
    )


def data(rng: random.Random, shape: tuple[int, ...]) -> Any:
    """What may be meant as the data of a tensor of that shape, and what may not."""
    return one_of(
        rng,
        lambda r: array(r, shape),
        lambda r: array(r, shape),
        lambda r: array_of_numbers(r, shape),
        lambda r: scipy_sparse(r, shape),
        lambda r: damaged_scipy(r, shape),
        lambda r: torch_tensor(r, shape),
        lambda r: torch_tensor(r, shape),
        lambda r: Tensor.from_dense(abs(array_of_numbers(r, shape)).astype(int), "dense"),
        anything,
    )


def anything(rng: random.Random, depth: int = 2) -> Any:
    """A value of any type."""
    inner = [anything(rng, depth - 1) for _ in range(rng.randrange(3))] if depth else []
    names = [rng.choice(["A", "X", "i", "T", "fuse", "slack", "f32", "name", "preset", ""]) for _ in inner]
    return one_of(
        rng,
        lambda _: None,
        lambda r: r.choice(SINGLE),
        lambda r: r.choice(TEXTS),
        lambda _: inner,
        lambda _: tuple(inner),
        lambda _: dict(zip(names, inner, strict=True)),
        lambda _: dict(zip(range(9), inner, strict=False)),
        lambda _: {len(inner), "a"},
        lambda _: iter(inner),
        lambda r: np.dtype(r.choice(["i", "f", "?", "e", "Q"])).type(r.randrange(2)),
        lambda r: array(r),
        lambda r: scipy_sparse(r),
        lambda r: torch_tensor(r),
        lambda r: r.choice(
            [Arch(), DDR4, Schedule(), Schedule(fuse="full"), Format.parse("csr", 2), np.float32]
        ),
        lambda r: r.choice([load_kernel("spmv"), ProgramBuilder("p"), Tensor.from_dense([1], "dense")]),
        lambda r: r.choice([torch.nn.ReLU(), torch.nn.Linear(3, 2), torch.float32, itertools]),
    )
