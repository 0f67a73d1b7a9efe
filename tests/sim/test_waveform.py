"""Traces as files, read back by means of their own."""

import json
import shutil
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from samhw.errors import InputError
from samhw.graph import VAL, Arch, Graph, Token
from samhw.sim import (
    Passage,
    Result,
    simulate,
    waveform,
    write_chrome_trace,
    write_fst,
    write_gtkwave,
    write_vcd,
)
from tests.support.graphs import WIDE, Builder

CHANNEL = "scan.crd->w.crd"
FIELDS = ("pop", "kind", "payload", "slots")
"""The signals of a channel."""

Runs = list[tuple[Graph, Result]]


def traced(**options: object) -> Runs:
    """Coordinates 0, 2, 4, S0, D are popped in cycles 6 to 10, each pushed two cycles before."""
    g = Builder()
    g.add("root", "root", 0)
    g.add("scan_compressed", "scan", 0, "root.out", pos="p", crd="c", extent="x")
    g.add("write_compressed", "w", 1, "scan.crd", pos="wp", crd="wc")
    memories = {"p": np.array([0, 3]), "c": np.arange(3) * 2}
    return [(g.graph(), simulate(g.graph(), Arch(), memories, WIDE, **{"trace": [CHANNEL], **options}))]


def traced_regions(*windows: tuple[int, int]) -> Runs:
    """The same twice, as regions: the second one is started in cycle 11. Windows are of a region each."""
    found = [run for window in windows or [(0, 100)] * 2 for run in traced(window=window)]
    return [
        (replace(graph, name=f"a design_{n}"), replace(result, start=11 * n))
        for n, (graph, result) in enumerate(found)
    ]


LABEL = "busy 5, starved 5 of 10 cycles"


def test_chrome_trace(tmp_path: Path) -> None:
    write_chrome_trace(tmp_path / "t.json", traced())
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    names = [(e["name"], *e["args"].values()) for e in events if e["ph"] == "M"]
    assert names == [("process_name", "w"), ("process_labels", LABEL), ("thread_name", "crd from scan.crd")]
    slices = [(e["ts"], e["dur"], e["name"], e["args"]["pushed"]) for e in events if e["ph"] == "X"]
    assert slices == [(6, 1, "0", 4), (7, 1, "2", 5), (8, 1, "4", 6), (9, 1, "S0", 7), (10, 1, "D", 8)]
    waits = [(e["args"]["stood"], e["args"]["empty before"]) for e in events if e["ph"] == "X"]
    assert waits == [(0, 0)] * 5
    counts = [(e["ts"], e["args"]["slots"]) for e in events if e["ph"] == "C"]
    assert counts == [(4, 1), (5, 2), (6, 3), (9, 2), (10, 1), (11, 0)]
    assert len({(e["pid"], e["tid"]) for e in events if "tid" in e}) == 1


def test_chrome_trace_of_regions(tmp_path: Path) -> None:
    """Each has what one has alone, later."""
    write_chrome_trace(tmp_path / "t.json", traced_regions())
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert list(processes.values()) == ["regions", "a design_0.w", "a design_1.w"]
    slices: dict[str, list[tuple[int, int, str]]] = {name: [] for name in processes.values()}
    for e in events:
        if e["ph"] == "X":
            slices[processes[e["pid"]]].append((e["ts"], e["dur"], e["name"]))
    assert slices["regions"] == [(0, 11, "a design_0"), (11, 11, "a design_1")]
    tokens = [(6, 1, "0"), (7, 1, "2"), (8, 1, "4"), (9, 1, "S0"), (10, 1, "D")]
    assert slices["a design_0.w"] == tokens
    assert slices["a design_1.w"] == [(11 + cycle, dur, name) for cycle, dur, name in tokens]
    counts = [(e["ts"], e["args"]["slots"]) for e in events if e["ph"] == "C"]
    assert counts[6:] == [(11 + cycle, slots) for cycle, slots in counts[:6]]


def values(text: str) -> dict[str, dict[int, str]]:
    """Of a value change dump: for each signal, by its path, its value at the end of each instant."""
    head, _, body = text.partition("$enddefinitions $end\n")
    path: list[str] = []
    codes = {}
    for line in map(str.split, head.splitlines()):
        if line[0] == "$scope":
            path.append(line[2])
        elif line[0] == "$upscope":
            path.pop()
        elif line[0] == "$var":
            codes[line[3]] = ".".join([*path, line[4]])
    current: dict[str, str] = {}
    seen: dict[str, dict[int, str]] = {name: {} for name in codes.values()}
    for instant in body.split("#")[1:]:
        time, *changes = instant.splitlines()
        for change in changes:
            value, code = change[1:].split() if change[0] == "b" else (change[0], change[1:])
            current[codes[code]] = value
        for name, value in current.items():
            seen[name][int(time)] = value
    return seen


def test_vcd(tmp_path: Path) -> None:
    write_vcd(tmp_path / "t.vcd", traced())
    signals = values((tmp_path / "t.vcd").read_text())
    channel = "samhw.w_crd"
    assert list(signals) == ["samhw.clk", *(f"{channel}.{name}" for name in FIELDS)]
    at = {
        name: {time // 10: value for time, value in signals[f"{channel}.{name}"].items()} for name in FIELDS
    }
    assert [cycle for cycle in at["pop"] if at["pop"][cycle] == "1"] == [6, 7, 8, 9, 10]
    assert [int(at["payload"][cycle], 2) for cycle in range(6, 11)] == [0, 2, 4, 0, 0]
    assert [int(at["kind"][cycle], 2) for cycle in range(6, 11)] == [0, 0, 0, 1, 3]
    assert [int(at["slots"][cycle], 2) for cycle in range(4, 12)] == [1, 2, 3, 3, 3, 2, 1, 0]
    assert (signals["samhw.clk"][60], signals["samhw.clk"][65]) == ("1", "0")


def fst_values(path: Path) -> dict[str, dict[int, str]]:
    """Of an FST file: for each signal its value at each time at which it changes."""
    pylibfst = pytest.importorskip("pylibfst")
    reader = pylibfst.lib.fstReaderOpen(str(path).encode())
    assert reader != pylibfst.ffi.NULL
    assert pylibfst.lib.fstReaderGetTimescale(reader) == -9
    _, signals = pylibfst.get_scopes_signals2(reader)
    seen: dict[str, dict[int, str]] = {name: {} for name in signals.by_name}

    def change(_: object, time: int, handle: int, value: object) -> None:
        seen[signals.by_handle[handle].name][time] = pylibfst.string(value)

    pylibfst.lib.fstReaderSetFacProcessMaskAll(reader)
    pylibfst.fstReaderIterBlocks(reader, change)
    pylibfst.lib.fstReaderClose(reader)
    return seen


@pytest.mark.parametrize("runs", [traced, traced_regions])
def test_fst_holds_what_vcd_does(tmp_path: Path, runs: Callable[[], Runs]) -> None:
    pytest.importorskip("pylibfst")
    write_vcd(tmp_path / "t.vcd", runs())
    write_fst(tmp_path / "t.fst", runs())
    vcd = values((tmp_path / "t.vcd").read_text())
    fst = fst_values(tmp_path / "t.fst")
    assert list(fst) == list(vcd)
    for path, expected in vcd.items():
        at = {time: int(value, 2) for time, value in fst[path].items() if "x" not in value}
        assert at
        for time, value in expected.items():
            assert at[max(change for change in at if change <= time)] == int(value, 2)


def test_vcd_of_regions(tmp_path: Path) -> None:
    """Each has what one has alone, later."""
    write_vcd(tmp_path / "t.vcd", traced())
    write_vcd(tmp_path / "regions.vcd", traced_regions())
    alone = values((tmp_path / "t.vcd").read_text())
    signals = values((tmp_path / "regions.vcd").read_text())
    scopes = [f"samhw.a_design_{number}.w_crd" for number in range(2)]
    assert list(signals) == ["samhw.clk", *(f"{scope}.{name}" for scope in scopes for name in FIELDS)]
    assert list(signals["samhw.clk"]) == list(range(40, 230, 5))
    for start, scope in zip((0, 110), scopes, strict=True):
        for name in FIELDS:
            found = signals[f"{scope}.{name}"]
            assert {time - start: v for time, v in found.items() if time - start in range(40, 120)} == alone[
                f"samhw.w_crd.{name}"
            ]


def test_a_token_may_leave_behind_the_end_of_its_region(tmp_path: Path) -> None:
    """A node that no writer waits for may fire while the next region runs."""
    (first, result), (second, late) = traced_regions()
    early = replace(result, cycles=6)
    write_vcd(tmp_path / "t.vcd", [(first, early), (second, replace(late, start=7))])
    signals = values((tmp_path / "t.vcd").read_text())
    for start, number in ((0, 0), (7, 1)):
        pops = signals[f"samhw.a_design_{number}.w_crd.pop"]
        assert [time // 10 for time in pops if pops[time] == "1"][::2] == [start + n for n in range(6, 11)]


def test_a_window_of_regions_shows_those_in_it(tmp_path: Path) -> None:
    runs = traced_regions((17, 19), (6, 8))
    write_vcd(tmp_path / "t.vcd", runs)
    assert "a_design_0" not in (tmp_path / "t.vcd").read_text()
    write_chrome_trace(tmp_path / "t.json", runs)
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    slices = [(e["ts"], e["name"]) for e in events if e["ph"] == "X"]
    assert slices == [(0, "a design_0"), (11, "a design_1"), (17, "0"), (18, "2")]


@pytest.mark.nightly
def test_a_chrome_trace_is_written_event_by_event(tmp_path: Path) -> None:
    """Beside the tokens of one channel, whatever their number, nothing is held."""
    ((graph, result),) = traced()
    many = [Passage(n, n + 2, Token(VAL, n)) for n in range(3000)]
    channels = graph.channels
    runs = [(graph, replace(result, passages={c.name: many for c in channels})) for _ in range(20)]
    tracemalloc.start()
    try:
        write_chrome_trace(tmp_path / "t.json", runs)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (tmp_path / "t.json").stat().st_size > 20 * len(channels) * 3000 * 100
    assert peak < 3000 * 1000


def test_fst_without_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pylibfst", None)
    with pytest.raises(InputError, match=r"pip install 'samhw\[fst\]', or write .vcd"):
        write_fst(tmp_path / "t.fst", traced())
    assert not list(tmp_path.iterdir())


def test_a_window_records_the_pops_in_it(tmp_path: Path) -> None:
    ((_, result),) = traced(window=(7, 9))
    assert [(p.popped, str(p.token)) for p in result.passages[CHANNEL]] == [(7, "2"), (8, "4")]
    for name, run in (("all", traced()), ("part", traced(window=(7, 9)))):
        for write, ending in ((write_vcd, "vcd"), (write_chrome_trace, "json"), (write_gtkwave, "gtkw")):
            path = tmp_path / f"{name}.{ending}"
            write(path, run)
            # How many slots are taken between the tokens of a part nobody knows.
            assert ("slots" in path.read_text("utf-8")) == (name == "all")


def test_bad_input(tmp_path: Path) -> None:
    pytest.importorskip("pylibfst")
    nothing = traced(window=(100, 200))
    for write in (write_chrome_trace, write_vcd, write_fst):
        with pytest.raises(InputError, match="recorded no token"):
            write(tmp_path / "t", nothing)
        with pytest.raises(InputError, match=r"nowhere/t \(No such file"):
            write(tmp_path / "nowhere" / "t", traced())
    with pytest.raises(InputError, match="A check needs all tokens"):
        traced(window=(7, 9), check=True)


@pytest.mark.parametrize("free", [0, 1 << 20])
def test_fst_on_a_disk_that_is_nearly_full(
    free: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pylibfst")
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=free))
    with pytest.raises(InputError, match=r"t.fst \(No space left on device\)"):
        write_fst(tmp_path / "t.fst", traced())
    assert not list(tmp_path.iterdir())


def test_an_fst_that_was_cut_off_is_found(tmp_path: Path) -> None:
    pytest.importorskip("pylibfst")
    path = tmp_path / "t.fst"
    write_fst(path, traced())
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(OSError, match="No space left"):
            waveform._check_fst(path)
