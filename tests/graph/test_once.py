"""What is worked out of a graph once, and how long it is kept."""

import gc
import pickle
import weakref
from dataclasses import replace

import pytest

from samhw.errors import InputError
from samhw.graph import Graph, levels, validate
from samhw.graph.ir import once_per_graph


class Answer:
    """Something of which it can be told when it goes, and that no other process can take."""

    def __init__(self, *given: object):
        self.given = given
        self.function = lambda: None


def empty(name: str) -> Graph:
    return Graph(name, "f32", (), (), (), ())


def test_one_graph_is_asked_once() -> None:
    answer = once_per_graph(lambda graph: Answer(graph.name))
    graph, equal = empty("g"), empty("g")
    assert answer(graph) is answer(graph)
    assert answer(equal) is not answer(graph)
    assert answer(replace(graph, name="h")).given == ("h",)
    assert levels(graph) is levels(graph)


def test_the_last_arguments_are_known() -> None:
    answer = once_per_graph(lambda graph, n, *, m=0: Answer(n, m))
    graph = empty("g")
    first = answer(graph, 1)
    assert answer(graph, 1) is first
    assert answer(graph, 1, m=2).given == (1, 2)
    assert answer(graph, 1).given == (1, 0)
    assert answer(graph, 1) is not first


def test_answers_go_with_their_graph() -> None:
    answer = once_per_graph(lambda graph: Answer())
    graph = empty("g")
    known = weakref.ref(answer(graph))
    gc.collect()
    assert known() is not None
    del graph
    gc.collect()
    assert known() is None


def test_what_is_known_stays_in_its_process() -> None:
    answer = once_per_graph(lambda graph: Answer())
    graph = empty("g")
    answer(graph)
    assert pickle.loads(pickle.dumps(graph)) == graph


def test_a_refusal_is_said_each_time() -> None:
    for _ in range(2):
        with pytest.raises(InputError, match="has no root"):
            validate(empty("g"))
