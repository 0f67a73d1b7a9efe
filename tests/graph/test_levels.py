"""The indices of streams and of nodes, and what carries them on."""

from dataclasses import replace

import pytest

from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.graph import Arch, Design, Endpoint, Graph, dumps, levels, loads, with_indices
from samhw.graph.address_map import AddressMap
from samhw.graph.numerics import value_type
from samhw.lang import parse

SPMM = """
tensor A[i=3, k=24] : csr
tensor X[k, j=4] : csr
tensor T[i, j] : dcsr
T[i,j] = relu(A[i,k] * X[k,j]) order i,k,j
"""
INDICES = {
    "root": "",
    "scan_dense_A_i": "i",
    "scan_compressed_A_k": "k",
    "locate_X_k": "k",
    "scan_compressed_X_j": "j",
    "repeat_A_j": "j",
    "array_X": "j",
    "relu": "j",
    "reduce_vector_t0": "k",
    "drop_crd_T_i": "i",
    "write_compressed_T_i": "i",
    "write_compressed_T_j": "j",
    "write_val_T": "j",
}


@pytest.fixture(scope="module")
def spmm() -> Graph:
    return compile_job(Job(parse(SPMM), value=value_type("f32"))).design.regions[0]


def test_a_node_knows_the_index_that_it_works_on(spmm: Graph) -> None:
    assert {name: spmm.node[name].index for name in INDICES} == INDICES


def test_the_indices_of_streams(spmm: Graph) -> None:
    known = levels(spmm)
    assert known[Endpoint("root", "out")] == ()
    assert known[Endpoint("mul", "val")] == ("i", "k", "j")
    assert known[Endpoint("reduce_vector_t0", "val")] == ("i", "j")
    for node in spmm.nodes:
        for port in node.outputs:
            assert len(known[Endpoint(node.name, port.name)]) == port.stream.depth


def test_the_outer_streams_of_a_reducer_have_fewer_levels() -> None:
    text = "tensor A[k=24, i=3, j=4] : csf\ntensor T[i, j] : csf\nT[i,j] = A[k,i,j] order k,i,j"
    graph = compile_job(Job(parse(text))).design.regions[0]
    (reducer,) = (node for node in graph.nodes if node.kind == "reduce_vector")
    known = levels(graph)
    assert reducer.index == "k"
    assert known[Endpoint(reducer.name, "crd0")] == known[Endpoint(reducer.name, "val")] == ("i", "j")
    assert known[Endpoint(reducer.name, "crd1")] == ("i",)


def test_a_scalar_reducer_sums_over_its_innermost_index() -> None:
    graph = compile_job(Job(parse("tensor x[i=9] : csf\ntensor s\ns = x[i]"))).design.regions[0]
    assert {node.kind: node.index for node in graph.nodes} == {
        "root": "",
        "scan_compressed": "i",
        "array": "i",
        "reduce_scalar": "i",
        "write_val": "",
    }


def test_regions_keep_the_indices(spmm: Graph) -> None:
    both = Design.assemble("both", [spmm, replace(spmm, memories=spmm.memories)])
    assert [node.index for _, node in both.nodes] == 2 * [node.index for node in spmm.nodes]
    assert with_indices(spmm) == spmm


def test_json_has_the_index(spmm: Graph) -> None:
    assert loads(dumps(Design.of(spmm))) == Design.of(spmm)


def test_hardware_does_not_depend_on_indices(spmm: Graph) -> None:
    bare = replace(spmm, nodes=tuple(replace(node, index="") for node in spmm.nodes))
    assert AddressMap(Design.of(bare), Arch()).identity == AddressMap(Design.of(spmm), Arch()).identity
