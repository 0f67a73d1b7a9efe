"""Damaged levels, given straight to the memories: simulator, RTL and HLS end with the same error.

A coordinate is changed at random: beyond the extent, equal to its neighbour, or out of order. Whether that is
an error, and which, is worked out from the words.

A long run on demand: SAMHW_RANDOM_DAMAGE=2000 python -m pytest tests/agreement/test_damaged.py
"""

import os
from collections.abc import Mapping
from contextlib import nullcontext
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from samhw.compiler import Compiled
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError, RunError
from samhw.graph.numerics import Words
from samhw.graph.widths import index_bits
from samhw.lang import parse
from samhw.sim import simulate
from samhw.targets.running.csim import HlsDesign
from samhw.targets.running.driver import VerilatedDesign
from samhw.targets.running.images import load_inputs
from samhw.tensors import Tensor
from tests.support.thorough import sample

RANDOM = int(os.environ.get("SAMHW_RANDOM_DAMAGE", "60"))
ROWS, COLUMNS, MOST = 6, 9, 12
"""The extents of a run, and the greatest of the build."""

PROGRAMS = {
    "copy": "tensor A[i, j] : dcsr\ntensor X[i, j] : dcsr\nX[i,j] = A[i,j]",
    "rows": "tensor A[i, j] : csr\ntensor X[i, j] : csr\nX[i,j] = 2 * A[i,j]",
    "sum": "tensor A[i, j] : dcsr\ntensor B[i, j] : dcsr\ntensor X[i, j] : dcsr\nX[i,j] = A[i,j] + B[i,j]",
    "dense": "tensor A[i, j] : dcsr\ntensor X[i, j] : dense\nX[i,j] = A[i,j]",
    "columns": "tensor A[i, j] : dcsr\ntensor x[j] : csf\nx[j] = A[i,j]  order i,j",
    "values": "tensor A[i, j] : csr\ntensor x[i] : dense\nx[i] = A[i,j]",
}
"""Each scans all of A."""
BUILT = sample(list(PROGRAMS), ["copy", "rows", "sum"])
"""A scanner below a root, one below a dense level, and two that end in a union."""

Case = tuple[dict[str, Words], dict[str, int], str | None]


def compile_one(name: str) -> Compiled:
    program = parse(PROGRAMS[name])
    return compile_job(Job(program.bind({decl.name: (MOST, MOST) for decl in program.inputs})))


def cases(compiled: Compiled, seed: int) -> list[Case]:
    """Memories, extents, and the error that they bring about."""
    rng = np.random.default_rng(seed)
    result = []
    for _ in range(RANDOM):
        tensors = {
            decl.name: Tensor.from_dense(
                rng.integers(1, 5, (ROWS, COLUMNS)) * (rng.random((ROWS, COLUMNS)) < 0.4), decl.format
            )
            for decl in compiled.program.inputs
        }
        memories, extents = load_inputs(compiled.program, compiled.design, tensors)
        if rng.random() < 0.9:
            memories = damaged(memories, (1 << index_bits(compiled.design, compiled.arch)) - 1, rng)
        result.append((memories, extents, error_of(memories)))
    return result


def damaged(memories: dict[str, Words], greatest: int, rng: np.random.Generator) -> dict[str, Words]:
    """With another coordinate, up to the greatest that the build stores, somewhere in A."""
    stored = [name for name in memories if name.startswith("A.crd") and memories[name].size]
    name = str(rng.choice(stored))
    crd = memories[name].copy()
    k = rng.integers(crd.size)
    crd[k] = rng.choice([crd[k - 1], rng.integers(COLUMNS), ROWS, COLUMNS, MOST, greatest])
    return {**memories, name: crd}


def error_of(memories: dict[str, Words]) -> str | None:
    """The error of the level that is damaged, at its first bad coordinate."""
    for level, extent in enumerate((ROWS, COLUMNS)):
        if f"A.crd{level}" not in memories:
            continue
        pos, crd = memories[f"A.pos{level}"], memories[f"A.crd{level}"]
        for start, end in pairwise(pos):
            for k in range(start, end):
                if crd[k] >= extent:
                    return "range"
                if k > start and crd[k] <= crd[k - 1]:
                    return "protocol"
    return None


def fails(error: str | None) -> Any:
    """The context of a run that ends with that error at a scanner of A, or well."""
    return pytest.raises(RunError, match=rf"\b{error}\b.* '?scan_compressed_A_") if error else nullcontext()


@pytest.mark.parametrize("name", PROGRAMS)
def test_simulator(name: str) -> None:
    compiled = compile_one(name)
    seen = set()
    for memories, extents, error in cases(compiled, 1):
        with fails(error):
            simulate(compiled.design.regions[0], compiled.arch, memories, extents, engine="plain")
        seen.add(error)
    assert seen == {None, "range", "protocol"}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_simulator(name: str) -> None:
    compiled = compile_one(name)
    for memories, extents, error in cases(compiled, 1)[:10]:
        with fails(error):
            simulate(compiled.design.regions[0], compiled.arch, memories, extents, engine="compiled")


@pytest.mark.nightly(but=1)
@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize("name", BUILT)
def test_rtl(name: str) -> None:
    compiled = compile_one(name)
    with VerilatedDesign.build(compiled.design, compiled.arch).session() as session:
        for memories, extents, error in cases(compiled, 2):
            with fails(error):
                rtl = session.run(memories, extents)
            if error is None:
                model = simulate(compiled.design.regions[0], compiled.arch, memories, extents)
                assert rtl.cycles == model.cycles
        with pytest.raises(InputError, match=r"A\.crd1 holds words of 8 bits, but one of those given is 256"):
            session.run({**memories, "A.crd1": np.array([0, 256])}, extents)


@pytest.mark.nightly(but=1)
@pytest.mark.slow
@pytest.mark.parametrize("name", BUILT)
def test_hls(name: str) -> None:
    compiled = compile_one(name)
    hls = HlsDesign.build(compiled.design, compiled.arch)
    for memories, extents, error in cases(compiled, 3):
        expected: Mapping[str, np.ndarray] = {}
        if error is None:
            expected = simulate(compiled.design.regions[0], compiled.arch, memories, extents).memories
        with fails(error):
            hls.run(memories, extents, expected)
