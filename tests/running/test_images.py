"""Tensors to memory words and back, and what does not fit."""

from dataclasses import replace

import numpy as np
import pytest

from samhw.errors import InputError, RunError
from samhw.graph import Design, Graph, Memory, MemoryRole, TensorBinding
from samhw.graph.numerics import value_type
from samhw.targets.running.images import load, unload
from samhw.tensors.tensor import Tensor

_IN, _OUT = MemoryRole.INPUT, MemoryRole.OUTPUT


def _memories(tensor: str, role: MemoryRole, **capacities: int) -> list[Memory]:
    return [Memory(f"{tensor}.{array}", tensor, array, role, n) for array, n in capacities.items()]


def _graph(value: str = "i8") -> Graph:
    """C[i,j] (csr) from A[i,k] (csr) and B[k,j] (dense), without nodes. C has row fibers for up to 4 rows."""
    return Graph(
        name="matmul",
        value=value_type(value),
        nodes=(),
        channels=(),
        memories=(
            *_memories("A", _IN, pos1=5, crd1=6, vals=6),
            *_memories("B", _IN, vals=20),
            *_memories("C", _OUT, pos1=5, crd1=6, vals=6),
        ),
        tensors=(
            TensorBinding("A", _IN, "csr", ("i", "k"), (4, 5)),
            TensorBinding("B", _IN, "dense", ("k", "j"), (5, 4)),
            TensorBinding("C", _OUT, "csr", ("i", "j"), (4, 4)),
        ),
        extents={"i": 4, "j": 4, "k": 5},
    )


def _design(value: str = "i8") -> Design:
    return Design.of(_graph(value))


def _tensors(a: np.ndarray, b: np.ndarray) -> dict[str, Tensor]:
    return {"A": Tensor.from_dense(a, "csr"), "B": Tensor.from_dense(b, "dense")}


def test_load() -> None:
    a = np.array([[0, -2, 0], [0, 0, 0], [1, 0, 3]])
    b = np.arange(6).reshape(3, 2)
    memories, extents = load(_design(), _tensors(a, b))
    assert extents == {"i": 3, "j": 2, "k": 3}
    assert {name: words.tolist() for name, words in memories.items()} == {
        "A.pos1": [0, 1, 1, 3],
        "A.crd1": [1, 0, 2],
        "A.vals": [254, 1, 3],
        "B.vals": [0, 1, 2, 3, 4, 5],
    }


def test_load_encodes_values() -> None:
    memories, _ = load(_design("fixed<8,4>"), _tensors(np.array([[0.5]]), np.array([[-0.25]])))
    assert memories["A.vals"].tolist() == [8]
    assert memories["B.vals"].tolist() == [252]


def test_index_of_no_input_gets_the_greatest_extent() -> None:
    graph = _graph()
    alone = Graph(graph.name, graph.value, (), (), graph.memories, graph.tensors[::2], graph.extents)
    _, extents = load(Design.of(alone), {"A": Tensor.from_dense(np.ones((2, 3)), "csr")})
    assert extents == {"i": 2, "j": 4, "k": 3}


def test_array_that_the_graph_does_not_read() -> None:
    graph = _graph()
    kept = tuple(memory for memory in graph.memories if memory.name != "A.crd1")
    smaller = Graph(graph.name, graph.value, (), (), kept, graph.tensors, graph.extents)
    memories, _ = load(Design.of(smaller), _tensors(np.ones((2, 3)), np.ones((3, 2))))
    assert set(memories) == {"A.pos1", "A.vals", "B.vals"}


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (np.ones((2, 5)), np.ones((5, 2)), r"'A' has 10 entries in crd1, but this build takes 6; rebuild"),
        (np.ones((5, 1)), np.ones((1, 2)), r"'A' has extent i=5, but this build takes 4; rebuild"),
        (np.ones((2, 3)), np.ones((2, 2)), r"Index k runs to 3 in tensor 'A' but to 2 in tensor 'B'"),
        (np.ones((2, 1)) * 200, np.ones((1, 2)), r"'A' cannot be used: .* beyond i8"),
    ],
)
def test_what_does_not_fit(a: np.ndarray, b: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(_design(), _tensors(a, b))


def test_too_many_nonzeros() -> None:
    graph = _graph()
    memories = tuple(m for m in graph.memories if m.name != "A.crd1")
    graph = Graph(graph.name, graph.value, (), (), memories, graph.tensors, graph.extents)
    with pytest.raises(
        InputError, match=r"^Tensor 'A' has 10 nonzeros, but this build takes 6; rebuild with"
    ):
        load(Design.of(graph), _tensors(np.ones((2, 5)), np.ones((5, 2))))


def test_wrong_tensors() -> None:
    good = _tensors(np.ones((2, 3)), np.ones((3, 2)))
    with pytest.raises(InputError, match="needs the tensor 'B'"):
        load(_design(), {"A": good["A"]})
    with pytest.raises(InputError, match="has no input 'C'; its inputs are A, B"):
        load(_design(), {**good, "C": good["A"]})
    with pytest.raises(InputError, match="'A' is stored as csc, but this build takes csr"):
        load(_design(), {**good, "A": good["A"].convert("csc")})
    with pytest.raises(InputError, match="'A' has rank 1, but the program gives it 2 indices"):
        load(_design(), {**good, "A": Tensor.from_dense(np.ones(2), "dense")})


def test_unload() -> None:
    """Words after the end, such as those of a run before, do not count."""
    words = {"C.pos1": [0, 2, 2, 3, 9], "C.crd1": [0, 1, 1, 3, 3, 3], "C.vals": [1, 255, 7, 8, 8, 8]}
    memories = {name: np.array(array) for name, array in words.items()}
    tensor = unload(_graph(), memories, {"i": 3, "j": 2, "k": 1})["C"]
    assert str(tensor.format) == "csr"
    assert tensor.to_dense().tolist() == [[1, -1], [0, 0], [0, 7]]


@pytest.mark.parametrize(
    ("pos", "crd", "message"),
    [
        ([0, 1, 7], [0] * 6, r"left 7 words in the memory C\.crd1, which holds 6"),
        ([0, 1, 2], [5, 0], r"output 'C' that is no tensor: crd1 entry 0 is 5"),
    ],
)
def test_unload_of_nonsense(pos: list[int], crd: list[int], message: str) -> None:
    memories = {"C.pos1": np.array(pos), "C.crd1": np.array(crd), "C.vals": np.zeros(6, int)}
    with pytest.raises(RunError, match=message):
        unload(_graph(), memories, {"i": 2, "j": 4, "k": 1})


@pytest.mark.parametrize("format", ["dense", "csr", "csc", "dcsr", "coo", "csf @ (1, 0)", "bcsr(2)"])
@pytest.mark.parametrize("shape", [(4, 6), (1, 1), (0, 3), (3, 5)])
def test_round_trip(format: str, shape: tuple[int, int]) -> None:
    """What `load` writes for an input, `unload` reads as an output, with junk after every array."""
    rng = np.random.default_rng(7)
    array = rng.integers(-9, 9, shape) * (rng.random(shape) < 0.4)
    tensor = Tensor.from_dense(array, format)
    capacities = dict.fromkeys(tensor.arrays(), 64)

    def graph(role: MemoryRole) -> Graph:
        binding = TensorBinding("T", role, format, ("i", "j"), shape)
        memories = tuple(
            replace(memory, block=tensor.format.block_shape) if memory.is_value else memory
            for memory in _memories("T", role, **capacities)
        )
        return Graph("copy", value_type("i32"), (), (), memories, (binding,), {"i": shape[0], "j": shape[1]})

    memories, extents = load(Design.of(graph(_IN)), {"T": tensor})
    left = {name: np.concatenate([words, np.full(64 - len(words), 77)]) for name, words in memories.items()}
    assert np.array_equal(unload(graph(_OUT), left, extents)["T"].to_dense(), array)
