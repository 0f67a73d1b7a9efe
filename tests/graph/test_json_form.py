import json
from dataclasses import replace

import pytest

from samhw.compiler import compile_program
from samhw.errors import InputError
from samhw.frontend import parse
from samhw.graph import Graph, dumps, loads, make
from tests.graph.test_validate import example, with_node


def test_round_trip() -> None:
    params = {"bits": [3, 4], "immediate": 0.5, "op": "größer"}
    graph = with_node(example(), 0, note="cell (i, B)", params=params)
    assert loads(dumps(graph)) == graph
    assert dumps(loads(dumps(graph))) == dumps(graph)


def test_round_trip_of_a_made_node() -> None:
    node = make("union", "u", 1, inputs=2, payloads=("ref", "val"))
    graph = with_node(example(), 0, params=node.params, inputs=node.inputs, outputs=node.outputs)
    assert loads(dumps(graph)) == graph


def test_version_is_there() -> None:
    assert json.loads(dumps(example()))["version"] == 3


PROGRAMS = [
    "tensor A[i, k] : csr\ntensor B[k, j] : csc\ntensor C[i, j] : dcsr\nC[i,j] = A[i,k] * B[k,j] order i,j,k",
    "tensor A[i, a] : csf\ntensor C[i, j] : csf\nC[i, j] = concat(j, A[i, j], A[i, j])",
    "tensor A[i, j, k] : csf @ (2, 0, 1)\ntensor x[j] : dense\nx[j] = A[i,j,k]  order k,i,j",
]


def of_version_2(graph: Graph) -> str:
    """As it was saved when scanners of stored coordinates had no extents."""
    data = json.loads(dumps(graph)) | {"version": 2}
    for node in data["nodes"]:
        if node["kind"] in ("scan_compressed", "scan_singleton"):
            del node["params"]["extent"]
    return json.dumps(data)


@pytest.mark.parametrize("text", PROGRAMS)
def test_the_version_before(text: str) -> None:
    program = parse(text)
    shapes = {decl.name: tuple(3 + mode for mode in range(decl.rank)) for decl in program.inputs}
    if len(program.inputs) == 2:
        shapes = {"A": (3, 4), "B": (4, 5)}
    graph = compile_program(program.bind(shapes)).graph
    assert any(node.kind == "scan_compressed" for node in graph.nodes)
    assert loads(of_version_2(graph)) == graph


def test_the_version_before_without_its_tensors() -> None:
    graph = compile_program(parse(PROGRAMS[0]).bind({"A": (3, 4), "B": (4, 5)})).graph
    with pytest.raises(InputError, match=r"is damaged .KeyError: 'A'.; compile it again"):
        loads(of_version_2(replace(graph, tensors=())))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "has version None, not 3"),
        ('{"version": 1}', "has version 1, not 3"),
        ('{"version": 3, "name": "x"}', "is damaged .KeyError: 'value'"),
        (dumps(example()).replace('"crd"', '"cdr"'), "is damaged .ValueError: 'cdr'"),
        (dumps(example()).replace('"capacity"', '"size"'), "is damaged .TypeError"),
    ],
)
def test_texts_that_are_no_graph(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        loads(text)
