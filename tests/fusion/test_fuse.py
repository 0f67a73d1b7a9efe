"""Cross-expression fusion: instances, fresh indices, what uses share, and the edges that they bring."""

import pytest

from samhw.choices.schedule import Schedule
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import ScheduleError
from samhw.graph.numerics import value_type
from samhw.lang import Capacity, parse
from samhw.lang.decision import Sharing
from samhw.lang.expr import Access
from samhw.lang.fusion import FusedRegion
from samhw.lang.fusion.order import partial_order

CHAIN = """
tensor A[i=4, k=4] : csr
tensor X[k, j=3] : dense
fuse {
  T[i, j] = A[i, k] * X[k, j]
  Y[i, j] = A[i, k] * T[k, j]
}
"""

SOFTMAX = """
tensor Q[i=4, d=3] : dense
tensor K[j=4, d] : dense
tensor M[i, j] : csr
tensor S[i, j] : csr
tensor E[i, j] : csr
tensor P[i, j] : csr
fuse {
  S[i, j] = Q[i, d] * K[j, d] where M[i, j]
  m[i] max= S[i, j] where M[i, j]
  E[i, j] = exp(S[i, j] - m[i]) where M[i, j]
  l[i] = E[i, j]
  P[i, j] = E[i, j] / l[i]
}
"""


def fused(text: str, sharing: Sharing = Sharing.REDUCED) -> FusedRegion:
    program = parse(text)
    return FusedRegion(program, program.regions[0], sharing)


def counts(region: FusedRegion) -> dict[str, int]:
    names = [instance.tensor for instance in region.instances]
    return {name: names.count(name) for name in names}


def test_a_producer_takes_the_indices_of_its_use_and_fresh_ones_for_what_it_reduces() -> None:
    region = fused(CHAIN)
    producer, consumer = region.instances
    assert (producer.tensor, consumer.tensor) == ("T", "Y")
    assert consumer.rename == {"i": "i", "j": "j", "k": "k"}
    assert producer.rename == {"i": "k", "j": "j", "k": "k_2"}
    assert consumer.producer(Access.of("T", ("k", "j"))) is producer
    assert consumer.producer(Access.of("A", ("i", "k"))) is None
    assert region.dimension == {"i": "i", "j": "j", "k": "i", "k_2": "i"}


def test_storage_and_dataflow_orders_are_edges_of_the_partial_order_graph() -> None:
    text = CHAIN.replace("* T[k, j]", "* T[k, j]    order i, k, j")
    graph = partial_order(fused(text))
    assert set(graph.edges) == {("i", "k"), ("k", "k_2"), ("k_2", "j"), ("i", "j"), ("k", "j")}
    assert graph.edges["k", "k_2"] == ["A[k, k_2]"]
    # The order of the statement that writes Y stays if operands are copied, the storage of A does not.
    assert ("k", "j") in graph.fixed
    assert ("k", "k_2") not in graph.fixed


def test_each_use_under_other_indices_is_an_instance_of_its_own() -> None:
    text = CHAIN.replace("A[i, k] * T[k, j]", "T[i, j] + A[i, k] * T[k, j]")
    assert counts(fused(text)) == {"T": 2, "Y": 1}


@pytest.mark.parametrize(
    ("sharing", "scores"), [(Sharing.REDUCED, 1), (Sharing.EQUAL, 3), (Sharing.NOTHING, 4)]
)
def test_a_softmax_computes_its_scores_once_if_streams_allow_it(sharing: Sharing, scores: int) -> None:
    assert counts(fused(SOFTMAX, sharing))["S"] == scores


def test_shared_scores_are_one_part_of_the_graph() -> None:
    graph = compile_job(Job(parse(SOFTMAX), value=value_type("f32"))).regions[0].graph
    assert sum(node.params.get("vals") == "Q.vals" for node in graph.nodes) == 1


def test_what_is_read_outside_of_the_region_leaves_it() -> None:
    text = CHAIN + "Z[i, j] = 2 * T[i, j]\n"
    assert [output.tensor for output in fused(text).outputs] == ["T", "Y"]


def test_a_chain_that_doubles_with_each_statement_is_refused() -> None:
    statements = "\n".join(f"  T{n + 1}[i, j] = T{n}[i, k] * T{n}[k, j]" for n in range(12))
    text = f"tensor T0[i=4, j=4] : dense\nfuse {{\n{statements}\n}}\n"
    with pytest.raises(ScheduleError, match="more than 256 times over; split the region"):
        compile_job(Job(parse(text), Schedule(share="none"), capacity=Capacity()))


def test_a_region_of_many_statements_computes_each_of_them() -> None:
    statements = "\n".join(f"  Y{n}[i] = x[i] + {n}" for n in range(300))
    program = parse(f"tensor x[i=4]\nfuse {{\n{statements}\n}}")
    assert len(FusedRegion(program, program.regions[0]).instances) == 300
