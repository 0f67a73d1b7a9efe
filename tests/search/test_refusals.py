"""A refusal is a value: its cause, its place, and each way out."""

import pytest

from samhw.choices.schedule import Schedule
from samhw.compiler import Lowerings
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.compiler.search.decide import decide
from samhw.errors import ScheduleError
from samhw.graph.numerics import value_type
from samhw.lang import parse
from samhw.lang.decision import Refusal


def refused(text: str, schedule: Schedule) -> Refusal:
    found = decide(Job(parse(text), schedule, value=value_type("i32")), Lowerings())
    assert isinstance(found, Refusal)
    return found


def test_a_refusal_has_its_cause_its_place_and_each_way_out():
    schedule = Schedule(fuse="none", permute=False)
    refusal = refused("tensor A[i=4, k=4] : csr\nY[k, i] = A[i, k]\nZ[i] = A[i, k] * Y[k, i]\n", schedule)
    assert refusal.place == ("Z",)
    assert refusal.cause.startswith("No order of indices suits")
    assert refusal.ways == (
        "store all of these tensors in one order of modes (for two, '@ (1, 0)')",
        "permit permuted copies (--permute)",
    )


def test_the_user_reads_all_of_it_in_one_sentence():
    refusal = Refusal("Streams cannot follow", ("choose another order", "end the region", "store T"))
    assert str(refusal.error()) == "Streams cannot follow; choose another order, end the region, or store T."
    assert str(Refusal("Streams cannot follow").error()) == "Streams cannot follow."


def test_lanes_are_refused_where_they_are():
    schedule = Schedule(fuse="none", lanes={"k": 2})
    with pytest.raises(ScheduleError) as raised:
        compile_job(Job(parse("tensor A[i=4, k=4] : csr\ny[i] max= A[i, k]\n"), schedule))
    assert raised.value.ways == (
        "give lanes to an index further out",
        "choose an order that has another index inside of it",
    )
