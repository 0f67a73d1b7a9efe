"""Traces as files, read back by means of their own."""

import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from samhw.errors import InputError
from samhw.graph import Arch, Graph
from samhw.sim import Result, simulate, waveform, write_chrome_trace, write_fst, write_vcd
from tests.sim.graphs import WIDE, Builder

CHANNEL = "scan.crd->w.crd"


def traced(**options: object) -> tuple[Graph, Result]:
    """Coordinates 0, 2, 4, S0, D are popped in cycles 6 to 10, each pushed two cycles before."""
    g = Builder()
    g.add("root", "root", 0)
    g.add("scan_compressed", "scan", 0, "root.out", pos="p", crd="c", extent="x")
    g.add("write_compressed", "w", 1, "scan.crd", pos="wp", crd="wc")
    memories = {"p": np.array([0, 3]), "c": np.arange(3) * 2}
    return g.graph(), simulate(g.graph(), Arch(), memories, WIDE, **{"trace": [CHANNEL], **options})


def test_chrome_trace(tmp_path: Path) -> None:
    write_chrome_trace(tmp_path / "t.json", *traced())
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    names = [(e["name"], e["args"]["name"]) for e in events if e["ph"] == "M"]
    assert names == [("process_name", "w"), ("thread_name", "crd from scan.crd")]
    slices = [(e["ts"], e["dur"], e["name"], e["args"]["pushed"]) for e in events if e["ph"] == "X"]
    assert slices == [(6, 1, "0", 4), (7, 1, "2", 5), (8, 1, "4", 6), (9, 1, "S0", 7), (10, 1, "D", 8)]
    counts = [(e["ts"], e["args"]["slots"]) for e in events if e["ph"] == "C"]
    assert counts == [(4, 1), (5, 2), (6, 3), (9, 2), (10, 1), (11, 0)]
    assert len({(e["pid"], e["tid"]) for e in events if "tid" in e}) == 1


def values(text: str) -> dict[str, dict[int, str]]:
    """Of a value change dump: for each signal its value at the end of each instant."""
    head, _, body = text.partition("$enddefinitions $end\n")
    codes = {line.split()[3]: line.split()[4] for line in head.splitlines() if line.startswith("$var")}
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
    write_vcd(tmp_path / "t.vcd", *traced())
    signals = values((tmp_path / "t.vcd").read_text())
    at = {name: {time // 10: value for time, value in seen.items()} for name, seen in signals.items()}
    assert [cycle for cycle in at["pop"] if at["pop"][cycle] == "1"] == [6, 7, 8, 9, 10]
    assert [int(at["payload"][cycle], 2) for cycle in range(6, 11)] == [0, 2, 4, 0, 0]
    assert [int(at["kind"][cycle], 2) for cycle in range(6, 11)] == [0, 0, 0, 1, 3]
    assert [int(at["slots"][cycle], 2) for cycle in range(4, 12)] == [1, 2, 3, 3, 3, 2, 1, 0]
    assert (signals["clk"][60], signals["clk"][65]) == ("1", "0")


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


def test_fst_holds_what_vcd_does(tmp_path: Path) -> None:
    pytest.importorskip("pylibfst")
    write_vcd(tmp_path / "t.vcd", *traced())
    write_fst(tmp_path / "t.fst", *traced())
    vcd = values((tmp_path / "t.vcd").read_text())
    fst = fst_values(tmp_path / "t.fst")
    assert list(fst) == [
        "samhw.clk",
        *(f"samhw.w_crd.{name}" for name in ("pop", "kind", "payload", "slots")),
    ]
    for name, expected in vcd.items():
        (found,) = (seen for path, seen in fst.items() if path.endswith(f".{name}"))
        at = {time: int(value, 2) for time, value in found.items() if "x" not in value}
        assert at
        for time, value in expected.items():
            assert at[max(change for change in at if change <= time)] == int(value, 2)


def test_fst_without_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pylibfst", None)
    with pytest.raises(InputError, match=r"pip install 'samhw\[fst\]', or write .vcd"):
        write_fst(tmp_path / "t.fst", *traced())
    assert not list(tmp_path.iterdir())


def test_a_window_records_the_pops_in_it(tmp_path: Path) -> None:
    _, result = traced(window=(7, 9))
    assert [(p.popped, str(p.token)) for p in result.passages[CHANNEL]] == [(7, "2"), (8, "4")]


def test_bad_input(tmp_path: Path) -> None:
    pytest.importorskip("pylibfst")
    graph, result = traced(window=(100, 200))
    for write in (write_chrome_trace, write_vcd, write_fst):
        with pytest.raises(InputError, match="recorded no token"):
            write(tmp_path / "t", graph, result)
        with pytest.raises(InputError, match=r"nowhere/t \(No such file"):
            write(tmp_path / "nowhere" / "t", *traced())
    with pytest.raises(InputError, match="A check needs all tokens"):
        traced(window=(7, 9), check=True)


@pytest.mark.parametrize("free", [0, 1 << 20])
def test_fst_on_a_disk_that_is_nearly_full(
    free: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pylibfst")
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=free))
    with pytest.raises(InputError, match=r"t.fst \(No space left on device\)"):
        write_fst(tmp_path / "t.fst", *traced())
    assert not list(tmp_path.iterdir())


def test_an_fst_that_was_cut_off_is_found(tmp_path: Path) -> None:
    pytest.importorskip("pylibfst")
    path = tmp_path / "t.fst"
    write_fst(path, *traced())
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(OSError, match="No space left"):
            waveform._check_fst(path)
