"""Reshapes that are aliases: which are, what becomes of their regions, and what a run leaves in memory."""

import re
from typing import Any

import numpy as np
import pytest

import samhw
from samhw.app.checking.check_run import check
from samhw.app.workload import Workload, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.passes import apply_passes
from samhw.compiler.search import Job
from samhw.errors import InputError
from samhw.graph import HBM2, dumps, loads, validate_design
from samhw.lang import parse
from samhw.targets.backends import run
from samhw.tensors import Tensor

STATEMENTS = """
  T[i, j] = 2 * A[i, j]
  XR[h, p] = reshape(X[m])
  R[h, p] = reshape(T[i, j])
  S[q] = reshape(R[h, p])
  Y[h, p] = R[h, p] + XR[h, p]
  Z[n] = reshape(Y[h, p])
  U[h] = Y[h, p]
"""
DECLARATIONS = "tensor A[i=6, j=4] : csr\ntensor X[m=24]\ntensor T[i, j]\ntensor R[h=3, p]\ntensor XR[h, p]\n"
FUSED = f"{DECLARATIONS}fuse {{{STATEMENTS}}}"
A = np.random.default_rng(5).integers(-2, 3, (6, 4))
X = np.arange(24)
Y = 2 * A.reshape(3, 8) + X.reshape(3, 8)


def workload(text: str) -> Workload:
    program = parse(text).bind({})
    arrays = {"A": A, "X": X}
    inputs = {d.name: Tensor.from_dense(arrays[d.name], d.format) for d in program.inputs}
    return Workload("aliases", program, inputs)


def outputs(text: str, **schedule: Any) -> tuple[Compiled, dict[str, Tensor]]:
    work = workload(text)
    compiled = compile_workload(work, Schedule(**schedule))
    found = run(compiled, work.tensors).outputs
    assert check(work, compiled, found).good
    return compiled, found


def test_reshapes_come_to_stand_alone() -> None:
    left = apply_passes(Job(parse(FUSED)).lowerable(), "alias_reshapes")
    names = [[s.lhs.tensor for s in region.statements] for region in left.program.regions]
    assert names == [["XR"], ["T"], ["R"], ["S"], ["Y", "U"], ["Z"]]
    assert left.aliases == {"XR": "X", "R": "T", "S": "T", "Z": "Y"}
    assert apply_passes(left, "alias_reshapes") == left


@pytest.mark.parametrize("fuse", ["none", "partial", "full"])
def test_a_view_has_no_region_and_no_memory(fuse: str) -> None:
    compiled, found = outputs(FUSED, fuse=fuse)
    computed = [s.lhs.tensor for region in compiled.regions for s in region.region.statements]
    assert computed == ["T", "Y", "U"]
    assert [region.graph.name for region in compiled.regions] == [g.name for g in compiled.design.regions]
    assert {memory.tensor for memory in compiled.design.memories} == {"A", "X", "T", "Y", "U"}
    for name, expected in {"T": 2 * A, "S": 2 * A.ravel(), "Y": Y, "Z": Y.ravel(), "U": Y.sum(1)}.items():
        np.testing.assert_array_equal(found[name].to_dense(), expected)


def test_the_schedule_that_was_used_gives_the_same() -> None:
    compiled, _ = outputs(FUSED)
    again, _ = outputs(FUSED, **{f: compiled.schedule.to_json()[f] for f in ("fuse", "order", "formats")})
    assert again.design == compiled.design


def test_a_copy_takes_cycles_and_a_view_none() -> None:
    copied = "tensor X[m=24]\ntensor R[h=3, p]\nR[h, p] = reshape(X[m])\n"
    compiled, _ = outputs(copied)
    (region,) = compiled.regions
    assert region.note == (
        "copies X to R, element by element: the host reads the result R where a region has written it, and X "
        "is an input"
    )
    alone = "tensor A[i=6, j=4] : csr\ntensor T[i, j]\nT[i, j] = 2 * A[i, j]\n"
    aliased = f"{alone}tensor R[h=3, p]\nR[h, p] = reshape(T[i, j])\n"
    cycles = []
    for text in (aliased, alone):
        program = parse(text)
        inputs = {"A": Tensor.from_dense(A, "csr")}
        work = Workload("aliases", program, inputs)
        cycles.append(run(compile_workload(work), inputs).cycles)
    assert cycles[0] == cycles[1]


def test_what_lies_elsewhere_is_copied() -> None:
    compiled, _ = outputs(FUSED, place={"A": "ddr", "T": "ddr", "R": "chip"})
    notes = {r.region.statements[0].lhs.tensor: r.note for r in compiled.regions}
    assert notes["R"].endswith("the schedule has T in ddr, and R on chip")
    assert compiled.aliases == {"XR": "X", "S": "R", "Z": "Y"}
    assert outputs(FUSED, place=dict.fromkeys("TRS", "ddr"))[0].aliases == {
        "XR": "X",
        "R": "T",
        "S": "T",
        "Z": "Y",
    }
    work = workload(FUSED)
    for place in (dict.fromkeys("TRS", "hbm"), {"T": "hbm:1", "R": "hbm:2"}, {"T": "hbm", "R": "chip"}):
        compiled = compile_workload(work, Schedule(place=place))
        found = run(compiled, work.tensors, memory=HBM2).outputs
        np.testing.assert_array_equal(found["U"].to_dense(), Y.sum(1))


def test_a_memory_holds_what_any_of_its_views_needs() -> None:
    """Capacities are rounded up for each extent."""
    text = (
        "tensor A[i=3, j=15]\ntensor R[h=5, p]\nT[i, j] = A[i, j] + 1\n"
        "R[h, p] = reshape(T[i, j])\nu = R[h, p]"
    )
    program = parse(text)
    inputs = {"A": Tensor.from_dense(np.arange(45).reshape(3, 15), "dense")}
    work = Workload("aliases", program, inputs)
    compiled = compile_workload(work)
    assert compiled.design.memory["T.vals"].capacity == 8 * 16 > 4 * 16
    assert check(work, compiled, run(compiled, inputs).outputs).good


def test_lanes_of_what_reads_an_alias() -> None:
    compiled, found = outputs(FUSED, lanes={"h": 2})
    assert compiled.design.copies["T.vals"] == 2
    np.testing.assert_array_equal(found["U"].to_dense(), Y.sum(1))


def test_views_go_through_json_and_are_validated() -> None:
    compiled, _ = outputs(FUSED)
    design = loads(dumps(compiled.design))
    assert design == compiled.design
    validate_design(design)
    text = re.sub('"alias_of": "X"', '"alias_of": "V"', dumps(design))
    with pytest.raises(InputError, match=r"'XR' of .* is an alias of 'V', which is not stored"):
        validate_design(loads(text))


def test_an_order_of_a_region_with_reshapes_is_that_of_the_rest() -> None:
    text = (
        f"{DECLARATIONS}fuse {{\n  T[i, j] = A[i, j] + A[i, j]\n  R[h, p] = reshape(T[i, j])\n}}\nu = R[h, p]"
    )
    text = text.replace("tensor X[m=24]\n", "").replace("tensor XR[h, p]\n", "")
    program = parse(text)
    inputs = {"A": Tensor.from_dense(A, "csr")}
    compiled = compile_workload(Workload("aliases", program, inputs), Schedule(order={"R": ["i", "j"]}))
    assert compiled.regions[0].order == ("i", "j")
    assert compiled.schedule.order == {"R": ("i", "j"), "u": compiled.regions[1].order}


@pytest.mark.parametrize("fuse", ["none", "partial", "full"])
@pytest.mark.parametrize(
    "beside",
    [
        "C[i] = D[i] * 2",
        "C[i, j] = concat(i, A[i, j], A[i, j])",
        "C[q] = D[q] + 1",
        "C[j] = concat(j, D[j], E[j])",
    ],
)
def test_a_copy_in_front_of_what_it_is_fused_with(fuse: str, beside: str) -> None:
    """Dimensions are called after the statements that come first: capacities went by the old names."""
    a, d = np.arange(12).reshape(2, 6), np.arange(2)
    text = f"tensor R[i, j=4]\nfuse {{\n  {beside}\n  R[i, j] = reshape(A[p, q])\n}}"
    for order in (text, text.replace(f"  {beside}\n", "").replace("\n}", f"\n  {beside}\n}}")):
        given = {"A": a, "D": d if "[q]" not in beside else np.arange(6), "E": np.arange(5)}
        data = {name: given[name] for name in given if f" {name}[" in order or f"({name}[" in order}
        result = samhw.compile(order, fuse=fuse).run(data)
        result.check()
        np.testing.assert_array_equal(result["R"], a.reshape(3, 4))
