"""Systems of linear equations, inverses and factors of small matrices, a column at a time."""

import torch
from torch import Tensor

from samhw.importers.core import UnsupportedError
from samhw.importers.torch.own_operators import alone
from samhw.importers.torch.registry import decomposition

__all__: list[str] = []

MOST = 16
"""Columns: each is a step with statements of its own."""


def columns(a: Tensor) -> range:
    """Those of a matrix, or of each of a batch."""
    size = a.shape[-1]
    if size > MOST:
        raise UnsupportedError(
            f"eliminates {size} columns one after another, and at most {MOST} are unrolled",
            f"give matrices of up to {MOST} columns, or do this before or after the run",
        )
    return range(size)


def at_place(n: int, size: int) -> Tensor:
    """A one at a place."""
    return (torch.arange(size) == n).float()


def info(a: Tensor) -> Tensor:
    """That nothing has gone wrong: a matrix that has no inverse gives infinities and NaN."""
    return torch.zeros(a.shape[:-2], dtype=torch.int32)


def eliminated(a: Tensor, b: Tensor) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    """The solution of a x = b by Gauss and Jordan; the pivots, and for each a one at its row.

    The pivot of a column is the greatest of the rows that have not been any; rows stay where they are.
    """
    size = a.shape[-1]
    used = torch.zeros(a.shape[:-1])
    pivots, rows = [], []
    for n in columns(a):
        column = a[..., n]
        best = torch.where(used > 0, -1.0, column.abs()).argmax(-1, keepdim=True)
        row = (torch.arange(size) == best).to(a.dtype)
        pivot = (row * column).sum(-1)
        # Of the row itself this leaves its share of the pivot.
        rest = alone((column - row) / pivot.unsqueeze(-1)).unsqueeze(-1)
        a, b = (alone(x - rest * (row.unsqueeze(-1) * x).sum(-2, keepdim=True)) for x in (a, b))
        used = used + row
        pivots.append(pivot)
        rows.append(row)
    return torch.stack([(row.unsqueeze(-1) * b).sum(-2) for row in rows], -2), pivots, rows


@decomposition("linalg_solve_ex")
def solve(a: Tensor, b: Tensor, *, left: bool = True, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    is_vector = b.dim() == 1 or b.shape == a.shape[:-1]
    right = b.unsqueeze(-1) if is_vector else b
    if not left:
        a, right = a.mT, right.mT
    found = eliminated(a, right)[0]
    found = found if left else found.mT
    return found.squeeze(-1) if is_vector else found, info(a)


@decomposition("_linalg_solve_ex")
def solve_with_factors(a: Tensor, b: Tensor, **named: bool) -> tuple[Tensor, None, None, Tensor]:
    found, told = solve(a, b, **named)
    return found, None, None, told


@decomposition("linalg_inv_ex")
def inv(a: Tensor, *, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    return eliminated(a, torch.eye(a.shape[-1]).expand(a.shape))[0], info(a)


def determinant(a: Tensor) -> tuple[list[Tensor], Tensor]:
    """Pivots, and whether their rows are in an order of even (1) or odd (-1) parity."""
    _, pivots, rows = eliminated(a, a)
    places = [(row * torch.arange(a.shape[-1])).sum(-1) for row in rows]
    sign = torch.ones(a.shape[:-2])
    for n, place in enumerate(places):
        for before in places[:n]:
            sign = torch.where(before > place, -sign, sign)
    return pivots, sign


@decomposition("_linalg_det")
def det(a: Tensor) -> tuple[Tensor, None, None]:
    pivots, found = determinant(a)
    for pivot in pivots:
        found = found * pivot
    return found, None, None


@decomposition("_linalg_slogdet")
def slogdet(a: Tensor) -> tuple[Tensor, Tensor, None, None]:
    pivots, sign = determinant(a)
    held = torch.stack(pivots, -1)
    return sign * held.sign().prod(-1), held.abs().log().sum(-1), None, None


@decomposition("linalg_cholesky_ex")
def cholesky(a: Tensor, *, upper: bool = False, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    """What is left of the matrix loses the square of each column that has been found."""
    found, left = [], a
    for n in columns(a):
        below = (torch.arange(a.shape[-1]) >= n).to(a.dtype)
        column = alone(left[..., n] * below * left[..., n, n].rsqrt().unsqueeze(-1))
        left = alone(left - column.unsqueeze(-1) * column.unsqueeze(-2))
        found.append(column)
    return torch.stack(found, -2 if upper else -1), info(a)


def substituted(a: Tensor, b: Tensor, *, upper: bool, unit: bool) -> Tensor:
    """The solution of a x = b for a triangle."""
    found: dict[int, Tensor] = {}
    steps = columns(a)
    for n in reversed(steps) if upper else steps:
        row = b[..., n, :]
        found[n] = alone(row if unit else row / a[..., n, n].unsqueeze(-1))
        beyond = (torch.arange(len(steps)) < n if upper else torch.arange(len(steps)) > n).to(a.dtype)
        b = alone(b - (a[..., n] * beyond).unsqueeze(-1) * found[n].unsqueeze(-2))
    return torch.stack([found[n] for n in steps], -2)


@decomposition("linalg_solve_triangular")
def solve_triangular(
    a: Tensor, b: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    if left:
        return substituted(a, b, upper=upper, unit=unitriangular)
    return substituted(a.mT, b.mT, upper=not upper, unit=unitriangular).mT


@decomposition("triangular_solve")
def triangular_solve(
    b: Tensor, a: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    turned, is_upper = (a.mT, not upper) if transpose else (a, upper)
    return substituted(turned, b, upper=is_upper, unit=unitriangular), a


@decomposition("cholesky_solve", "_cholesky_solve_helper")
def cholesky_solve(b: Tensor, a: Tensor, upper: bool = False) -> Tensor:
    lower = a.mT if upper else a
    half = substituted(lower, b, upper=False, unit=False)
    return substituted(lower.mT, half, upper=True, unit=False)


@decomposition("cholesky_inverse")
def cholesky_inverse(a: Tensor, upper: bool = False) -> Tensor:
    return cholesky_solve(torch.eye(a.shape[-1]).expand(a.shape), a, upper)
