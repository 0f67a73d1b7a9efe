"""Extents that are built into the hardware: simulator and RTL agree, and whoever gives others is told."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import samhw
from samhw.app.api import RunnableDesign
from samhw.errors import InputError
from samhw.graph import dumps, loads
from tests.agreement.test_shared_nodes import BESIDE, LAYERS, SCAN, agreed, some_data

pytestmark = [pytest.mark.slow, pytest.mark.verilator]

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "regions": (LAYERS, {"share_hardware": "none"}),
    "shared nodes": (LAYERS, {"share_hardware": "all"}),
    "a scan": (SCAN, {}),
    "blocks": (LAYERS, {"blocks": {"j": 2}}),
    "ranges of rows": ("S[i, j] = A[i, k] * X[k, j]", {"lanes": {"i": 3}, "deal": {"i": "ranges"}}),
    "side by side, off chip": (BESIDE, {"parallel": "all", "memory": "random:3"}),
}
FEW = ("shared nodes", "a scan", "ranges of rows")
"""Those that every round runs."""


def _design(program: str, options: Mapping[str, Any]) -> tuple[RunnableDesign, dict[str, Any]]:
    data = some_data(program)
    formats = {name: "csr" for name in ("A", "B") if name in data}
    schedule = {"fuse": "none", "fixed_extents": True} | {k: v for k, v in options.items() if k != "memory"}
    return samhw.compile(program, formats=formats or None, schedule=schedule), data


@pytest.mark.parametrize(
    "name", [name if name in FEW else pytest.param(name, marks=pytest.mark.nightly) for name in CASES]
)
def test_cycles_and_words(name: str) -> None:
    program, options = CASES[name]
    built = agreed(*_design(program, options), options)
    rows = {row for tensor in built.tensors for row in tensor.rows}
    assert {*built.fixed} == built.extents.keys() - rows
    assert loads(dumps(built)) == built


def test_other_extents_are_refused_by_model_and_hardware() -> None:
    design = samhw.compile("y[i] = x[i] * x[i]", extents={"i": 8}, schedule={"fixed_extents": True})
    design.run({"x": np.arange(8)}).check()
    for backend in ("sim", "verilator"):
        with pytest.raises(InputError, match=r"Index i has extent 5, but this build has 8 fixed"):
            design.run({"x": np.arange(5)}, backend=backend)
