"""Tensors off the chip: simulator and RTL take the same cycles and leave the same words, whatever the memory.

A build serves every memory, which is the harness's to choose.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import samhw
from samhw.compiler.placement import arrays_off_chip
from samhw.errors import RunError
from samhw.graph import (
    DDR4,
    HBM2,
    ConstantMemory,
    OffChip,
    OffChipLayout,
    OffChipMemory,
    Ports,
    RandomMemory,
    RecordedMemory,
    with_ports,
)
from samhw.sim import simulate_regions, total_cycles
from samhw.targets.running.driver import VerilatedDesign
from samhw.targets.running.images import inputs_of

pytestmark = [pytest.mark.slow, pytest.mark.verilator]

WORD = 0xFFFF_FFFF
MEMORIES: tuple[OffChipMemory, ...] = (
    *(ConstantMemory(cycles) for cycles in (2, 20, 200)),
    *(RandomMemory(seed) for seed in (1, 2)),
    DDR4,
)
NARROW = Ports(line=4, beat=4, lines=2, ahead=0, queue=1, offer=2, answer=1)
"""A beat a line, and as little room as there may be; a memory answers later than the watchdog barks."""
WIDE = Ports(line=256, beat=32, lines=8, ahead=3, queue=8, offer=5, answer=4)
TWO = Ports(line=16, beat=8, lines=4, ahead=2, queue=2, offer=3, answer=3, masters=2)

SPMM = "T[i, j] = A[i, k] * X[k, j]"
SPMSPM = "T[i, j] = A[i, k] * B[k, j]"
CHAIN = "S[i, j] = A[i, k] * X[k, j]\nT[i, j] = A[i, k] * S[k, j]"
TWICE = "S[i, j] = A[i, k] * X[k, j]\nT[i, j] = B[i, k] * S[k, j]"
BESIDE = f"""{TWICE.replace("S[k, j]", "X[k, j]")}
U[i, j] = A[i, k] * S[k, j] + T[i, j]
V[i, k] = A[i, k] * B[i, k]"""
"""S, T and V beside each other; U, alone, is on none of their fabrics."""
AGAIN = f"{BESIDE}\nW[i, j] = B[i, k] * U[k, j]"
"""W is on the fabric of S or T, all of whose ports have other numbers than those of a region alone."""
MIXED = {"place": {"A.crd1": "chip", "B": "ddr:1", "B.vals": "chip", "T.vals": "chip", "T.pos1": "ddr:0"}}
SHARDS = {"lanes": {"i": 2}, "place": {"A": "chip", "T.vals.1": "chip"}}
SCAN = """\
index i=6
tensor A[t=5, i=6] : dense
tensor B[t=5, i=6] : dense
tensor H[t=5, i=6] : dense
tensor G[t=5, i=6] : dense
tensor U[t=5, i=6] : dense
y[i] = A[t, i]
scan t {
  H[t, i] = H[t - 1, i] * 2 + A[t, i]
  G[t, i] = G[t - 1, i] + B[t, i] * y[i]
  U[t, i] = H[t, i] * G[t, i]
}
z[i] = U[t, i]
v[t] = U[t, i]"""
"""In each step H and G are beside each other, and read what the step before has written; then U."""
CASES: dict[str, tuple[str, dict[str, str], dict[str, Any], Ports]] = {
    "csr": (SPMM, {"A": "csr"}, {}, Ports()),
    "least": (SPMM, {"A": "csr"}, {"arch": {"watchdog": 100}}, NARROW),
    "sparse result": (SPMSPM, {"A": "csr", "B": "csr", "T": "csr"}, {}, TWO),
    "lanes": (SPMM, {"A": "csr"}, {"schedule": {"lanes": {"i": 2}}}, Ports(line=32, beat=8)),
    "ell": (SPMM, {"A": "ell(8)"}, {}, WIDE),
    "coordinates": (SPMM, {"A": "coo"}, {}, Ports(ahead=2)),
    "fp8": (SPMM, {"A": "csr"}, {"value": "f8e4m3"}, Ports(line=16, beat=4)),
    "f32 with more registers": (SPMM, {"A": "csr"}, {"value": "f32", "arch": "ecp5-100"}, WIDE),
    "regions": (CHAIN, {"A": "csr"}, {}, Ports()),
    "equal regions": (TWICE, {"A": "csr", "B": "csr"}, {"schedule": {"share_hardware": "all"}}, WIDE),
    "some arrays": (SPMSPM, {"A": "csr", "B": "csr", "T": "csr"}, {"schedule": MIXED}, TWO),
    "a tensor between regions": (
        *(CHAIN, {"A": "csr"}),
        # Its regions have one fabric, unless this is made beside a memory.
        *({"schedule": {"place": {"S": "ddr:1"}, "share_hardware": "none"}}, TWO),
    ),
    "the smallest on the chip": (CHAIN, {"A": "csr"}, {"schedule": {"on_chip": "300"}}, Ports()),
    "some shards": (SPMM, {"A": "csr"}, {"schedule": SHARDS}, NARROW),
    "side by side": (BESIDE, {"A": "csr", "B": "csr"}, {"schedule": {"parallel": "all"}}, NARROW),
    "side by side, in turns": (
        *(AGAIN, {"A": "csr", "B": "csr", "V": "csr"}),
        *({"schedule": {"parallel": "all", "share_hardware": [["T", "W"]]}}, TWO),
    ),
    "some side by side": (
        *(AGAIN, {"A": "csr", "B": "csr"}),
        *({"schedule": {"parallel": [["S", "T"]], "place": {"X": "chip"}, "lanes": {"i": 2}}}, WIDE),
    ),
    "unread coordinates": ("t[i] = A[i, k]", {"A": "csr"}, {}, Ports()),
    "a scan side by side": (SCAN, {}, {"schedule": {"parallel": "all", "fuse": "none"}}, NARROW),
    "a scan, some on the chip": (
        *(SCAN, {}),
        *({"schedule": {"parallel": "all", "fuse": "none", "place": {"H": "ddr:1", "A": "chip"}}}, TWO),
    ),
}
FEW = ("regions", "least", "sparse result", "some arrays", "side by side", "a scan side by side")
"""Those that every round runs."""


@cache
def _data() -> Mapping[str, Any]:
    rng = np.random.default_rng(7)
    sparse: dict[str, Any] = {
        name: scipy.sparse.random_array((12, 12), density=0.2, rng=rng, format="csr") for name in ("A", "B")
    }
    for matrix in sparse.values():
        matrix.data = rng.integers(-9, 9, len(matrix.data))
    return sparse | {"X": rng.integers(-9, 9, (12, 4))}


def _scanned() -> Mapping[str, Any]:
    rng = np.random.default_rng(8)
    return {name: rng.integers(-3, 4, (5, 6)) for name in ("A", "B")}


@pytest.mark.parametrize(
    "name", [name if name in FEW else pytest.param(name, marks=pytest.mark.nightly) for name in CASES]
)
def test_cycles_and_words(name: str, tmp_path: Path) -> None:
    program, formats, options, ports = CASES[name]
    design = samhw.compile(program, formats=formats, **{"value": "i32", **options})
    data = _scanned() if program is SCAN else {k: v for k, v in _data().items() if f"{k}[" in program}
    ran = design.run(data, memory=ConstantMemory(1, ports))
    compiled = design.compiled
    inputs = inputs_of(compiled, ran.workload.tensors)
    arrays = arrays_off_chip(compiled, ConstantMemory(1, ports))
    layout = OffChipLayout(compiled.design, compiled.arch, ports, arrays)
    with VerilatedDesign.build(compiled.design, compiled.arch, layout=layout).session() as session:
        for memory in (*MEMORIES, RecordedMemory(str(tmp_path / "log"))):
            # A DIMM has one channel, which several masters cannot share.
            placed = with_ports(HBM2 if memory is DDR4 and ports.masters > 1 else memory, ports)
            # What the last one does is what was recorded of the one before it.
            found = session.run(
                *inputs, memory=placed, buffers=True, limit=100_000, memory_log=tmp_path / "log"
            )
            model = simulate_regions(compiled.design, compiled.arch, *inputs, memory=OffChip(placed, arrays))
            cycles = [result.cycles for result in model]
            assert (found.cycles, list(found.region_cycles)) == (
                total_cycles(model),
                cycles,
            ), placed.name
            words = {key: array for result in model for key, array in result.memories.items()}
            for key, array in found.memories.items():
                assert (np.asarray(words[key]) & WORD == array & WORD).all(), (placed.name, key)


@pytest.mark.nightly
def test_a_run_after_an_error() -> None:
    program, formats, options, ports = CASES["csr"]
    design = samhw.compile(program, formats=formats, value="i32", **options)
    ran = design.run(**{key: value for key, value in _data().items() if f"{key}[" in program})
    compiled = design.compiled
    memories, extents = inputs_of(compiled, ran.workload.tensors)
    damaged = memories | {"A.crd1": memories["A.crd1"] | 0x7F}
    layout = OffChipLayout(compiled.design, compiled.arch, ports)
    with VerilatedDesign.build(compiled.design, compiled.arch, layout=layout).session() as session:
        before = session.run(memories, extents, memory=RandomMemory(3)).cycles
        with pytest.raises(RunError, match="range at node 'scan_compressed_A_k'"):
            session.run(damaged, extents, memory=RandomMemory(3))
        assert session.run(memories, extents, memory=RandomMemory(3)).cycles == before
