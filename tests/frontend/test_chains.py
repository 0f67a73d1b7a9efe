"""Chains of indices that one order is to follow."""

from itertools import pairwise

import pytest

from samhw.lang.index import add_chains
from samhw.precedence import Precedence


@pytest.mark.parametrize(
    ("chains", "against"),
    [
        (["ij", "jk"], ()),
        (["ij", "jk", "ki"], (2,)),
        # What comes first is followed, and a chain that is left out takes nothing of another one away.
        (["ij", "jik", "jk"], (1,)),
        (["ii", "ij"], (0,)),
        (["ij", "kji", "kj"], (1,)),
    ],
)
def test_chains_that_make_no_cycle_are_added(chains: list[str], against: tuple[int, ...]) -> None:
    graph = Precedence[str]()
    assert add_chains(graph, chains) == against
    followed = [chain for number, chain in enumerate(chains) if number not in against]
    assert set(graph.edges) == {edge for chain in followed for edge in pairwise(chain)}
    assert graph.is_acyclic


def test_edges_that_are_there_stay() -> None:
    graph = Precedence("", [("i", "j")])
    assert add_chains(graph, ["ijki"]) == (0,)
    assert set(graph.edges) == {("i", "j")}
