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
from samhw.graph import Arch, Endpoint, Kind, StreamKind
from samhw.graph.numerics import OVERFLOW, WIDENING, Integer, operation, value_type
from samhw.graph.widths import Ends, greatest_indices, index_bits, operation_ends, value_ends
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


@pytest.mark.parametrize("op", sorted({"convert", *Integer(8).operations}))
def test_the_ends_of_operations(op: str) -> None:
    """On all operands between some ends."""
    given = operation(op, Integer(8), Integer(32 if op in WIDENING or op == "convert" else 8))
    for ends in (Ends(-128, 127), Ends(-3, 20), Ends(0, 9)):
        words = np.arange(ends.least, ends.greatest + 1) & 0xFF
        operands = [each.ravel() for each in np.meshgrid(*[words] * min(given.arity, 2))]
        operands += operands[:1] * (given.arity - len(operands))
        found = given.apply(*operands)
        numbers = given.target.decode(found[found != OVERFLOW])
        around = operation_ends(op, [ends] * given.arity)
        if around is not None:
            most = around.within(given.target)
            assert (min(most.least, 0), most.greatest) == (min(numbers.min(), 0), numbers.max())


@pytest.mark.parametrize(("order", "columns"), [("i, j, k", "@ (1, 0)"), ("i, k, j", "")])
def test_sums_are_as_wide_as_their_terms_allow(order: str, columns: str) -> None:
    """With the coordinates that are kept outside and inside of the index that is summed."""
    text = f"tensor A[i=4, k=5] : csr, i8\ntensor X[k=5, j=3] : dense {columns}, i8\n"
    program = parse(f"{text}T[i, j] = A[i, k] * X[k, j]    order {order}")
    graph = compile_workload(Workload("sums", program, {})).design.regions[0]
    (node,) = (node for node in graph.nodes if node.kind.startswith("reduce_"))
    most = graph.extents["k"]
    assert value_ends(graph)[Endpoint(node.name, "val")] == (-most * 128 * 127, most * 128 * 128)


def _outcomes(work: Workload) -> Counter[str]:
    """How the indices and the values that pass in a run compare with the ends of their streams."""
    try:
        compiled = compile_workload(work, value=value_type("i32"))
    except ScheduleError:
        return Counter()
    seen: Counter[str] = Counter()
    memories, extents = load_inputs(compiled.program, compiled.design, work.tensors)
    bits = index_bits(compiled.design, compiled.arch)
    results = simulate_regions(compiled.design, compiled.arch, memories, extents, trace=True)
    for graph, result in zip(compiled.design.runs, results, strict=True):
        greatest, ends = greatest_indices(graph), value_ends(graph)
        for channel in graph.channels:
            source = graph.node[channel.source.node].output(channel.source.port)
            found = [token.payload for _, token in result.traces[channel.name] if token.kind is Kind.VAL]
            if source.stream.kind is StreamKind.VAL:
                kind = graph.given(graph.node[channel.source.node], channel.source.port).element
                assert isinstance(kind, Integer)
                numbers = [0, *kind.decode(np.array(found, int))]
                least, most = ends[channel.source]
                assert least <= min(numbers) <= max(numbers) <= most, channel.name
                if most < kind.highest and max(numbers):
                    seen["narrow"] += 1
                continue
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
        short = {name: value_type("i8") for name in tensors if number % 2}
        for level in FUSION_LEVELS:
            work = Workload("random", Schedule(fuse=level).apply(program), tensors)
            seen.update(_outcomes(work.with_types(short)))

    body()
    assert seen["met"] > seen["below"], seen
    assert seen["narrow"], seen
