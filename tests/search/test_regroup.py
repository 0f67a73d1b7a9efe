"""A statement in the region next to its own: the same results, and what the search makes of it."""

from dataclasses import replace
from random import Random

import pytest

from samhw.app.workload import Workload, compile_workload, job_of
from samhw.choices.fuse.candidates import moves
from samhw.choices.schedule import Schedule
from samhw.compiler.pipeline import choose_schedule
from samhw.errors import InputError
from samhw.lang import parse
from samhw.targets.backends import run
from samhw.tensors.generate import random_tensor
from tests.search.drawn import draw

LAYER = """
tensor A[i=60, k=60] : csr
tensor X[k=60, f=20] : dense
tensor W[f=20, h=16] : dense
tensor V[f=20, h=16] : dense
tensor T[i=60, h=16] : dense
tensor H[i=60, h=16] : dense
tensor P[i=60, h=16] : dense
tensor S[i=60, h=16] : dense
tensor Y[i=60, h=16] : dense
fuse {
  T[i, h] = X[i, f] * W[f, h]
  H[i, h] = relu(T[i, h])
}
fuse {
  P[i, h] = A[i, k] * H[k, h]
  S[i, h] = X[i, f] * V[f, h]
  Y[i, h] = relu(P[i, h] + S[i, h])
}
"""
"""The product with V takes as long as that with W, and needs nothing of it."""


def layer() -> Workload:
    program = parse(LAYER)
    tensors = {
        decl.name: random_tensor(
            tuple(extent or 0 for extent in decl.shape),
            str(decl.format),
            seed=n,
            density=0.03 if n == 0 else 1,
        )
        for n, decl in enumerate(program.inputs)
    }
    return Workload("layer", program, tensors)


def test_what_can_be_moved() -> None:
    program = parse(LAYER)
    found = {
        (move.result, move.beside): move.schedule.fuse
        for move in moves(program, Schedule(fuse=[["T", "H"], ["P", "S"], ["Y"]]))
    }
    assert found == {
        ("H", "S"): (("T",), ("H", "P", "S"), ("Y",)),
        ("P", "H"): (("T", "H", "P"), ("S",), ("Y",)),
        ("P", "Y"): (("T", "H"), ("S",), ("P", "Y")),
        ("S", "H"): (("T", "H", "S"), ("P",), ("Y",)),
        ("S", "Y"): (("T", "H"), ("P",), ("S", "Y")),
    }
    # Y reads both of the others in its own region.
    apart = {
        (move.result, move.beside) for move in moves(program, Schedule(fuse=[["T", "H"], ["P", "S", "Y"]]))
    }
    assert apart == {("H", "Y"), ("P", "H"), ("S", "H")}


def test_orders_of_other_regions_stay() -> None:
    schedule = Schedule(
        fuse=[["T", "H"], ["P", "S"], ["Y"]], order={"H": ["i", "f", "h"], "S": ["i"], "Y": ["h", "i"]}
    )
    for move in moves(parse(LAYER), schedule):
        assert move.schedule.order == ({"H": ("i", "f", "h")} if move.beside == "Y" else {"Y": ("h", "i")})


def test_work_is_moved_to_where_something_takes_as_long() -> None:
    workload = layer()
    found = choose_schedule(job_of(workload, Schedule(fuse="auto")))
    assert any(line.startswith("moved: S beside ") for line in found.why)
    written = compile_workload(workload, Schedule())
    before, after = (run(one, workload.tensors).cycles for one in (written, found.compiled))
    assert after < 0.65 * before


def test_a_given_order_holds_the_regions() -> None:
    workload = layer()
    schedule = Schedule(fuse="auto", order={"Y": ["i", "f", "k", "h"]})
    request = job_of(workload, schedule)
    assert not any(line.startswith("moved: ") for line in choose_schedule(request).why)


@pytest.mark.nightly
@pytest.mark.slow
def test_random_programs_give_the_same_wherever_a_statement_is_moved() -> None:
    seen = number = 0
    while seen < 40:
        number += 1
        drawn = draw(number)
        if drawn is None:
            continue
        program = drawn.program.bind({name: tensor.shape for name, tensor in drawn.tensors.items()})
        work = Workload(f"random {number}", program, drawn.tensors)
        try:
            schedule = compile_workload(
                work, Schedule(fuse=Random(number).choice(("none", "partial")))
            ).schedule
            ways = list(moves(program, schedule))
        except InputError:
            continue
        for way in Random(number).sample(ways, min(2, len(ways))):
            moved = replace(Schedule(permute=True), fuse=way.schedule.fuse, order=way.schedule.order)
            try:
                compiled = compile_workload(work, moved)
            except InputError:
                continue
            for name, tensor in run(compiled, work.tensors, engine="plain").outputs.items():
                drawn.compare(name, tensor.to_dense())
            seen += 1
