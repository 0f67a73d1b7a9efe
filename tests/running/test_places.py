"""Places of several words: what a memory takes, wherever it lies, follows from its payload alone."""

from dataclasses import replace

import numpy as np
import pytest

from samhw.errors import InputError
from samhw.graph import AddressMap, Arch, Design, Graph, Memory, OffChipLayout, Ports
from samhw.graph.numerics import ValueType
from samhw.graph.spec import Payload
from samhw.sim.stores import make_stores
from samhw.targets.running.session import check_data
from tests.support.graphs import CAPACITY, Builder

ARCH = Arch()


@pytest.fixture
def graph(monkeypatch: pytest.MonkeyPatch) -> Graph:
    """A copy of values, whose memories have two words at each place."""
    one_word = Memory.payload

    def two_words(memory: Memory, value: ValueType | None = None) -> Payload:
        return replace(one_word(memory, value), shape=(2,))

    monkeypatch.setattr(Memory, "payload", two_words)
    builder = Builder()
    builder.add("root", "root", 0)
    builder.add("scan_dense", "scan", 0, "root.out", extent="i")
    builder.add("array", "array", 1, "scan.ref", vals="a")
    builder.add("write_val", "write", 1, "array.val", vals="y")
    return builder.graph({"i": CAPACITY})


def test_windows(graph: Graph) -> None:
    window = AddressMap(Design.of(graph), ARCH).windows["a"]
    assert (window.words, window.size, window.width) == (2 * CAPACITY, 8 * CAPACITY, 64)


def test_stores(graph: Graph) -> None:
    words = np.arange(2 * CAPACITY)
    _, outputs = make_stores(graph, {"a": words}, {"i": CAPACITY})
    assert len(outputs["y"]) == 2 * CAPACITY
    with pytest.raises(InputError, match="holds 128 words, but 129 were given"):
        make_stores(graph, {"a": np.arange(129)}, {"i": CAPACITY})


def test_sessions(graph: Graph) -> None:
    design = Design.of(graph)
    check_data(design, {"a": np.arange(2 * CAPACITY)}, {"i": CAPACITY})
    with pytest.raises(InputError, match="holds 128 words, not 129"):
        check_data(design, {"a": np.arange(129)}, {"i": CAPACITY})


def test_lines_of_off_chip_memory(graph: Graph) -> None:
    """64 places of 8 bytes are 8 lines of 64."""
    layout = OffChipLayout(Design.of(graph), ARCH, Ports())
    assert [layout.arrays[name].base for name in ("a", "y")] == [0, 512]
    assert {(array.place_bytes, array.lines) for array in layout.arrays.values()} == {(8, 8)}
    assert [port.name for port in layout.ports_of(graph)] == ["array.vals", "write.vals"]
