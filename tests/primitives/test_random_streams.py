"""Every primitive on random well-formed streams: what comes out, and when."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samhw.graph import Arch, StreamKind, check_stream
from samhw.graph.nested import from_stream
from samhw.primitives import kinds
from samhw.sim import bench_primitive
from tests.primitives.cases import CASES, Case, timed, timings
from tests.sim.clocked import clocked_primitive

arches = st.builds(
    Arch,
    step=st.integers(1, 3),
    memory=st.integers(2, 4),
    locate=st.integers(2, 5),
    accumulate=st.integers(1, 3),
    alu=st.fixed_dictionaries({op: st.integers(1, 6) for op in ("add", "sub", "mul", "neg")}),
)


def test_every_kind_has_cases() -> None:
    assert tuple(CASES) == kinds()


def ordered_outputs(case: Case) -> list[str]:
    """Outputs whose coordinates strictly increase inside a fiber."""
    if case.node.kind in ("crd_hold", "scan_singleton"):
        return []
    crds = (p.name for p in case.node.outputs if p.stream.kind is StreamKind.CRD)
    return [name for name in crds if not name.startswith("ref")]


@pytest.mark.parametrize("kind", CASES)
def test_meaning_and_timing(kind: str) -> None:
    @settings(max_examples=60, deadline=None)
    @given(st.data())
    def run(data: st.DataObject) -> None:
        case = data.draw(CASES[kind]())
        timing = data.draw(timings(case))
        arch = data.draw(arches)
        inputs = {name: timed(tokens, timing.ready[name]) for name, tokens in case.streams().items()}
        bench = bench_primitive(
            case.node,
            arch,
            inputs,
            case.memories,
            case.extents,
            timing.sinks,
            input_depths=timing.input_depths,
            output_depths=timing.output_depths,
        )
        in_order = ordered_outputs(case)
        for port in case.node.outputs:
            tokens = [token for _, token in bench.outputs[port.name]]
            check_stream(tokens, port.stream.depth, ordered=port.name in in_order)
            assert from_stream(tokens, port.stream.depth) == case.expected[port.name], port.name
        assert {name: list(words) for name, words in bench.memories.items()} == case.written

        outputs, firings = clocked_primitive(
            case.node,
            arch,
            inputs,
            case.memories,
            case.extents,
            timing.sinks,
            timing.input_depths,
            timing.output_depths,
        )
        assert bench.outputs == outputs
        assert bench.committed == (None if case.node.outputs else firings[-1])

    run()
