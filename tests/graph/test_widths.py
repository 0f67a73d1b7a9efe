"""The greatest index of each stream bounds what runs show, and a build is as wide as the greatest of them."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.app.workload import Workload, bind_program, compile_workload
from samhw.choices.fuse import FUSION_LEVELS
from samhw.choices.schedule import Schedule
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import ScheduleError
from samhw.graph import Arch, Kind, StreamKind
from samhw.graph.numerics import operation, value_type
from samhw.graph.widths import greatest_indices, index_bits
from samhw.lang import Program, parse
from samhw.sim import simulate_regions
from samhw.targets.running.images import load_inputs
from tests.support.program_cases import random_tensors
from tests.support.strategies.chains import chained_programs
from tests.support.strategies.drawn import drawn

DENSE = "tensor a[i] : dense\ntensor b[j] : dense\ntensor c[k] : dense\n"


def test_a_build_is_as_wide_as_its_data() -> None:
    compiled = compile_workload(bind_program("spmm", ["karate"]))
    # T has up to 1024 coordinates, and a position after them.
    assert index_bits(compiled.design, compiled.arch) == 11
    assert index_bits(compiled.design, Arch(index_bits=9)) == 9


def test_a_dense_level_without_a_memory_counts() -> None:
    """The references of a walk over indices lie beside those of the tensors."""
    program = parse("tensor K[i, j, k] : dense\n" + DENSE + "K[i,j,k] = a[i] * b[j] * c[k]")
    compiled = compile_job(Job(program.bind({"a": (9,), "b": (9,), "c": (9,)})))
    (graph,) = compiled.design.regions
    assert max(greatest_indices(graph).values()) <= 9**3 - 1
    assert index_bits(compiled.design, compiled.arch) == 10


@pytest.mark.parametrize("kind", ["i8", "u8"])
@pytest.mark.parametrize("op", ["mul", "add", "sub", "convert"])
def test_the_ends_of_what_makes_integers_wider(op: str, kind: str) -> None:
    """On all operands."""
    source = value_type(kind)
    given = operation(op, source, value_type("i32"))
    words = np.arange(256)
    operands = [words] if op == "convert" else [each.ravel() for each in np.meshgrid(words, words)]
    found = given.apply(*operands).astype(np.int32)
    assert given.ends == (found.min(), found.max())
    assert operation(op, value_type("i32"), value_type("i32")).ends is None
    assert operation(op, source, source).ends is None


def _outcomes(work: Workload) -> Counter[str]:
    """How the indices that pass in a run compare with the greatest of their streams."""
    try:
        compiled = compile_workload(work, value=value_type("i32"))
    except ScheduleError:
        return Counter()
    seen: Counter[str] = Counter()
    memories, extents = load_inputs(compiled.program, compiled.design, work.tensors)
    bits = index_bits(compiled.design, compiled.arch)
    results = simulate_regions(compiled.design, compiled.arch, memories, extents, trace=True)
    for graph, result in zip(compiled.design.runs, results, strict=True):
        greatest = greatest_indices(graph)
        for channel in graph.channels:
            source = graph.node[channel.source.node].output(channel.source.port)
            if source.stream.kind is StreamKind.VAL:
                continue
            found = [token.payload for _, token in result.traces[channel.name] if token.kind is Kind.VAL]
            assert max(found, default=0) <= greatest[channel.source], channel.name
            assert greatest[channel.source] < 1 << bits
            if found:
                seen["met" if max(found) == greatest[channel.source] else "below"] += 1
    return seen


@pytest.mark.slow
def test_no_run_exceeds_them() -> None:
    seen: Counter[str] = Counter()

    @drawn(60, 0)
    @given(chained_programs(integers=True), st.integers(0, 2**32 - 1))
    def body(program: Program, number: int) -> None:
        tensors = random_tensors(program, np.random.default_rng(number))
        for level in FUSION_LEVELS:
            seen.update(_outcomes(Workload("random", Schedule(fuse=level).apply(program), tensors)))

    body()
    assert seen["met"] > seen["below"], seen
