"""What the search has lowered is not lowered again, and changes nothing."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest

from samhw.app.workload import bind_program
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled, Decision, LoweredRegion, Lowerings, Scope, region
from samhw.compiler.pipeline import candidates, compile_job, lower, plan
from samhw.compiler.search import Job
from samhw.compiler.search.decide import decide
from samhw.errors import InputError
from samhw.graph.numerics import value_type
from samhw.lang import Capacity, parse
from samhw.lang.decision import Refusal

LAYERS = """
tensor A[i=5, k=5] : csr
tensor X[k, f=4] : dense
tensor W[f, h=3] : dense
fuse {
  T[i, f] = A[i, k] * X[k, f]
  Y[i, h] = T[i, f] * W[f, h]
}
Z[i, h] = A[i, k] * Y[k, h]
"""
TURNED = "tensor A[i=5, j=5] : csr\ntensor T[i, j] : csr\nT[i, j] = A[i, j] + A[j, i]\n"
STORED = (
    "tensor a[i=5]\nfuse {\n  b[i] = a[i] + 1\n  c[i] = b[i] * 2\n  d[i] = c[i] + 3\n  e[i] = d[i] * 4\n}\n"
)
"""In four regions, of which the search has seen two before the third."""


GIVEN = "tensor B[k, j=8] : csr"

CASES = {
    "as written": (LAYERS, "auto"),
    "in many parts": (STORED, dict.fromkeys("bcd", "store")),
    "with a copy": (TURNED, "auto"),
}
"""A program, and what its uses share."""


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """The results of each region that is lowered."""
    found: list[Sequence[str]] = []
    lower = region._lowered

    def noted(scope: Scope, number: int, *others: Any) -> LoweredRegion | Refusal:
        found.append(scope.program.regions[number].written)
        return lower(scope, number, *others)

    monkeypatch.setattr(region, "_lowered", noted)
    return found


def assert_equal(ours: Compiled | Refusal, theirs: Compiled | Refusal) -> None:
    assert isinstance(ours, Compiled)
    assert isinstance(theirs, Compiled)
    assert ours.design == theirs.design
    for one, other in zip(ours.regions, theirs.regions, strict=True):
        assert (one.region, one.region.label, one.order) == (other.region, other.region.label, other.order)
        assert (one.computations, one.note, one.reasons) == (other.computations, other.note, other.reasons)
        assert one.expected == other.expected
        assert one.table.grid() == other.table.grid()


def test_regions_without_copies_share_what_follows_from_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Scope] = []
    initialize = Scope.__init__

    def noted(scope: Scope, *arguments: Any) -> None:
        made.append(scope)
        initialize(scope, *arguments)

    monkeypatch.setattr(Scope, "__init__", noted)
    chain = ["a[i=5]", *("bcdefghk")]
    program = "tensor a[i=5]\n" + "".join(f"{new}[i] = {old[0]}[i] + 1\n" for old, new in pairwise(chain))
    assert len(compile_job(Job(parse(program))).regions) == 8
    # To decide, and to follow what is decided; and twice for one of the regions, which are equal.
    assert len(made) == 4


@pytest.mark.parametrize("case", CASES)
def test_what_the_plan_has_lowered_is_not_lowered_again(case: str, lowered: list[Sequence[str]]) -> None:
    text, share = CASES[case]
    job = Job(parse(text), Schedule(permute=True, share=share))
    decision = plan(job)
    lowered.clear()
    found = lower(job, decision)
    assert not lowered
    assert_equal(found, lower(job, decision.alone))
    assert lowered


SCHEDULES: Sequence[Mapping[str, Any]] = (
    *({"fuse": fuse} for fuse in ("partial", "full", "none", "kinds")),
    {"fuse": "full", "share": "none"},
    {"fuse": "full", "share": "all"},
    {"fuse": "full", "iteration": "global"},
    {"fuse": "full", "lanes": {"i": 2}},
    {"fuse": "none", "attempts": 1},
)


@pytest.mark.nightly(but=1)
@pytest.mark.parametrize("name", ["mlp", "gcn", "bigbird_attention"])
def test_schedules_that_share_regions_give_what_each_gives_alone(
    name: str, lowered: list[Sequence[str]]
) -> None:
    program = bind_program(name, ["auto"]).program
    inputs = [decl for decl in program.inputs if decl.rank == 2]
    changes: Sequence[Mapping[str, Any]] = (
        {},
        {"permute": True},
        {"formats": {inputs[0].name: "dense @ (1, 0)"}, "permute": True},
        {"formats": {inputs[-1].name: "csr"}, "permute": True},
    )
    schedules = [Schedule(**{**fields, **change}) for change in changes for fields in SCHEDULES]
    job = Job(program, value=value_type("f32"))
    compiled = candidates(job, Lowerings())
    together = alone = 0
    for schedule in schedules:
        lowered.clear()
        try:
            theirs = compile_job(job.under(schedule))
        except InputError as error:
            with pytest.raises(InputError, match=re.escape(str(error))):
                compiled(schedule)
            continue
        alone += len(lowered)
        lowered.clear()
        ours = compiled(schedule)
        together += len(lowered)
        assert_equal(ours, theirs)
    assert 0 < together < 0.7 * alone


OTHERS = {
    "another extent": ("tensor B[k, j=9] : dense", "", {}),
    "another format": ("tensor B[k, j=8] : dcsr", "", {}),
    "another format of the result": (f"{GIVEN}\ntensor T[i, j] : csr", "", {}),
    "more room": (GIVEN, "", {"A": 40}),
    "a reader": (GIVEN, "U[i] = T[i, j]", {}),
    "a name that is taken": (GIVEN, "t0[i] = A[i, k]", {}),
    "another operand of that name": ("tensor C[k, j] : dense\nB[k, j] = C[k, j] + 1", "", {}),
}
"""What differs around a statement, `T[i, j] = A[i, k] * B[k, j]`: how B is declared, a further statement, and
the entries of tensors."""


@pytest.mark.parametrize("case", OTHERS)
def test_the_same_statement_in_another_program_is_another_region(case: str) -> None:
    lowerings = Lowerings()
    for declared, further, entries in (OTHERS[case], (GIVEN, "", {}), OTHERS[case]):
        program = parse(f"tensor A[i=6, k=7] : csr\n{declared}\nT[i, j] = A[i, k] * B[k, j]\n{further}\n")
        job = Job(program, Schedule(permute=True), capacity=Capacity({"j": 8}), entries=entries)
        found = decide(job, lowerings)
        assert isinstance(found, Decision)
        assert_equal(lower(job, found), compile_job(job))


def test_what_was_chosen_is_not_lowered_again(lowered: list[Sequence[str]]) -> None:
    job = Job(parse(LAYERS), Schedule(fuse="auto"))
    decision = plan(job)
    lowered.clear()
    found = lower(job, decision)
    assert not lowered
    assert isinstance(found, Compiled)
    assert found is decision.design
    assert found.why == decision.why != ()
