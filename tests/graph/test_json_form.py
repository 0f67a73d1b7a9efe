import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from samhw.errors import InputError
from samhw.graph import Arch, Design, MemoryRole, dumps, loads, make, validate_design
from samhw.sim import simulate_regions
from tests.graph.test_design import whole
from tests.graph.test_validate import example, with_node

VERSION_3 = Path(__file__).parent / "version_3"
"""Texts as they were saved when a design was one graph. One region: `y[i] = A[i,j] * x[j]`, with A in csr, of
4 by 3. Two regions: `B[i,j] = relu(A[i,j])` and `C[i] = B[i,j] * A[i,j]`, all compressed, A of that shape."""


def test_round_trip() -> None:
    params = {"bits": [3, 4], "immediate": 0.5, "op": "größer"}
    design = Design.of(with_node(example(), 0, note="cell (i, B)", params=params))
    assert loads(dumps(design)) == design
    assert dumps(loads(dumps(design))) == dumps(design)


def test_round_trip_of_a_made_node() -> None:
    node = make("union", "u", 1, inputs=2, payloads=("ref", "val"))
    graph = with_node(example(), 0, params=node.params, inputs=node.inputs, outputs=node.outputs)
    assert loads(dumps(Design.of(graph))) == Design.of(graph)


def test_round_trip_of_several_regions() -> None:
    assert loads(dumps(whole())) == whole()
    turned = replace(whole(), regions=whole().regions[::-1], sequence=whole().sequence[::-1])
    assert loads(dumps(turned)) == turned


def test_version_is_there() -> None:
    assert json.loads(dumps(Design.of(example())))["version"] == 4


def saved(name: str) -> str:
    return (VERSION_3 / f"{name}.json").read_text(encoding="utf-8")


def test_version_3_with_one_region() -> None:
    design = loads(saved("one_region"))
    validate_design(design)
    assert loads(dumps(design)) == design
    assert (design.name, design.regions[0].name) == ("scale", "scale")
    words = {"A.pos1": [0, 2, 2, 3, 3], "A.crd1": [0, 2, 1], "A.vals": [5, 6, 7], "x.vals": [1, 10, 100]}
    memories = {name: np.array(array) for name, array in words.items()}
    (result,) = simulate_regions(design, Arch(), memories, {"i": 4, "j": 3})
    assert result.memories["y.vals"].tolist() == [605, 0, 70, 0]


def test_version_3_with_two_regions() -> None:
    design = loads(saved("two_regions"))
    validate_design(design)
    assert loads(dumps(design)) == design
    first, second = design.regions
    assert [graph.name for graph in design.runs] == ["two_0", "two_1"]
    assert {node.name for node in first.nodes} > {"root", "scan_compressed_A_i", "write_val_B"}
    assert {channel.source.node for channel in second.channels} <= second.node.keys()
    assert {m.tensor: m.role for m in first.memories} == {"A": MemoryRole.INPUT, "B": MemoryRole.OUTPUT}
    assert {t.name: t.role for t in second.tensors} == {
        "A": MemoryRole.INPUT,
        "B": MemoryRole.INPUT,
        "C": MemoryRole.OUTPUT,
    }
    assert design.memory["B.vals"].role is MemoryRole.BUFFER
    words = {
        "A.pos0": [0, 2],
        "A.crd0": [0, 3],
        "A.pos1": [0, 2, 3],
        "A.crd1": [0, 2, 1],
        "A.vals": [3, 4, 5],
    }
    memories = {name: np.array(array) for name, array in words.items()}
    results = simulate_regions(design, Arch(), memories, {"i": 4, "j": 3})
    assert results[1].memories["C.crd0"].tolist() == [0, 3]
    assert results[1].memories["C.vals"].tolist() == [25, 25]


def of_version_2(name: str) -> dict[str, object]:
    """As it was saved when scanners of stored coordinates had no extents."""
    data = json.loads(saved(name)) | {"version": 2}
    scanners = [node for node in data["nodes"] if node["kind"] in ("scan_compressed", "scan_singleton")]
    assert scanners
    for node in scanners:
        del node["params"]["extent"]
    return data


@pytest.mark.parametrize("name", ["one_region", "two_regions"])
def test_version_2(name: str) -> None:
    assert loads(json.dumps(of_version_2(name))) == loads(saved(name))


def test_version_2_without_its_tensors() -> None:
    with pytest.raises(InputError, match=r"is damaged .KeyError: 'A'.; compile it again"):
        loads(json.dumps(of_version_2("one_region") | {"tensors": []}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "has version None, not 4"),
        ('{"version": 1}', "has version 1, not 4"),
        ('{"version": 3, "name": "x"}', "is damaged .KeyError: 'nodes'"),
        ('{"version": 4, "name": "x"}', "is damaged .KeyError: 'memories'"),
        (dumps(whole()).replace('"kind": "crd"', '"kind": "cdr"'), "is damaged .ValueError: 'cdr'"),
        (dumps(whole()).replace('"capacity"', '"size"'), "is damaged .TypeError"),
        (dumps(whole()).replace('"run"', '"walk"'), "is damaged .KeyError: 'run'"),
    ],
)
def test_texts_that_are_no_graph(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        loads(text)
