"""Extents up to the greatest that coordinates have bits for: what a run takes follows what is stored."""

import resource

import numpy as np
import pytest

from samhw import limits
from samhw.app.checking import check
from samhw.app.workload import Workload, compile_workload
from samhw.compiler import Compiled
from samhw.errors import InputError
from samhw.graph import Arch
from samhw.graph.address_map import AddressMap
from samhw.graph.numerics import value_type
from samhw.lang import MAX_EXTENT, parse
from samhw.targets.backends import run
from samhw.tensors import Tensor

COPY = "tensor B[i, j] : csf\nB[i, j] = 2 * A[i, j]"
ROWS = "tensor y[i] : csf\ny[i] = 2 * A[i, j]"
TOTAL = "y = 2 * A[i, j]"


def compiled(extent: int, statement: str) -> tuple[Workload, Compiled]:
    coords = np.array([[0, extent - 1], [extent - 2, extent - 1]])
    tensor = Tensor.from_coo(coords, np.array([3, 4]), (extent, extent), "csf")
    workload = Workload("large", parse(f"tensor A[i, j] : csf\n{statement}"), {"A": tensor})
    return workload, compile_workload(workload, value=value_type("i32"))


@pytest.mark.parametrize("extent", [2**31 - 1, 2**31, 2**31 + 5, MAX_EXTENT])
@pytest.mark.parametrize("statement", [COPY, ROWS, TOTAL])
def test_a_run_takes_what_is_stored(extent: int, statement: str) -> None:
    workload, design = compiled(extent, statement)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = run(design, workload.tensors)
    found = check(workload, design, result.outputs)
    assert found.good
    assert not found.unproved
    (output,) = result.outputs.values()
    assert output.vals.sum() == 14
    # In KB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


@pytest.mark.parametrize("extent", [2**32, 2**33, 2**40])
def test_coordinates_have_32_bits(extent: int) -> None:
    with pytest.raises(InputError, match="an extent is from 1 to 4,294,967,295, as coordinates have 32 bits"):
        compiled(extent, TOTAL)


@pytest.mark.parametrize("form", ["dense", "(dense, compressed)"])
def test_a_dense_level_that_does_not_fit_is_refused(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "memory_limit", lambda: 1 << 32)
    indices = "i" if form == "dense" else "i, j"
    workload, design = compiled(2**31, f"tensor y[{indices}] : {form}\ny[{indices}] = 2 * A[i, j]")
    with pytest.raises(InputError) as refused:
        run(design, workload.tensors)
    assert str(refused.value) == (
        "The result 'y', which has 2,147,483,648 places in its dense levels, needs at least 16.0 GB of "
        "memory, but there are 4.0 GB; store it in compressed levels, or give smaller data."
    )


def test_hardware_has_an_address_for_every_word() -> None:
    _, design = compiled(MAX_EXTENT, TOTAL)
    AddressMap(design.design, Arch())
    _, design = compiled(MAX_EXTENT, ROWS)
    with pytest.raises(InputError, match="more than a 32-bit address reaches; give them smaller capacities"):
        AddressMap(design.design, Arch())
