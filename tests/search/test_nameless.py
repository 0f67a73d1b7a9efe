"""Equal regions are decided and lowered once, and each has what it would have by itself."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from samhw.app.workload import bind_program
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled, LoweredRegion, Scope, program_to_design, region
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job, decide
from samhw.graph.numerics import value_type
from samhw.lang import Capacity, parse
from samhw.lang.decision import Refusal
from tests.search.test_known import assert_equal


def layers(statements: str, count: int = 3) -> str:
    """A program of equal layers: `{n}` is the number of one, and `{m}` of what it makes."""
    weights = "".join(f"tensor W{n}[f, h=4]\n" for n in range(count) if "W{n}" in statements)
    body = "".join(statements.format(n=n, m=n + 1) for n in range(count))
    return f"tensor A[i=6, k=6] : csr\ntensor X0[i, f=4]\n{weights}{body}"


FUSED = """fuse {{
  T{n}[i, f] = A[i, k] * X{n}[k, f]
  Y{n}[i, h] = T{n}[i, f] * W{n}[f, h]
  M{n}[i] max= Y{n}[i, h]
  X{m}[i, h] = exp(Y{n}[i, h] - M{n}[i]) * 0.5
}}
"""
APART = FUSED.replace("fuse {{\n", "").replace("}}\n", "")
TWICE = "fuse {{\n  Y{n}[i, f] = A[i, k] * X{n}[k, f]\n  X{m}[i, f] = Y{n}[i, g] * Y{n}[f, g]\n}}\n"
TYPED = (
    layers(APART).replace("W1[f, h=4]", "W1[f, h=4] : dense, i8").replace("exp", "relu").replace("0.5", "2")
)
CASES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "fused": (layers(FUSED), {}),
    "apart": (layers(APART), {}),
    "with orders and lanes": (layers(FUSED), {"lanes": {"i": 2}, "share": "all"}),
    "with copies": (layers("X{m}[i, f] = A[k, i] * X{n}[k, f]\n"), {"permute": True}),
    "with queues": (layers(FUSED), {"queues": {"T1": 4}}),
    "what one recomputes": (layers(FUSED), {"share": {"Y1": "recompute"}}),
    "names like those of further uses": (layers(TWICE).replace("Y1", "Y0_2"), {"permute": True}),
    "indices like those of further uses": (layers(TWICE).replace("g", "i_2"), {"permute": True}),
    "columns like tensors": (layers(FUSED).replace("T2", "t0").replace("M2", "t1"), {}),
    "rows like samhw's own": (layers(FUSED).replace("[k", "[val").replace(", k", ", val"), {}),
    "another number": (
        layers(FUSED).replace("X1[i, h] = exp(Y0[i, h] - M0[i]) * 0.5", "X1[i, h] = Y0[i, h]"),
        {},
    ),
    "another format": (f"tensor X2[i, f] : csr\n{layers(FUSED)}", {}),
    "another type": (TYPED, {}),
    "a reader outside": (layers(FUSED) + "Z[i] = T1[i, f]\n", {}),
    "reshapes": (
        layers("R{n}[r] = reshape(X{n}[i, f])\nX{m}[i, f] = A[i, k] * X{n}[k, f] \nS{n}[r] = R{n}[r] * 2\n"),
        {},
    ),
}


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


def by_itself(job: Job, monkeypatch: pytest.MonkeyPatch) -> Compiled:
    """A job compiled region by region."""
    with monkeypatch.context() as patch:
        for module in (program_to_design, decide):
            patch.setattr(module, "repeated", lambda scope: {})
        return compile_job(job)


@pytest.mark.parametrize("case", CASES)
def test_equal_regions_have_what_each_has_by_itself(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, schedule = CASES[case]
    job = Job(parse(text), Schedule(**schedule), value=value_type("i32" if "i8" in text else "f32"))
    assert_equal(compile_job(job), by_itself(job, monkeypatch))


def test_equal_regions_are_lowered_once(lowered: list[Sequence[str]]) -> None:
    compile_job(Job(parse(layers(FUSED))))
    assert len(lowered) == 1
    lowered.clear()
    compile_job(Job(parse(layers(APART))))
    assert len(lowered) == 4


NEARLY: Mapping[str, Callable[[str], str]] = {
    "another number": lambda text: text.replace("M1[i]) * 0.5", "M1[i]) * 0.25"),
    "another function": lambda text: text.replace("exp(Y1", "log(Y1"),
    "another reduction": lambda text: text.replace("M1[i] max=", "M1[i] min="),
    "another extent": lambda text: text.replace("W2[f, h=4]", "W2[f, h=5]"),
    "another format": lambda text: text.replace("W1[f, h=4]", "W1[f, h=4] : csr"),
    "a result that others read": lambda text: f"{text}Z[i] = T1[i, f]\n",
}


@pytest.mark.parametrize("case", NEARLY)
def test_nearly_equal_regions_are_lowered_by_themselves(
    case: str, lowered: list[Sequence[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job(parse(NEARLY[case](layers(FUSED))))
    found = compile_job(job)
    assert len(lowered) == 2 + ("read" in case)
    assert_equal(found, by_itself(job, monkeypatch))


def test_room_for_other_data_makes_another_region(lowered: list[Sequence[str]]) -> None:
    text = layers("B{n}[i, k] = A[i, k] * A[i, k]\nX{m}[i, f] = B{n}[i, k] * X{n}[k, f]\n")
    text = "".join(f"tensor B{n}[i, k] : csr\n" for n in range(3)) + text
    compile_job(Job(parse(text)))
    assert len(lowered) == 2
    compile_job(Job(parse(text), capacity=Capacity(entries={"B1": 20})))
    assert len(lowered) == 2 + 4


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("fuse", ["none", "partial"])
@pytest.mark.parametrize("name", ["gpt3_block", "gat", "graphsage", "gcn", "bigbird_attention", "mlp"])
def test_models_are_what_they_are_region_by_region(
    name: str, fuse: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job(bind_program(name, ["auto"]).program, Schedule(fuse=fuse), value=value_type("f32"))
    assert_equal(compile_job(job), by_itself(job, monkeypatch))
