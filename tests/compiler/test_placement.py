"""Which arrays lie on the chip: by hand, from docs/memory.md, "Placement"."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import samhw
from samhw.app.workload import Workload, bind_program, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.placement import arrays_off_chip, used_places
from samhw.errors import InputError
from samhw.graph import (
    DDR4,
    HBM2,
    ConstantMemory,
    OffChipLayout,
    OffChipMemory,
    Ports,
    chip_bytes,
    spread,
)
from samhw.lang import parse
from samhw.targets.backends import run
from samhw.tensors import Tensor

TWO = ConstantMemory(5, Ports(masters=2))


def compiled(
    place: Mapping[str, str], on_chip: str = "auto", program: str = "spmm", **fields: Any
) -> Compiled:
    return compile_workload(
        bind_program(program, ["karate"]), Schedule(place=place, on_chip=on_chip, **fields)
    )


def off(found: Compiled, memory: OffChipMemory = DDR4) -> set[str]:
    return {*arrays_off_chip(found, memory)}


def test_what_nobody_places_follows_what_somebody_does() -> None:
    every = {*compiled({}).design.memory}
    a, x = {"A.pos1", "A.crd1", "A.vals"}, {"X.vals"}
    assert every - a - x == {"T.pos1", "T.crd1", "T.vals"}
    for place, on_chip, wanted in (
        ({}, "auto", every),
        ({}, "all", set()),
        ({}, "none", every),
        ({"A": "ddr"}, "auto", a),
        ({"X": "chip"}, "auto", every - x),
        ({"A": "ddr", "X": "chip"}, "auto", a),
        ({"A": "ddr", "X": "chip"}, "none", every - x),
        ({"A": "ddr", "A.crd1": "chip"}, "auto", a - {"A.crd1"}),
        ({"A.vals": "ddr"}, "auto", {"A.vals"}),
        ({"A.vals": "chip"}, "auto", every - {"A.vals"}),
    ):
        assert off(compiled(place, on_chip)) == wanted, (place, on_chip)


def test_the_smallest_lie_on_the_chip() -> None:
    """A.pos1 has 65 words of 9 bits and is read twice at a time; A.crd1 256 of 9 bits. T.pos1 and T.crd1 have
    one writer. All integers are words of 32 bits."""
    found = compiled({})
    sizes = chip_bytes(found.design, found.arch)
    bits = sizes["A.crd1"] * 8 // 256
    assert sizes["A.pos1"] == 2 * -(-65 * bits // 8)
    assert (sizes["A.vals"], sizes["X.vals"], sizes["T.vals"]) == (1024, 4096, 4096)
    least = sizes["A.pos1"] + sizes["A.crd1"]
    assert off(compiled({}, str(sizes["A.pos1"] - 1))) == {*sizes}
    assert off(compiled({}, str(least))) == {*sizes} - {"A.pos1", "A.crd1"}
    assert off(compiled({}, str(least - 1))) == {*sizes} - {"A.pos1"}
    together = sizes["T.pos1"] + sizes["T.crd1"]
    assert together > 1024
    whole = least + 1024 + together
    assert off(compiled({}, str(whole))) == {"T.vals", "X.vals"}
    assert off(compiled({}, str(whole - 1))) == {"T.vals", "X.vals", "T.pos1", "T.crd1"}
    # What is placed on the chip takes of the room first, what is placed off it nothing.
    assert off(compiled({"X": "chip"}, str(4096 + least))) == {*sizes} - {"X.vals", "A.pos1", "A.crd1"}
    assert off(compiled({"A": "ddr"}, str(together))) == {*sizes} - {"T.pos1", "T.crd1"}
    with pytest.raises(
        InputError, match=r"takes 4,096 bytes there, and the schedule's 'on_chip' gives 4,095"
    ):
        off(compiled({"X": "chip"}, "4095"))
    assert off(compiled({"X": "chip"}, "4KB")) == {*sizes} - {"X.vals"}


def of(text: str, place: Mapping[str, str], **fields: Any) -> Compiled:
    """A program whose inputs are matrices of ones, or vectors."""
    program = parse(text)
    tensors = {}
    for decl in program.inputs:
        fmt = decl.format
        tensors[decl.name] = Tensor.from_dense(np.ones((4,) * fmt.rank, np.int64), fmt)
    return compile_workload(Workload("ones", program, tensors), Schedule(place=place, **fields))


def test_offsets_of_diagonals_stay() -> None:
    text = "tensor A[i, j] : (dense, dia)\ntensor b[j] : dense\nx[i] = A[i, j] * b[j]"
    for on_chip in ("none", "0"):
        found = of(text, {"A": "ddr"}, on_chip=on_chip)
        assert {*found.design.memory} - off(found) == {"A.cnt1", "A.off1"}
    with pytest.raises(InputError, match=r"A\.off1 is a few words, which lie on the chip"):
        off(of(text, {"A.off1": "ddr"}))


def test_what_one_node_writes_lies_in_one_place() -> None:
    assert off(compiled({"T.pos1": "ddr"})) == {"T.pos1", "T.crd1"}
    with pytest.raises(InputError, match=r"One node writes T\.crd1 and T\.pos1, which lie in one place"):
        off(compiled({"T.pos1": "ddr", "T.crd1": "chip"}))


RESHAPED = """
tensor A[i=4, j=4] : csr
tensor T[i=4, j=4] : dense
tensor R[h=2, p] : dense
T[i, j] = 2 * A[i, j]
R[h, p] = reshape(T[i, j])
y[h] = R[h, p]
"""
SHIFTED = """
tensor A[i=4, j=4] : csr
tensor B[i=4, j=4]
B[i, j] = 2 * A[i, j]
y[i] = B[wrap(i + 1), j] * A[i, j]
"""


def test_what_is_made_of_a_tensor_lies_where_it_does() -> None:
    """Another shape of it, which lies in its memories; what passes add, be it the host or a region that makes
    it."""
    for name in "TR":
        assert off(of(RESHAPED, {name: "ddr"})) == {"T.vals"}
    with pytest.raises(InputError, match=r"'R' is to lie in ddr, and T\.vals in chip"):
        off(of(RESHAPED, {"T.vals": "chip", "R": "ddr"}))
    found = of(SHIFTED, {"A": "ddr", "B": "ddr"}, fuse="none")
    added = {memory.tensor for memory in found.design.memories} - {"A", "B", "y"}
    assert added
    assert {*found.design.memory} - off(found) == {"y.vals"}
    # If one of them is on the chip, so is what is made of both.
    found = of(SHIFTED, {"A": "chip", "B": "chip"}, fuse="none")
    assert off(found) == {"y.vals"}


STATES = """
tensor D[u=4, k=4] : dense
tensor X[k=4, j=4] : dense
tensor H[j=4, k=4] : dense
tensor R[n=16] : dense
scan j down {
  H[j, k] = H[j + 1, u] * D[u, k] + X[k, j]
}
R[n] = reshape(H[j, k])
"""


def test_what_is_named_itself_comes_before_what_it_is_made_of() -> None:
    """A scan's states are made of its operands, and R is in their memory."""
    on_chip = {"D": "chip", "X": "chip"}
    assert "H.vals" not in off(of(STATES, on_chip, permute=True))
    assert "H.vals" in off(of(STATES, {**on_chip, "R": "ddr"}, permute=True))


def test_lanes_have_shards_of_their_own() -> None:
    """Each is written by itself, and may lie where it fits."""
    found = compiled({}, lanes={"i": 2})
    shards = sorted(name for name in found.design.memory if name.startswith("T.vals"))
    assert len(shards) == 2
    assert off(compiled({"T": "ddr"}, lanes={"i": 2})) == {m for m in found.design.memory if m[0] == "T"}
    assert off(compiled({shards[0]: "ddr"}, lanes={"i": 2})) == {shards[0]}


def test_arrays_are_spread_over_the_channels() -> None:
    """By hand: the most used first, each to the channel that its own region uses least."""
    loads = [{"a": 10, "b": 6, "c": 5}, {"d": 9}]
    assert spread(dict.fromkeys("abcd"), loads, 2) == {"a": 0, "b": 1, "c": 1, "d": 1}
    assert spread({"a": None, "b": None, "c": 0, "d": None}, loads, 2) == {"a": 1, "b": 0, "c": 0, "d": 0}
    assert spread(dict.fromkeys("abcd"), loads, 4) == {"a": 0, "b": 2, "c": 3, "d": 1}
    found = compiled({"X": "hbm:9"})
    arrays = arrays_off_chip(found, HBM2)
    assert arrays == {"X.vals": 9}
    arrays = arrays_off_chip(compiled({"A": "hbm:9", "A.crd1": "hbm:2"}, "none"), HBM2)
    assert (arrays["A.pos1"], arrays["A.crd1"], arrays["A.vals"]) == (9, 2, 9)
    assert len({arrays[name] for name in ("X.vals", "T.pos1", "T.crd1", "T.vals")} - {2, 9}) == 4


def test_arrays_of_a_channel_follow_each_other() -> None:
    """From address 0, each at the next line of 64 bytes: A.pos1 has 65 words, A.crd1 and A.vals 256."""
    found = compiled({"A": "ddr:1", "A.crd1": "ddr:0", "X": "ddr:1"})
    layout = OffChipLayout(found.design, found.arch, TWO.ports, arrays_off_chip(found, TWO))
    placed = {name: (array.master, array.base) for name, array in layout.arrays.items()}
    word = layout.arrays["A.pos1"].word_bytes
    first = -(-65 * word // 64) * 64
    assert placed == {"A.pos1": (1, 0), "A.crd1": (0, 0), "A.vals": (1, first), "X.vals": (1, first + 1024)}
    assert layout.sizes == (-(-256 * word // 64) * 64, first + 1024 + 4096)


@pytest.mark.parametrize(
    ("place", "memory", "message"),
    [
        ({"A": "hbm"}, DDR4, "'A' is to lie in hbm, but the memory is ddr4; write A=ddr."),
        ({"A": "ddr"}, HBM2, "'A' is to lie in ddr, but the memory is hbm2; write A=hbm."),
        ({"A": "hbm:16"}, HBM2, "hbm:16, but hbm2 has 16 channels, which count from 0"),
        ({"A": "ddr:2"}, TWO, "ddr:2, but constant:5 has 2 channels"),
        ({"A.vals1": "ddr"}, TWO, r"no 'A.vals1' to place; spmm stores A.pos1, A.crd1, A.vals."),
    ],
)
def test_places_that_there_are_not(place: dict[str, str], memory: OffChipMemory, message: str) -> None:
    with pytest.raises(InputError, match=message):
        arrays_off_chip(compiled(place), memory)


def test_names_are_looked_for_where_passes_add_tensors() -> None:
    with pytest.raises(InputError, match="no 'Q' to place; <text> stores A, B, B_places, y"):
        off(of(SHIFTED, {"Q": "ddr"}))


@pytest.mark.parametrize("memory", [HBM2, TWO])
def test_what_was_used_gives_the_same(memory: OffChipMemory) -> None:
    word = "hbm" if memory is HBM2 else "ddr"
    first = compiled(
        {"H1": word, "A": "chip", "X.vals": word}, "2KB" if memory is TWO else "none", "gcn", fuse="none"
    )
    tensors = bind_program("gcn", ["karate"]).tensors
    places = used_places(first, memory)
    again = compiled(places, "auto", "gcn", fuse="none")
    assert arrays_off_chip(again, memory) == arrays_off_chip(first, memory)
    assert used_places(again, memory) == places
    assert run(again, tensors, memory=memory).cycles == run(first, tensors, memory=memory).cycles


def test_python_says_what_lies_where(tmp_path: Any) -> None:
    A, X = np.eye(4, dtype=int), np.arange(12).reshape(4, 3)
    schedule = {"place": {"A": "ddr", "X": "chip"}}
    design = samhw.compile("T[i, j] = A[i, k] * X[k, j]", formats={"A": "csr"}, schedule=schedule)
    with pytest.raises(InputError, match="but the run has no memory off it"):
        design.run(A=A, X=X)
    slow = design.run(A=A, X=X, memory="ddr4")
    np.testing.assert_array_equal(slow["T"], X)
    design.save(tmp_path / "p.ein")
    assert samhw.load(tmp_path / "p.ein").run(A=A, X=X, memory="ddr4").cycles == slow.cycles
    small = samhw.compile("T[i, j] = A[i, k] * X[k, j]", formats={"A": "csr"}, schedule={"on_chip": "20"})
    with pytest.raises(
        InputError, match=r"schedule=\{'on_chip': '20'\} has no room for T\.vals, X\.vals, A\."
    ):
        small.run(A=A, X=X)
    with pytest.raises(InputError, match="no field 'off_chip' any more"):
        samhw.compile("T[i, j] = A[i, k] * X[k, j]", schedule={"off_chip": ["A"]})
