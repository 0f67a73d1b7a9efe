"""Terms over parts that are stored before they are added: where streams cannot add them, where it is quicker,
and where a schedule says so."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from samhw.app.checking import check
from samhw.app.workload import Workload, compile_workload
from samhw.choices.schedule import Schedule
from samhw.errors import InputError
from samhw.graph.numerics import value_type
from samhw.lang import parse
from samhw.lang.reference import evaluate_program
from samhw.lang.splits import split_program
from samhw.targets.backends import run
from samhw.tensors.generate import random_tensor
from tests.support.program_cases import random_tensors

RELATIONS = (
    "tensor A[r, i, k] : csf\ntensor X[k, j] : dense\ntensor Y[i, j] : {}\nY[i, j] = A[r, i, k] * X[k, j]\n"
)
"""A sum over the relations of a graph, which lie outside of its rows: no order that suits the storage lets
the terms of two parts meet."""


def relations(fmt: str = "csr") -> Workload:
    program = parse(RELATIONS.format(fmt))
    tensors = {
        "A": random_tensor((3, 8, 7), "csf", seed=0, density=0.2),
        "X": random_tensor((7, 4), str(program.tensors["X"].format), seed=1, density=1),
    }
    return Workload("relations", program, tensors)


def test_each_term_has_a_region() -> None:
    program = parse(RELATIONS.format("csr"))
    found = split_program(program, {"A": "rows(2)"}, stored=["Y"])
    assert [str(statement) for statement in found.program.statements] == [
        "Y_sum[i, j] = A_0[r, i, k] * X[k, j]",
        "Y_sum_2[i, j] = A_1[r, i, k] * X[k, j]",
        "Y[i, j] = Y_sum[i, j] + Y_sum_2[i, j]",
    ]
    assert len(found.program.regions) == 3
    assert found.added == split_program(program, {"A": "rows(2)"}).added == {"Y": ("Y",)}
    assert str(found.program.tensors["Y_sum"].format) == "dcsr"  # A part has some of the rows alone.


def test_terms_keep_their_signs_and_others_their_place() -> None:
    text = (
        "tensor A[i, k] : csr\ntensor B[i] : dense\ntensor X[k] : dense\ntensor T[i] : dense\n"
        "T[i] = B[i] - A[i, k] * X[k]\n"
    )
    found = split_program(parse(text), {"A": "columns(2)"}, stored=["T"]).program
    assert str(found.statements[-1]) == "T[i] = B[i] - T_sum[i] - T_sum_2[i]"


def test_a_term_that_lacks_an_index_stays_in_the_sum() -> None:
    text = "tensor A[i, k] : csr\ntensor B[k, j] : csr\nT[i, k, j] = A[i, k] + {}B[k, j]\n"
    alone = split_program(parse(text.format("")), {"A": "rows(2)"}, stored=["T"])
    assert [str(one) for one in alone.program.statements] == ["T[i, k, j] = A_0[i, k] + A_1[i, k] + B[k, j]"]
    assert not alone.added
    partly = split_program(parse(text.format("A[i, k] * ")), {"A": "rows(2)"}, joined=[], stored=["T"])
    assert [str(one) for one in partly.program.statements] == [
        "T_sum[i, k, j] = A_0[i, k] * B[k, j]",
        "T_sum_2[i, k, j] = A_1[i, k] * B[k, j]",
        "T[i, k, j] = A_0[i, k] + A_1[i, k] + T_sum[i, k, j] + T_sum_2[i, k, j]",
    ]
    with pytest.raises(InputError, match=r"a sum of 13 terms, .* some of them lack an index of it"):
        split_program(parse(text.format("")), {"A": "rows(12)"})


@pytest.mark.parametrize(("rule", "stored"), [("columns(2)", ["Y"]), ("columns(12)", []), ("rows(2)", ["Y"])])
@pytest.mark.parametrize("term", ["A[i, k]", "A[i, k] * x[k] - B[i, k]", "x[k] - B[i, l] * A[l, k]"])
def test_a_mask_that_is_summed_over_is_met_before_terms_are_added(
    term: str, rule: str, stored: list[str]
) -> None:
    formats = {"A[i, k]": "csr", "B[i, k]": "csr", "x[k]": "dense", "M[i, k]": "csr", "Y[i]": "dense"}
    text = "".join(f"tensor {name} : {fmt}\n" for name, fmt in formats.items() if name[0] in f"{term}MY")
    program = parse(f"{text}Y[i] = {term} where M[i, k]\n")
    tensors = {
        decl.name: random_tensor((13,) * decl.rank, str(decl.format), seed=seed, density=0.4)
        for seed, decl in enumerate(program.inputs)
    }
    found = split_program(program, {"A": rule}, stored=stored)
    arrays = {name: tensor.to_dense() for name, tensor in (tensors | found.derived(tensors)).items()}
    results = [
        evaluate_program(one, {decl.name: arrays[decl.name] for decl in one.inputs})["Y"]
        for one in (program, found.program)
    ]
    assert np.array_equal(*results)
    assert len(found.program.statements) > 1


@pytest.mark.parametrize("fmt", ["csr", "dense", "bdense(1,2)"])
@pytest.mark.parametrize("rule", ["rows(3)", "columns(2)", "hyb(1,1)", "hyb(2,0)"])
def test_what_streams_cannot_add_is_stored(rule: str, fmt: str) -> None:
    workload = relations(fmt)
    if fmt.startswith("b"):
        given = workload.program.tensors["X"]
        text = workload.program.text.replace(f"{given.name}[k, j] : dense", f"{given.name}[k, j] : {fmt}")
        workload = replace(workload, program=parse(text))
        workload = replace(workload, tensors={**workload.tensors, "X": workload.tensors["X"].convert(fmt)})
    compiled = compile_workload(workload, Schedule(split={"A": rule}), value=value_type("i32"))
    assert compiled.schedule.partial_sums == ("Y",)
    again = compile_workload(workload, compiled.schedule, value=value_type("i32"))
    assert again.design == compiled.design
    found = run(compiled, workload.tensors)
    assert check(workload, compiled, found.outputs).good


def test_auto_finds_it_too() -> None:
    workload = relations()
    compiled = compile_workload(workload, Schedule(fuse="auto", split={"A": "rows(2)"}))
    assert check(workload, compiled, run(compiled, workload.tensors).outputs).good


def product(columns: int, right: str, result: str) -> Workload:
    """A csr matrix times a full one, in those formats."""
    text = (
        f"tensor A[i, k] : csr\ntensor X[k, j={columns}] : {right}\ntensor T[i, j={columns}] : {result}\n"
        "T[i, j] = A[i, k] * X[k, j]\n"
    )
    tensors = {
        "A": random_tensor((9, 8), "csr", seed=0, density=0.4),
        "X": random_tensor((8, columns), right, seed=1, density=1),
    }
    return Workload("given", parse(text), tensors)


def test_a_schedule_decides() -> None:
    """A result that can be had either way: one region by estimate, more where they are asked for, and none
    but one where they are forbidden."""
    workload = product(4, "dense", "csr")
    together = Schedule(split={"A": "columns(3)"})
    found = {}
    for name, schedule in {
        "auto": together,
        "apart": replace(together, partial_sums=["T"]),
        "none": replace(together, partial_sums=[]),
    }.items():
        compiled = compile_workload(workload, schedule, value=value_type("i32"))
        assert check(workload, compiled, run(compiled, workload.tensors).outputs).good
        found[name] = compiled
    assert [len(one.regions) for one in found.values()] == [1, 4, 1]
    assert found["auto"].schedule.partial_sums == ()
    regions = found["auto"].regions, found["apart"].regions
    whole, several = (sum(region.expected.cycles for region in one) for one in regions)
    assert whole < several
    with pytest.raises(InputError, match="choose an order in which r comes after i"):
        compile_workload(relations(), Schedule(split={"A": "rows(2)"}, partial_sums=[]))


@pytest.mark.parametrize("value", ["i32", "f32"])
def test_of_what_is_computed_part_by_part(value: str) -> None:
    """The rows of C tell the part of X, and what each part of X is computed as is a sum over parts of B: a
    schedule speaks of X, which the program has."""
    program = parse(
        "tensor B[i=5, k=4] : csr\ntensor C[l=6, j=5] : csr\ntensor X[i=5, k=4, l=6] : csf\n"
        "X[i, k, l] = B[i, k] * C[l, j]    order i, j, k, l\n"
    )
    workload = Workload("given", program, random_tensors(program, np.random.default_rng(1)))
    split = {"B": "diagonal + csr", "C": "rows(2)"}
    assert split_program(program, split).added == {"X": ("X_0", "X_1")}
    compiled = compile_workload(workload, Schedule(split=split, permute=True), value=value_type(value))
    assert compiled.schedule.partial_sums == ("X",)
    assert check(workload, compiled, run(compiled, workload.tensors).outputs).good


@pytest.mark.parametrize(
    ("partial_sums", "message"),
    [
        (3, "'partial_sums' is 3; give auto, or a list of results."),
        ([3], "'partial_sums' is [3]; give a list of names."),
    ],
)
def test_what_it_cannot_be(partial_sums: object, message: str) -> None:
    with pytest.raises(InputError) as error:
        Schedule.from_fields({"partial_sums": partial_sums})
    assert str(error.value) == message


@pytest.mark.parametrize("names", [["Z"], "Z"])
def test_a_result_that_there_is_not(names: Any) -> None:
    schedule = Schedule(split={"A": "rows(2)"}, partial_sums=names)
    with pytest.raises(InputError, match="'partial_sums' names 'Z', which no statement of '<text>' computes"):
        compile_workload(relations(), schedule)


def test_blocks_beside_a_split() -> None:
    """Of a result in blocks each part has one with all levels compressed."""
    workload = product(8, "bdense(1,4)", "bdense(1,4)")
    tensors = workload.tensors
    for rule in ("hyb(1,1)", "columns(2)"):
        compiled = compile_workload(workload, Schedule(split={"A": rule}), value=value_type("f32"))
        found = run(compiled, tensors)
        assert check(workload, compiled, found.outputs).good
        wanted = tensors["A"].to_dense() @ tensors["X"].to_dense()
        assert np.allclose(found.outputs["T"].to_dense(), wanted)
