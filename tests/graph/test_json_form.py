import json
from dataclasses import replace

import pytest

from samhw.errors import InputError
from samhw.graph import Design, dumps, loads, make
from tests.graph.test_design import whole
from tests.graph.test_validate import BLOCKS, example, with_node


def test_round_trip() -> None:
    params = {"bits": [3, 4], "immediate": 0.5, "op": "größer"}
    design = Design.of(with_node(example(), 0, note="cell (i, B)", params=params))
    assert loads(dumps(design)) == design
    assert dumps(loads(dumps(design))) == dumps(design)


def test_round_trip_of_a_made_node() -> None:
    node = make("union", "u", 1, inputs=2, payloads=("ref", "val"))
    graph = with_node(example(), 0, params=node.params, inputs=node.inputs, outputs=node.outputs)
    assert loads(dumps(Design.of(graph))) == Design.of(graph)


def test_round_trip_of_blocks() -> None:
    graph = with_node(example(), 1, outputs=BLOCKS)
    assert loads(dumps(Design.of(graph))) == Design.of(graph)


def test_round_trip_of_types() -> None:
    node = make("alu", "a", 1, op="convert", value="i8", to="bf16")
    graph = with_node(example(), 0, kind="alu", params=node.params)
    assert loads(dumps(Design.of(graph))).regions[0].nodes[0].params == node.params


def test_round_trip_of_several_regions() -> None:
    assert loads(dumps(whole())) == whole()
    turned = replace(whole(), regions=whole().regions[::-1], sequence=whole().sequence[::-1])
    assert loads(dumps(turned)) == turned


def test_round_trip_of_fixed_extents() -> None:
    fixed = Design.of(example()).with_fixed_extents
    assert fixed.fixed
    assert loads(dumps(fixed)) == fixed


def test_version_is_there() -> None:
    assert json.loads(dumps(Design.of(example())))["version"] == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "has version None, not 4"),
        ('{"version": 1}', "has version 1, not 4"),
        ('{"version": 3, "name": "x"}', "has version 3, not 4"),
        ('{"version": 4, "name": "x"}', "is damaged .KeyError: 'memories'"),
        (dumps(whole()).replace('"kind": "crd"', '"kind": "cdr"'), "is damaged .ValueError: 'cdr'"),
        (dumps(whole()).replace('"capacity"', '"size"'), "is damaged .TypeError"),
        (dumps(whole()).replace('"lane"', '"line"'), "is damaged .KeyError: 'lane'"),
        (dumps(whole()).replace('"run"', '"walk"'), "is damaged .ValueError: a step of the sequence"),
    ],
)
def test_texts_that_are_no_graph(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        loads(text)
