"""Sums with terms that are added once, and with masks within, in every mode: against NumPy."""

from collections.abc import Callable

import numpy as np
import pytest

import samhw

HEAD = {
    "A": "tensor A[i, k] : {format}",
    "B": "tensor B[i] : dense",
    "M": "tensor M[i] : (compressed)",
    "N": "tensor N[i, k] : {format}",
}
SUMS = {
    "T[i] = A[i, k]\nY[i] = A[i, k] * T[i] + B[i] - 1": lambda a, b, m, n: a.sum(1) ** 2 + b - 1,
    "T[i] = A[i, k]\nY[i] = A[i, k] * T[i] - B[i] + A[i, k] + T[i]": lambda a, b, m, n: (
        a.sum(1) ** 2 + 2 * a.sum(1) - b
    ),
    "T[i] = A[i, k]\nY[i] = A[i, k] * T[i] + A[i, k] - B[i] where M[i]": lambda a, b, m, n: (
        (a.sum(1) ** 2 + a.sum(1) - b) * (m != 0)
    ),
    "T[i] max= A[i, k]\nE[i, k] = A[i, k] - T[i]\nY[i] = E[i, k] * E[i, k] + 3": lambda a, b, m, n: (
        ((a - a.max(1, keepdims=True)) ** 2).sum(1) + 3
    ),
    "T[i] = A[i, k]\nS[i] = A[i, k] * T[i] - B[i]\nY[i] = A[i, k] * S[i] - 4": lambda a, b, m, n: (
        a.sum(1) * (a.sum(1) ** 2 - b) - 4
    ),
    # T counts all points, and E those of the mask.
    "T[i] = A[i, k]\nE[i, k] = A[i, k] - T[i] where N[i, k]\nY[i] = B[i] - E[i, k] * A[i, k]": (
        lambda a, b, m, n: b - ((a - a.sum(1, keepdims=True)) * (n != 0) * a).sum(1)
    ),
    "T[i] = A[i, k]\nE[i, k] = A[i, k] - T[i] where N[i, k]\nY[i] = E[i, k] * A[i, k] - A[i, k] * T[i]": (
        lambda a, b, m, n: (
            ((a - a.sum(1, keepdims=True)) * (n != 0) * a).sum(1) - a.sum(1) ** 2
        )
    ),
}  # fmt: skip
Meaning = Callable[..., np.ndarray]


@pytest.mark.parametrize("mode", ["deferred", "rescaled", "finite"])
@pytest.mark.parametrize("format", ["dense", "dcsr"])
@pytest.mark.parametrize(("text", "meaning"), SUMS.items())
def test_a_term_is_added_as_often_as_the_program_says(
    text: str, meaning: Meaning, format: str, mode: str
) -> None:
    rng = np.random.default_rng(7)
    data = {
        "A": rng.integers(-3, 4, (3, 4)) * (rng.random((3, 4)) < 0.6),
        "B": rng.integers(-3, 4, 3),
        "M": np.array([1, 0, 2]),
        "N": rng.integers(0, 2, (3, 4)),
    }
    used = [name for name in data if f"{name}[" in text]
    head = "".join(f"{HEAD[name].format(format=format)}\n" for name in used)
    schedule = {"fuse": "full", "cascade": mode, "permute": True}
    result = samhw.compile(f"index i=3, k=4\n{head}{text}", schedule=schedule, value="i32").run(
        {name: data[name] for name in used}
    )
    np.testing.assert_array_equal(result.tensors["Y"].to_dense(), meaning(*data.values()))
    result.check()
