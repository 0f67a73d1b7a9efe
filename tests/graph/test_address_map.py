"""The address map: fixed registers, aligned windows that never overlap, and the texts for drivers."""

import json
import re
import subprocess
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from shutil import which

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError
from samhw.graph import (
    Arch,
    Channel,
    Design,
    Endpoint,
    Graph,
    HostOptions,
    Memory,
    MemoryRole,
    Node,
    Payload,
    Port,
    Stream,
    StreamKind,
)
from samhw.graph.address_map import AddressMap, Register
from samhw.graph.numerics import value_type
from samhw.lang import parse
from samhw.targets.building.project import write_driver
from tests.support.top_graphs import copy_graph


def design_of(capacities: list[int], extents: dict[str, int] | None = None, channels: int = 3) -> Design:
    arrays = ["pos1", "crd1", "vals"]
    memories = tuple(
        Memory(f"T{n}.{arrays[n % 3]}", f"T{n}", arrays[n % 3], list(MemoryRole)[(n + 1) % 2], capacity)
        for n, capacity in enumerate(capacities)
    )
    stream = Stream(Payload(StreamKind.CRD), 1)
    node = Node("n", "array", {}, (Port("a", stream),), (Port("b", stream),))
    links = tuple(Channel(Endpoint("n", "b"), Endpoint("n", f"a{k}"), 1, 2) for k in range(channels))
    return Design.of(Graph("g", value_type("i16"), (node,), links, memories, (), extents or {}))


def test_the_registers_and_windows_of_a_small_graph():
    amap = AddressMap(design_of([5, 8, 100], {"j": 7, "i": 9}, channels=17), Arch(index_bits=20))
    assert [int(r) for r in Register] == [0, 4, 8, 12, 16, 20, 24]
    assert amap.extents == {"i": 0x1C, "j": 0x20}
    assert list(amap.region_cycles) == [0x24]
    assert list(amap.channel_states) == [0x28, 0x2C]
    assert amap.channel_state(0) == (0x28, 0)
    assert amap.channel_state(15) == (0x28, 30)
    assert amap.channel_state(16) == (0x2C, 0)
    windows = [(w.base, w.size, w.width) for w in amap.windows.values()]
    assert windows == [(0x40, 0x20, 8), (0x60, 0x20, 8), (0x200, 0x200, 16)]
    assert amap.address_bits == 12


def test_what_a_host_asks_for_comes_after_the_channel_states():
    """A node has 64 counters. Without a host's choices the map and its files say nothing of them."""
    design = design_of([5], {"i": 9}, channels=17)
    plain = AddressMap(design, Arch())
    assert not {"host", "interrupts", "counters"} & plain.to_json().keys()
    assert not re.search("INTERRUPT|COUNTERS|CLEAR", plain.c_header("x"))
    choices = HostOptions.parse("axi4:9,interrupt,recovery,counters")
    amap = AddressMap(design, Arch(), choices)
    assert list(amap.channel_states) == [0x24, 0x28]
    assert list(amap.interrupts) == [0x2C, 0x30]
    assert list(amap.counters) == [0x100]
    assert [window.base for window in amap.windows.values()] == [0x200]
    found = amap.to_json()
    assert found["host"] == {
        "id_bits": 9,
        "clock": False,
        "interrupt": True,
        "pingpong": False,
        "recovery": True,
        "counters": True,
    }
    assert found["interrupts"] == {"enable": 0x2C, "pending": 0x30}
    assert found["counters"] == {
        "address": 0x100,
        "node_words": 64,
        "states": ["firing", "starved", "blocked", "spaced"],
    }
    header = amap.c_header("x")
    for line in (
        "X_CONTROL_CLEAR 0x2u",
        "X_INTERRUPT_ENABLE 0x2cu",
        "X_INTERRUPTS 0x30u",
        "X_COUNTERS 0x100u",
        "X_COUNTERS_BYTES 256u",
        "X_NODES 1u",
    ):
        assert f"#define {line}\n" in header


@given(
    capacities=st.lists(st.integers(1, 5000), max_size=8),
    extents=st.integers(0, 9),
    channels=st.integers(0, 70),
)
def test_nothing_overlaps_and_windows_are_aligned(capacities: list[int], extents: int, channels: int):
    design = design_of(capacities, {f"i{n}": 3 for n in range(extents)}, channels)
    amap = AddressMap(design, Arch())
    ranges = [(int(r), 4) for r in Register] + [(a, 4) for a in amap.extents.values()]
    ranges += [(a, 4) for a in (*amap.region_cycles, *amap.channel_states)]
    ranges += [(w.base, w.size) for w in amap.windows.values()]
    assert all(a + size <= b for (a, size), (b, _) in pairwise(ranges))
    assert 16 * len(amap.channel_states) >= channels
    for memory, window in zip(design.memories, amap.windows.values(), strict=True):
        assert window.memory is memory
        assert window.base % window.size == 0
        assert window.size & (window.size - 1) == 0
        assert 4 * memory.capacity <= window.size < 8 * memory.capacity
    assert ranges[-1][0] + ranges[-1][1] <= 1 << amap.address_bits


def test_identity_tells_builds_apart():
    design = design_of([5])
    (graph,) = design.regions
    identity = AddressMap(design, Arch()).identity
    assert identity == AddressMap(design_of([5]), Arch()).identity
    assert identity < 1 << 32
    others = [
        AddressMap(design_of([6]), Arch()),
        AddressMap(design, Arch(memory=3)),
        AddressMap(replace(design, value=value_type("i32")), Arch()),
        AddressMap(Design.of(graph.with_depths({graph.channels[0].name: 9})), Arch()),
    ]
    assert len({identity, *(o.identity for o in others)}) == 5


def test_memories_beyond_32_bits_are_refused():
    assert AddressMap(design_of([1 << 10]), Arch()).address_bits == 13
    assert AddressMap(design_of([1 << 28]), Arch()).address_bits == 31
    with pytest.raises(InputError, match="32-bit"):
        AddressMap(design_of([1 << 29, 1 << 29]), Arch())


def test_an_extent_that_the_index_width_cannot_hold_is_refused():
    AddressMap(design_of([], {"i": 255}), Arch(index_bits=8))
    with pytest.raises(InputError, match="i=256"):
        AddressMap(design_of([], {"i": 256}), Arch(index_bits=8))


def test_json_names_everything():
    amap = AddressMap(design_of([5, 8], {"i": 9}), Arch())
    data = json.loads(json.dumps(amap.to_json()))
    assert data["registers"]["IDENTITY"] == 0x18
    assert data["status_bits"] == {"RUNNING": 1, "DONE": 2, "ERROR": 4}
    assert data["error_bits"]["DEADLOCK"] == 16
    assert data["extents"] == {"i": {"address": 0x1C, "greatest": 9}}
    assert data["memories"][1] == {
        "name": "T1.crd1",
        "tensor": "T1",
        "array": "crd1",
        "role": "input",
        "address": amap.windows["T1.crd1"].base,
        "words": 8,
        "width": 8,
    }
    assert data["nodes"] == ["n"]
    assert data["channels"][0] == "n.b->n.a0"


def test_nodes_of_several_regions_say_which():
    """They are counted region by region."""
    first = copy_graph(target="T")
    design = Design.assemble("two", [first, copy_graph(source="T")])
    data = AddressMap(design, Arch()).to_json()
    names = [node.name for node in first.nodes]
    assert data["nodes"][: len(names)] == [f"two_0.{name}" for name in names]
    assert data["nodes"][len(names)] == "two_1.root"
    assert data["channels"][len(first.channels)] == "two_1.root.out->scan_T1.ref"
    assert data["region_cycles"]["words"] == 2


def test_the_c_header_agrees_with_the_map(tmp_path: Path):
    amap = AddressMap(design_of([5, 8, 3], {"i": 9}), Arch())
    text = amap.c_header("my-kernel")
    macros = {m[1]: int(m[2].rstrip("u"), 0) for m in re.finditer(r"#define (\w+) (\w+)", text)}
    assert macros["MY_KERNEL_ADDRESS_BITS"] == amap.address_bits
    assert macros["MY_KERNEL_STATUS"] == 4
    assert macros["MY_KERNEL_ERROR_DEADLOCK"] == 16
    assert macros["MY_KERNEL_IDENTITY_VALUE"] == amap.identity
    assert (macros["MY_KERNEL_EXTENT_i"], macros["MY_KERNEL_EXTENT_i_MAX"]) == (0x1C, 9)
    assert macros["MY_KERNEL_MEM_T2_vals"] == amap.windows["T2.vals"].base
    assert macros["MY_KERNEL_MEM_T2_vals_WORDS"] == 3
    if compiler := which("cc"):
        (tmp_path / "map.c").write_text(text + text + "int main(void) { return MY_KERNEL_CONTROL; }\n")
        subprocess.run([compiler, "-Wall", "-Werror", "-c", "map.c", "-o", "map.o"], cwd=tmp_path, check=True)


DOCUMENT = Path(__file__).parents[2] / "docs" / "host_port.md"


def document_blocks() -> list[tuple[str, str]]:
    """The code blocks of docs/host_port.md, with their languages."""
    text = DOCUMENT.read_text(encoding="utf-8")
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_example_in_the_document_is_what_a_build_gives(tmp_path: Path):
    program, shown_json, driver = (text for language, text in document_blocks() if language != "python")
    compiled = compile_job(Job(parse(program, "square.ein")))
    amap = AddressMap(compiled.design, compiled.arch)
    data = amap.to_json()
    assert {key: data[key] for key in json.loads(shown_json)} == json.loads(shown_json)
    header = amap.c_header("samhw_top")
    assert "#define SAMHW_TOP_MEM_x_crd0 0x1000u" in header.splitlines()
    if compiler := which("cc"):
        (tmp_path / "address_map.h").write_text(header)
        write_driver(amap, tmp_path, "samhw_top")
        (tmp_path / "driver.c").write_text(driver)
        subprocess.run(
            [compiler, "-Wall", "-Werror", "-c", "driver.c", "-o", "driver.o"], cwd=tmp_path, check=True
        )


def test_the_document_lists_the_registers():
    rows = dict(re.findall(r"^\| (0x\w\w) \| (\w+) \|", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE))
    pairs = {f"{register:#04x}": register.name for register in Register if "CYCLES" not in register.name}
    assert rows == pairs
