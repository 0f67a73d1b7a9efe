"""Every primitive on random well-formed streams: what comes out, and when."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samhw.graph import StreamKind, check_stream
from samhw.graph.spec import kinds
from tests.support.bench import bench_primitive
from tests.support.clocked import clocked_primitive
from tests.support.nested import from_stream
from tests.support.strategies.arches import arches, spaced_arches
from tests.support.stream_cases import CASES, Case, timed, timings


def test_every_kind_has_cases() -> None:
    assert CASES.keys() == {*kinds()}


def ordered_outputs(case: Case) -> list[str]:
    """Outputs whose coordinates strictly increase inside a fiber."""
    if not case.increasing:
        return []
    crds = (p.name for p in case.node.outputs if p.stream.kind is StreamKind.CRD)
    return [name for name in crds if not name.startswith("ref")]


@pytest.mark.nightly(but=18)
@pytest.mark.parametrize("kind", CASES)
def test_meaning_and_timing(kind: str) -> None:
    @settings(max_examples=80)
    @given(st.data())
    def run(data: st.DataObject) -> None:
        case = data.draw(CASES[kind]())
        timing = data.draw(timings(case))
        arch = data.draw(spaced_arches if kind in ("reduce_vector", "recur_vector") else arches)
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
