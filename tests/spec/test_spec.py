"""Every kind answers every question, and what it answers holds: of its model, of its C++ and of its page."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError
from samhw.graph import Arch, Graph, Node, StreamKind, make
from samhw.graph.numerics import ALL_OPERATIONS, value_type
from samhw.graph.spec import PORTS, Each, Spec, StoredArray, kinds, spec_of
from samhw.lang import parse
from samhw.sim.network import ActorNetwork, Place, expand
from tests.spec.examples import EXAMPLES
from tests.support.bench import bench_primitive
from tests.support.streams import tokens

ARCH = Arch(memory=5, locate=7, step=3)

FOLLOWS_FROM_ANSWERS = {
    "bank_count",
    "memories",
    "extents",
    "repeats",
    "operand_type",
    "result_type",
    "instance",
    "read",
    "inside",
    "ordered",
    "kept",
    "banks",
    "behind_end",
}
CONVENTIONS = {"named", "subject", "note"}
"""What a node is called, and how it is spoken of, for which there is a rule."""


def node_of(kind: str) -> Node:
    example = EXAMPLES[kind]
    return make(kind, "n", example.depth, **example.params)


def network(node: Node) -> ActorNetwork:
    return expand(node, Graph("g", value_type("i32"), (node,), (), (), (), {"x": 2}), ARCH)


def test_every_kind_has_an_example_and_a_model() -> None:
    assert EXAMPLES.keys() == {*kinds()}
    for kind in kinds():
        assert network(node_of(kind)).actors


def test_a_folder_has_the_name_of_its_kind() -> None:
    assert len(kinds()) > 30
    assert all(spec_of(kind).kind == kind for kind in kinds())


def test_every_kind_has_its_rule_in_the_documents() -> None:
    page = (Path(__file__).parents[2] / "docs" / "primitives.md").read_text(encoding="utf-8")
    headings = re.findall(r"^##+ (\w+)$", page, re.MULTILINE)
    assert sorted(heading for heading in headings if heading in kinds()) == list(kinds())


def test_no_question_has_an_answer_that_a_kind_could_fall_into() -> None:
    questions = {name for name in vars(Spec) if not name.startswith("_")}
    assert questions - Spec.__abstractmethods__ == FOLLOWS_FROM_ANSWERS | CONVENTIONS


@pytest.mark.parametrize("question", sorted(Spec.__abstractmethods__))
def test_a_kind_without_an_answer_cannot_be_made(question: str) -> None:
    answers = {
        name: inspect.getattr_static(spec_of("shift"), name)
        for name in Spec.__abstractmethods__
        if name != question
    }
    with pytest.raises(TypeError, match=f"abstract method '?{question}"):
        type("Incomplete", (Spec,), answers)()


def test_a_kind_that_is_not_there() -> None:
    with pytest.raises(InputError, match="There is no primitive 'scan'; the kinds are alu, arg, array"):
        spec_of("scan")


@pytest.mark.parametrize("kind", kinds())
def test_ports_are_those_of_the_actors(kind: str) -> None:
    node = node_of(kind)
    made = network(node)
    inputs = {name for actor in made.actors for name in actor.inputs} - made.links.keys()
    outputs = {name for actor in made.actors for name in actor.outputs} - made.links.keys()
    assert inputs == {port.name for port in node.inputs}
    assert outputs == {port.name for port in node.outputs}
    assert all(len(actor.inputs) <= PORTS and len(actor.outputs) <= PORTS for actor in made.actors)


@pytest.mark.parametrize("kind", kinds())
def test_memories_and_extents_are_those_of_the_actors(kind: str) -> None:
    node = node_of(kind)
    actors = network(node).actors
    stores = {(store.place, store.name) for actor in actors for store in actor.memory}
    assert {name for place, name in stores if place is Place.MEMORY} == set(node.memories.values())
    assert {name for place, name in stores if place is Place.EXTENT} == set(node.extents.values())
    written = {actor.memory[k].name for actor in actors for k in actor.written}
    read = [actor.memory[read.store].name for actor in actors for read in actor.reads]
    for param, name in node.memories.items():
        use = node.spec.memories[param]
        assert (name in written) == use.written
        assert read.count(name) == (0 if use.each is Each.HELD else use.reads)
        assert (use.each is None) == use.written
        assert use.array in StoredArray


@pytest.mark.parametrize("kind", kinds())
def test_words_are_read_where_the_spec_says(kind: str) -> None:
    """For what is taken, the address is a head of the first input; for what is given, a token it pushes."""
    node = node_of(kind)
    each = {name: node.spec.memories[param].each for param, name in node.memories.items()}
    for actor in network(node).actors:
        for read in actor.reads:
            assert read.pushed == (each[actor.memory[read.store].name] is Each.GIVEN)
            assert read.pushed or actor.inputs[read.port] == node.inputs[0].name


@pytest.mark.parametrize(
    "kind", [kind for kind in kinds() if kind not in ("reduce_vector", "recur_vector", "recur")]
)
def test_the_first_token_comes_when_the_spec_says(kind: str) -> None:
    """The vector reducers count no cycles inside: what passes by them waits for a whole fiber anyway. recur
    counts those that an element after its first block waits."""
    node, example = node_of(kind), EXAMPLES[kind]
    inputs = {port: list(enumerate(tokens(text))) for port, text in example.inputs.items()}
    memories = {name: np.array(words) for name, words in example.memories.items()}
    extents = dict.fromkeys((*node.extents.values(), *node.repeats.values()), example.extent)
    bench = bench_primitive(node, ARCH, inputs, memories, extents)
    for port in node.outputs:
        if kind == "drop_crd" and port.name == "inner":
            continue  # It holds a stop back, in case that it has to go.
        latency = node.spec.latency(port.name, node.params, ARCH, value_type("i32"))
        first = bench.outputs[port.name][0][0]
        assert first == example.gives + node.spec.inside(node.params, ARCH, value_type("i32")) + latency


SPMM = """
tensor A[i=3, k=24] : dcsr
tensor X[k, j=4] : csr
tensor T[i, j] : dcsr
T[i,j] = A[i,k] * X[k,j] order i,k,j
"""


def test_arrays_are_those_of_the_memories_that_the_compiler_gives() -> None:
    graph = compile_job(Job(parse(SPMM))).design.regions[0]
    used = {
        (node.kind, node.spec.memories[param].array, graph.memory[name].array.rstrip("0123456789"))
        for node in graph.nodes
        for param, name in node.memories.items()
    }
    assert {kind for kind, _, _ in used} == {"scan_compressed", "array", "write_compressed", "write_val"}
    assert all(said == given for _, said, given in used)


@pytest.mark.parametrize(
    ("kind", "fibers", "coordinates"),
    [
        ("scan_dense", 3, 12),
        ("scan_compressed", 2, 5),
        ("scan_compressed", 9, 6),  # No more than there are.
        ("scan_singleton", 3, 3),
        ("scan_ell", 2, 3),
        ("scan_ragged", 2, 5),
        ("scan_dia", 3, 5),  # Of the last row, one diagonal lies outside.
        ("repeat", 3, None),
    ],
)
def test_what_a_scanner_gives(kind: str, fibers: int, coordinates: int | None) -> None:
    node = node_of(kind)
    memories = {"p": np.array([0, 2, 5, 6]), "c": np.arange(9)}
    memories |= {"n": np.array([2, 1, 1]), "o": np.array([2**32 - 1, 0, 9])}
    assert node.spec.coordinates(node.params, fibers, memories, {"x": 4}) == coordinates


@pytest.mark.parametrize("kind", kinds())
def test_answers_fit_each_other(kind: str) -> None:
    node, spec = node_of(kind), spec_of(kind)
    inputs = {port.name: port.stream for port in node.inputs}
    for port in node.outputs:
        followed = spec.follows(port.name, node.params)
        if followed is None:
            assert not node.inputs
            continue
        kept = spec.kept(node.params)
        around = inputs[followed].depth + spec.scans - (kept is not None)
        if kept is None:
            assert port.stream.depth == around
        else:
            assert around - kept <= port.stream.depth <= around
    words = {"p": np.array([0, 2]), "c": np.array([4, 7]), "n": np.array([1]), "o": np.array([0])}
    given = spec.coordinates(node.params, 1, words, {"x": 2})
    assert (given is not None) == spec.scans
    assert not (spec.scans and spec.kept(node.params) is not None)
    joins, reduction = spec.joins(node.params), spec.reduction(node.params)
    assert all(inputs[join.crd].kind is StreamKind.CRD for join in joins)
    assert {join.payload for join in joins} <= inputs.keys() & {port.name for port in node.outputs}
    assert [port for join in joins for port in join] == [p.name for p in node.inputs if joins]
    if reduction:
        names = (*reduction.coordinates, reduction.values)
        assert names == tuple(p.name for p in node.outputs)
        if reduction.operation is None:
            assert set(names) <= inputs.keys()
        else:
            assert names == tuple(p.name for p in node.inputs)
            work = spec.work(node.params)
            assert work is not None
            assert (work.operation, work.port) == (reduction.operation, reduction.values)
        innermost_first = [node.output(name).stream.depth for name in reduction.coordinates]
        assert innermost_first == sorted(innermost_first, reverse=True)
    assert (spec.banks is not None) == bool(spec.kept(node.params))
    if work := spec.work(node.params):
        assert work.operation in ALL_OPERATIONS
        assert inputs[work.port].kind is StreamKind.VAL
    carries_values = any(p.stream.kind is StreamKind.VAL for p in (*node.inputs, *node.outputs))
    assert not carries_values or "value" in spec.params


@pytest.mark.parametrize(
    ("params", "operand", "result"),
    [
        ({"op": "mul"}, "f32", "f32"),
        ({"op": "mul", "value": "i8"}, "i8", "i8"),
        ({"op": "mul", "value": "i8", "to": "i32"}, "i8", "i32"),
        ({"op": "convert", "to": "i8"}, "f32", "i8"),
    ],
)
def test_values_convert(params: dict[str, str], operand: str, result: str) -> None:
    alu, value = spec_of("alu"), value_type("f32")
    read = alu.read(params)
    assert (alu.operand_type(read, value), alu.result_type(read, value)) == (
        value_type(operand),
        value_type(result),
    )
    assert spec_of("union").result_type({"inputs": 2}, value_type("i16")) == value_type("i16")


@pytest.mark.parametrize(
    ("kind", "subject", "name", "note"),
    [
        ("scan_compressed", "A_k", "scan_compressed_A_k", "k, A: LS(A_k)"),
        ("locate", "A_k_2", "locate_A_k_2", "k, A: Locate(A_k_2)"),
        ("repeat", "x", "repeat_x", "Rep x"),
        ("crd_hold", "A_k", "crd_hold_A_k", "A_k"),
        ("write_val", "x", "write_val_x", "val, x: LW(x_val)"),
        ("alu", "mul", "mul", "val: mul(a_val, 3, c_val)"),
    ],
)
def test_words(kind: str, subject: str, name: str, note: str) -> None:
    spec = spec_of(kind)
    assert spec.named(subject) == name
    assert spec.subject(name) == subject
    params = {"op": "mul", "immediates": {"b": 3}} if kind == "alu" else {}
    assert spec.note(subject, params, {"a": "a_val", "c": "c_val"} if kind == "alu" else {}) == note


def test_an_infix_operation() -> None:
    params = {"op": "sub", "immediates": {"b": 0.5}}
    assert spec_of("alu").note("sub", params, {"a": "x_val"}) == "val: x_val - 0.5"
