"""What uses of an intermediate share, where a region is split for that, and what a schedule may say."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError, ScheduleError
from samhw.graph.numerics import value_type
from samhw.lang import load, load_model, model_data, parse
from samhw.targets.backends import run
from samhw.tensors import Tensor

PROGRAMS = Path(__file__).parents[2] / "benchmarks" / "programs"
RESIDUAL = (PROGRAMS / "residual_norm.ein").read_text()
SOFTMAX = """
tensor S[i=3, j=8] : csr
tensor P[i, j] : csr
fuse {
  C[i, j] = 2 * S[i, j] where S[i, j]
  m[i] max= C[i, j] where S[i, j]
  E[i, j] = exp(C[i, j] - m[i]) where S[i, j]
  l[i] = E[i, j]
  P[i, j] = E[i, j] / l[i]
}
"""
NESTED = """
tensor X[i=8, k=8] : dense
tensor V[k, e=8] : dense
tensor W[f=8, e] : dense
fuse {
  R[i, e] = X[i, k] * V[k, e]
  N[i, e] = R[i, e] * R[i, e]
  U[i, f] = N[i, e] * W[f, e]
}
"""
"""Every f reads the whole row of N."""


def compiled(text: str, **schedule: Any) -> Compiled:
    return compile_job(Job(parse(text), Schedule(**schedule), value=value_type("f32")))


def ways(program: Compiled) -> dict[str, str]:
    return {c.tensor: c.how for region in program.regions for c in region.computations}


def operations(program: Compiled, op: str) -> int:
    return sum(n.params.get("op") == op for region in program.regions for n in region.graph.nodes)


def test_a_residual_shares_its_input_with_the_norm_behind_a_product() -> None:
    found = compiled(RESIDUAL)
    assert len(found.regions) == 1
    assert ways(found) == {"R": "buffer", "mean": "stream", "N": "stream", "F": "stream", "G": "stream"}
    # X + 1 and G + R.
    assert operations(found, "add") == 2
    assert operations(compiled(RESIDUAL, share="none"), "add") == 4


def test_a_long_chain_is_gone_through_once() -> None:
    """Each statement uses the one before it twice: along all ways through the chain there would be no end."""
    length = 40
    declared = "".join(f"tensor x{n}[i=8] : dense\n" for n in range(length + 1))
    made = "".join(f"  x{n + 1}[i] = tanh(x{n}[i]) * x{n}[i]\n" for n in range(length))
    found = compiled(f"{declared}fuse {{\n{made}}}\n")
    assert len(found.regions) == 1
    assert operations(found, "mul") == length


@pytest.mark.parametrize("name", ["residual_norm", "block_tail"])
def test_whole_regions_compute_nothing_twice(name: str) -> None:
    (region,) = compile_job(Job(load(PROGRAMS / f"{name}.ein"), value=value_type("f32"))).regions
    assert all(c.is_once and c.times == 1 for c in region.computations)


def test_a_softmax_waits_for_its_maximum_in_a_channel() -> None:
    (region,) = compiled(SOFTMAX).regions
    (scores,) = (c for c in region.computations if c.tensor == "C")
    assert scores.readers == ("m", "E")
    assert scores.is_once
    assert "a fiber over j, 9 tokens, waits for" in scores.why


def test_a_use_in_another_nest_ends_the_region() -> None:
    found = compiled(NESTED)
    assert [[s.lhs.tensor for s in r.region.statements] for r in found.regions] == [["R", "N"], ["U"]]
    note = found.regions[0].note
    assert "ends after N: fused with what follows" in note
    assert "would be computed about 8.0 times (it is read inside of f" in note
    assert found.schedule.fuse == (("R", "N"), ("U",))


def test_a_use_that_cannot_follow_gets_a_copy_beside_one_that_can() -> None:
    """Shared with the use inside of f, one stream could not be followed, and nothing at all be shared."""
    text = """
    tensor X[i=8, e=8] : dense
    tensor W[f=8, e] : dense
    fuse {
      N[i, e] = X[i, e] * X[i, e]
      U[i, f] = N[i, e] * W[f, e]
      Z[i, e] = 2 * N[i, e]
      R[i, e] = X[i, e] + 1
      m[i] = R[i, e]
      Q[i, e] = R[i, e] - m[i]
    }
    """
    (region,) = compiled(text).regions
    assert ways(compiled(text))["R"] == "buffer"
    (shared,) = (c for c in region.computations if c.tensor == "N")
    assert len(shared.places) == 2
    assert shared.why.endswith("2 uses meet its rows at different places")


def test_the_schedule_that_was_used_gives_the_same() -> None:
    found = compiled(NESTED)
    again = compile_job(Job(parse(NESTED), found.schedule, value=value_type("f32")))
    assert [r.graph for r in again.regions] == [r.graph for r in found.regions]


def test_nothing_is_split_or_shared_by_none() -> None:
    (region,) = compiled(NESTED, share="none").regions
    by_name = {c.tensor: c for c in region.computations}
    assert by_name["N"].how == "recompute"
    assert by_name["N"].times == 8
    assert by_name["N"].places[0].inside == ("f",)


def test_all_splits_whatever_it_costs() -> None:
    # A row takes U as long as N to be recomputed, and both do at once.
    text = (
        NESTED.replace("X[i, k] * V[k, e]", "X[i, e] + 1")
        .replace("k=8", "e=8")
        .replace("tensor V[k, e=8] : dense\n", "")
    )
    assert len(compiled(text).regions) == 1
    found = compiled(text, share="all")
    assert [len(r.region.statements) for r in found.regions] == [2, 1]


def test_single_intermediates() -> None:
    found = compiled(RESIDUAL, share={"F": "store"})
    assert [r.region.statements[-1].lhs.tensor for r in found.regions] == ["F", "Y"]
    assert ways(compiled(RESIDUAL, share={"R": "recompute"}))["R"] == "recompute"
    assert ways(compiled(RESIDUAL, share={"R": "buffer"}))["R"] == "buffer"
    assert len(compiled(NESTED, share={"N": "recompute"}).regions) == 1


@pytest.mark.parametrize(
    ("share", "message", "way_out"),
    [
        ({"N": "buffer"}, "keeps N in a buffer, but streams do not allow it: it is read", {"N": "store"}),
        ({"X": "store"}, "'share' names 'X', which no statement of '<text>' computes", {"R": "store"}),
    ],
)
def test_what_is_refused_and_the_way_out(
    share: dict[str, str], message: str, way_out: dict[str, str]
) -> None:
    with pytest.raises(InputError, match=message):
        compiled(NESTED, share=share)
    assert compiled(NESTED, share=way_out)


def test_an_order_of_the_whole_region_and_a_stored_intermediate_are_refused() -> None:
    order = {"U": ("i", "f", "k", "e")}
    with pytest.raises(ScheduleError, match="the schedule gives the whole region an order; leave one of the"):
        compiled(NESTED, share={"N": "store"}, order=order)
    assert len(compiled(NESTED, order=order).regions) == 1


def test_all_is_refused_where_no_region_can_end() -> None:
    with pytest.raises(ScheduleError, match="'share' is all, but R would be computed more than once"):
        compiled(NESTED, share="all", order={"U": ("i", "f", "k", "e")})


MASKED = """
tensor A[i=4, j=6] : csr
tensor X[i, j] : dense
tensor M[i, j] : csr
tensor Y[i, j] : csr
fuse {
  M[i, j] = max(A[i, j] - 1, 0) where A[i, j]
  Y[i, j] = X[i, j] + 1 where M[i, j]
  s[i] = 2 * X[i, j] where M[i, j]
}
"""


@pytest.mark.parametrize("share", ["auto", "all", "none"])
def test_a_mask_that_the_region_computes(share: Any) -> None:
    rng = np.random.default_rng(1)
    a, x = rng.integers(0, 4, (4, 6)), rng.integers(-3, 4, (4, 6))
    program = parse(MASKED)
    found = compile_job(Job(program, Schedule(share=share), value=value_type("i32")))
    assert len(found.regions) == 1
    given = {"A": a, "X": x}
    outputs = run(
        found, {n: Tensor.from_dense(v, program.tensors[n].format) for n, v in given.items()}
    ).outputs
    mask = a > 1
    np.testing.assert_array_equal(outputs["Y"].to_dense(), np.where(mask, x + 1, 0))
    np.testing.assert_array_equal(outputs["s"].to_dense(), np.where(mask, 2 * x, 0).sum(1))


def test_full_fusion_of_a_decoder_block_stores_keys_and_values() -> None:
    program = load_model("gpt3_block").bind({n: t.shape for n, t in model_data("gpt3_block").items()})
    regions = compile_job(Job(program, Schedule(fuse="full"), value=value_type("f32"))).regions
    assert {"K", "V", "Q"} <= {binding.name for binding in regions[1].graph.tensors}
    assert len(regions) == 2
