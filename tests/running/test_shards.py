"""Results that lanes have stored in shards: what tensor they are."""

from collections.abc import Mapping

import numpy as np
import pytest

from samhw.errors import RunError
from samhw.graph import Graph, Memory, MemoryRole, TensorBinding, memory_name
from samhw.graph.numerics import Words, value_type
from samhw.targets.running.images import unload
from samhw.tensors import Tensor

SHAPE = (7, 3, 2)
"""Of seven rows three lanes have three, two and two."""
LANES = 3


def divided(tensor: Tensor) -> tuple[Graph, dict[str, Words]]:
    """A graph that stores such a tensor in shards, and the words of these."""
    indices = tuple("ijk"[: tensor.rank])
    binding = TensorBinding("T", MemoryRole.OUTPUT, str(tensor.format), indices, tensor.shape, LANES)
    dense = tensor.to_dense()
    words: dict[str, Words] = {}
    for lane in range(LANES):
        rows = dense[lane::LANES]
        shard = Tensor.from_dense(rows, tensor.format).arrays()
        if "crd0" in shard:
            shard["crd0"] = shard["crd0"] * LANES + lane
        words |= {
            memory_name("T", array, lane): np.asarray(stored, np.int64) for array, stored in shard.items()
        }
    memories = tuple(Memory(name, "T", name.split(".")[1], MemoryRole.OUTPUT, 99) for name in words)
    return Graph("g", value_type("i32"), (), (), memories, (binding,)), words


def unloaded(graph: Graph, words: Mapping[str, Words]) -> Tensor:
    return unload(graph, words, dict(zip("ijk", SHAPE, strict=True)))["T"]


@pytest.mark.parametrize(
    "format", ["dense", "csf", "(dense, compressed, dense)", "(compressed, dense, compressed)"]
)
def test_parts_are_joined(format: str) -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(1, 9, SHAPE) * (rng.random(SHAPE) < 0.5)
    values[3] = 0
    for array in (values, values * 0):
        tensor = Tensor.from_dense(array, format)
        found = unloaded(*divided(tensor))
        assert found.arrays().keys() == tensor.arrays().keys()
        for name, words in tensor.arrays().items():
            assert np.array_equal(found.arrays()[name], words), name


def test_damaged_shards() -> None:
    graph, words = divided(Tensor.from_dense(np.ones(SHAPE, int), "csf"))
    words["T.pos1.2"] = np.array([0, 4, 2])
    with pytest.raises(RunError, match="'T' that is no tensor: a fiber of level 1 ends before it starts"):
        unloaded(graph, words)
    words["T.pos1.2"] = np.array([0, 3, 100])
    with pytest.raises(RunError, match=r"100 words in the memory T.crd1.2, which holds 99"):
        unloaded(graph, words)
