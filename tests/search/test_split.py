"""Which ends of a region are looked at, and which one is taken."""

import pytest

from samhw.choices.schedule import Schedule
from samhw.compiler.passes import Lowerable
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.compiler.search.region_search import Candidate, RegionSearch
from samhw.graph.numerics import value_type
from samhw.lang import load_model, model_data
from samhw.lang.decision import Refusal


def lowered(model: str, monkeypatch: pytest.MonkeyPatch) -> tuple[list[tuple[str, ...]], list[str | None]]:
    """The results of each candidate that full fusion lowers, and the last result of each region."""
    best = RegionSearch.best
    found: list[tuple[str, ...]] = []

    def noted(search: RegionSearch, lowerable: Lowerable, number: int) -> Candidate | Refusal:
        found.append(lowerable.program.regions[number].written)
        return best(search, lowerable, number)

    monkeypatch.setattr(RegionSearch, "best", noted)
    program = load_model(model).bind({name: t.shape for name, t in model_data(model).items()})
    regions = compile_job(Job(program, Schedule(fuse="full"), value=value_type("f32"))).regions
    return found, [region.region.label for region in regions]


def test_no_end_is_tried_that_leaves_keys_with_their_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What K, V and Q take, as often as attention reads them, is nearly all of the block's time."""
    candidates, labels = lowered("gpt3_block", monkeypatch)
    whole, *parts = candidates
    assert labels == ["Q", "Y"]
    assert {"K", "V", "Q", "S", "O"} <= set(whole)
    for name, reader in (("K", "S"), ("Q", "S"), ("V", "O")):
        assert not any({name, reader} <= set(part) for part in parts)


def test_what_is_computed_again_for_one_that_is_computed_again_may_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All of the first layer is computed for each neighbour; stored, its result is computed once."""
    _, labels = lowered("gcn", monkeypatch)
    assert labels == ["H1", "Z2"]
