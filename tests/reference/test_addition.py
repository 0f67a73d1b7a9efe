"""Sums of relations: as NumPy adds dense arrays, at a cost that follows what is stored."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.lang import parse
from samhw.lang.reference import evaluate_program, evaluate_with_bounds
from samhw.lang.reference.bounds import Rounding, RunningError
from samhw.lang.reference.relation import Array
from samhw.tensors import Tensor

SHAPE = (12, 9)
FORMATS = ("csr", "dcsr", "dense", "csc")


def text(formats: list[str], signs: list[int]) -> str:
    """A sum of tensors, signed."""
    lines = [f"tensor A{n}[i, j] : {fmt}" for n, fmt in enumerate(formats)]
    terms = "".join(f" {'+' if sign > 0 else '-'} A{n}[i, j]" for n, sign in enumerate(signs))
    return "\n".join([*lines, "tensor T[i, j] : csr", f"T[i, j] = {terms.removeprefix(' +')}\n"])


@given(data=st.data(), seed=st.integers(0, 1 << 30))
def test_random_sums(data: st.DataObject, seed: int) -> None:
    """Values to the bit, and bounds that hold for rounded sums, left to right."""
    rng = np.random.default_rng(seed)
    formats = data.draw(st.lists(st.sampled_from(FORMATS), min_size=2, max_size=7))
    signs = [1, *(data.draw(st.sampled_from((1, -1))) for _ in formats[1:])]
    dense = [rng.integers(-4, 5, SHAPE) * (rng.random(SHAPE) < rng.choice([0.1, 0.2, 0.9])) for _ in formats]
    program = parse(text(formats, signs))
    tensors = {
        f"A{n}": Tensor.from_dense(array.astype(float), fmt)
        for n, (array, fmt) in enumerate(zip(dense, formats, strict=True))
    }
    wanted = sum(sign * array for sign, array in zip(signs, dense, strict=True))
    assert np.array_equal(evaluate_program(program, tensors)["T"], wanted)

    scaled = {name: (tensor.to_dense() / 3).astype(np.float32) for name, tensor in tensors.items()}
    total = scaled["A0"]
    for n, sign in enumerate(signs[1:], 1):
        total = total + np.float32(sign) * scaled[f"A{n}"]
    stored = {name: Tensor.from_dense(a.astype(float), tensors[name].format) for name, a in scaled.items()}
    found = evaluate_with_bounds(program, stored, Rounding.floating(23))["T"]
    assert (np.abs(found.value - total) <= found.bound).all()


@pytest.mark.parametrize("count", [8, 40])
def test_parts_that_do_not_meet_are_not_added(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """And their sum is exact."""
    seen = 0
    add = RunningError.add

    def counted(self: RunningError, a: Array, b: Array) -> Array:
        nonlocal seen
        seen += a.size
        return add(self, a, b)

    monkeypatch.setattr(RunningError, "add", counted)
    rng = np.random.default_rng(0)
    whole = rng.random((200, 4)).astype(np.float32).astype(float)
    program = parse(text(["dcsr"] * count, [1] * count))
    tensors = {}
    for n in range(count):
        part = np.zeros_like(whole)
        part[n::count] = whole[n::count]
        tensors[f"A{n}"] = Tensor.from_dense(part, "dcsr")
    found = evaluate_with_bounds(program, tensors, Rounding.floating(23))["T"]
    assert not seen
    assert np.array_equal(found.value, whole)
    assert not found.bound.any()
