import json

import pytest

from samhw.errors import InputError
from samhw.graph import dumps, loads
from samhw.primitives import make
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
    assert json.loads(dumps(example()))["version"] == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "has version None, not 2"),
        ('{"version": 1}', "has version 1, not 2"),
        ('{"version": 2, "name": "x"}', "is damaged .KeyError: 'value'"),
        (dumps(example()).replace('"crd"', '"cdr"'), "is damaged .ValueError: 'cdr'"),
        (dumps(example()).replace('"capacity"', '"size"'), "is damaged .TypeError"),
    ],
)
def test_texts_that_are_no_graph(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        loads(text)
