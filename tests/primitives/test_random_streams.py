"""Every primitive on random well-formed streams: what comes out, and when."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samhw.graph import Arch, StreamKind, check_stream
from samhw.numerics import ALL_OPERATIONS, REDUCTIONS
from samhw.spec import kinds
from samhw.spec.arch import Latencies
from tests.nested import from_stream
from tests.primitives.cases import CASES, Case, timed, timings
from tests.sim.bench import bench_primitive
from tests.sim.clocked import clocked_primitive


def alu_latencies(cycles: int) -> Latencies:
    """A latency for every operation, even where the type has none of that name."""
    return {family: {op: cycles + len(op) % 3 for op in ALL_OPERATIONS} for family in Arch().alu}


def reduce_latencies(sums: int, others: int) -> Latencies:
    """Sums of floating point, and all other reductions, which reduce_scalar wants to be 1."""
    exact = dict.fromkeys(REDUCTIONS, others)
    return {family: exact | ({"sum": sums} if family in ("bf16", "f32") else {}) for family in Arch().reduce}


def arches_with(reduce: st.SearchStrategy[Latencies]) -> st.SearchStrategy[Arch]:
    """Random latencies."""
    return st.builds(
        Arch,
        step=st.integers(1, 3),
        memory=st.integers(2, 4),
        locate=st.integers(2, 5),
        alu=st.integers(1, 6).map(alu_latencies),
        reduce=reduce,
    )


arches = arches_with(st.builds(reduce_latencies, st.integers(1, 8), st.just(1)))
spaced_arches = arches_with(st.builds(reduce_latencies, st.integers(1, 8), st.integers(1, 8)))


def test_every_kind_has_cases() -> None:
    assert tuple(CASES) == kinds()


def ordered_outputs(case: Case) -> list[str]:
    """Outputs whose coordinates strictly increase inside a fiber."""
    if not case.increasing:
        return []
    crds = (p.name for p in case.node.outputs if p.stream.kind is StreamKind.CRD)
    return [name for name in crds if not name.startswith("ref")]


@pytest.mark.parametrize("kind", CASES)
def test_meaning_and_timing(kind: str) -> None:
    @settings(max_examples=60)
    @given(st.data())
    def run(data: st.DataObject) -> None:
        case = data.draw(CASES[kind]())
        timing = data.draw(timings(case))
        arch = data.draw(spaced_arches if kind == "reduce_vector" else arches)
        inputs = {name: timed(tokens, timing.ready[name]) for name, tokens in case.streams().items()}
        given = (case.node, arch, inputs, case.memories, case.extents, timing.sinks)
        depths = {"input_depths": timing.input_depths, "output_depths": timing.output_depths}
        bench = bench_primitive(*given, **depths, value=case.value)
        in_order = ordered_outputs(case)
        for port in case.node.outputs:
            tokens = [token for _, token in bench.outputs[port.name]]
            check_stream(tokens, port.stream.depth, ordered=port.name in in_order)
            assert from_stream(tokens, port.stream.depth) == case.expected[port.name], port.name
        assert {name: list(words) for name, words in bench.memories.items()} == case.written

        outputs, firings = clocked_primitive(*given, **depths, value=case.value)
        assert bench.outputs == outputs
        assert bench.committed == (None if case.node.outputs else firings[-1])

    run()
