"""`samhw run --trace`: what it writes, of one region and of several."""

import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from samhw import compile as samhw_compile
from tests.support.command import good, refused, samhw


def test_a_trace_of_a_window(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    result = samhw("run", "spmv", "--data", "karate", "--trace", path, "--window", "10:20", "--stats")
    assert result.exit_code == 0, result.output
    assert "bottleneck" in result.output
    events = json.loads(path.read_text())["traceEvents"]
    assert {e["ts"] for e in events if e["ph"] == "X"} == set(range(10, 20))


def test_a_trace_of_a_model_has_all_regions(tmp_path: Path) -> None:
    """The design is the one that runs without a trace, and each region starts after the one before it."""
    model = ("run", "mlp", "--value", "f32", "--data", "random", "--json", "-")
    path = tmp_path / "run.json"
    report = json.loads(good(*model, "--trace", path).stdout)
    assert report["cycles"] == json.loads(good(*model).stdout)["cycles"]
    assert len(report["regions"]) > 1
    events = json.loads(path.read_text())["traceEvents"]
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    start = 0
    for region in report["regions"]:
        (span,) = (e for e in events if e["name"] == region["name"])
        assert (span["ts"], span["dur"]) == (start, region["cycles"] + 1)
        start += span["dur"]
        pops = [
            e["ts"] for e in events if e["ph"] == "X" and processes[e["pid"]].startswith(f"{region['name']}.")
        ]
        assert span["ts"] < min(pops)
        assert max(pops) == span["ts"] + region["cycles"]
    assert start == report["cycles"] + 1


def test_a_window_of_a_model(tmp_path: Path) -> None:
    path = tmp_path / "run.vcd"
    model = ("run", "mlp", "--value", "f32", "--data", "random")
    regions = json.loads(good(*model, "--json", "-").stdout)["regions"]
    second = regions[0]["cycles"] + 1
    good(*model, "--trace", path, "--window", f"{second}:{second + 20}")
    scopes = {line.split()[2] for line in path.read_text().splitlines() if line.startswith("$scope")}
    assert scopes & {region["name"] for region in regions} == {regions[1]["name"]}


def test_a_trace_as_fst(tmp_path: Path) -> None:
    pytest.importorskip("pylibfst")
    path = tmp_path / "run.fst"
    result = samhw("run", "spmv", "--data", "karate", "--trace", path)
    assert result.exit_code == 0, result.output
    assert path.stat().st_size > 1000


def test_a_trace_of_perfettos_own(tmp_path: Path) -> None:
    """It has what the JSON has, in less than half of the room."""
    messages = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    whole, packed = tmp_path / "run.json", tmp_path / "run.pftrace"
    for path in (whole, packed):
        good("run", "mlp", "--value", "f32", "--data", "random", "--trace", path)
    assert packed.stat().st_size < whole.stat().st_size / 2
    packets = messages.Trace.FromString(packed.read_bytes()).packet
    tracks = {p.track_descriptor.uuid: p.track_descriptor for p in packets if p.HasField("track_descriptor")}
    kinds = messages.TrackEvent
    texts = {
        word.iid: word.str.decode() if hasattr(word, "str") else word.name
        for packet in packets
        for _, table in packet.interned_data.ListFields()
        for word in table
    }
    begun, counted = [], []
    ends: Counter[tuple[int, int]] = Counter()
    for packet in packets:
        event = packet.track_event
        track = tracks.get(event.track_uuid, packet.track_descriptor)
        match event.type:
            case kinds.TYPE_SLICE_BEGIN:
                notes = {
                    texts[n.name_iid]: texts.get(n.string_value_iid, n.int_value)
                    for n in event.debug_annotations
                }
                name = texts[event.name_iid]
                begun.append((packet.timestamp, track.parent_uuid, track.name, name, notes))
            case kinds.TYPE_SLICE_END:
                ends[packet.timestamp, event.track_uuid] += 1
            case kinds.TYPE_COUNTER:
                counted.append((packet.timestamp, track.parent_uuid, track.name, event.counter_value))
    events = json.loads(whole.read_text())["traceEvents"]
    names = {
        (e["name"], e["pid"], e.get("tid")): e["args"]["name"]
        for e in events
        if e["ph"] == "M" and "name" in e["args"]
    }
    processes = {t.process.pid: t.uuid for t in tracks.values() if t.HasField("process")}
    assert {p: tracks[uuid].process.process_name for p, uuid in processes.items()} == {
        pid: name for (kind, pid, _), name in names.items() if kind == "process_name"
    }
    assert begun == [
        (
            1000 * e["ts"],
            processes[e["pid"]],
            names.get(("thread_name", e["pid"], e["tid"]), "runs"),
            e["name"],
            e.get("args", {}),
        )
        for e in events
        if e["ph"] == "X"
    ]
    assert sum(ends.values()) == len(begun)
    assert counted == [
        (1000 * e["ts"], processes[e["pid"]], e["name"], e["args"]["slots"]) for e in events if e["ph"] == "C"
    ]


def test_a_save_file_of_gtkwave(tmp_path: Path) -> None:
    """Beside its waves, of which it shows every signal, once and under the name that they give it."""
    path = tmp_path / "run.gtkw"
    good("run", "mlp", "--value", "f32", "--data", "random", "--trace", path)
    declared = _declared(tmp_path / "run.vcd")
    lines = path.read_text().splitlines()
    assert lines[0] == '[dumpfile] "run.vcd"'
    assert sorted(line for line in lines if line[0] not in "@-[") == sorted(declared)
    titles, open_ones = [], []
    for flags, title in pairwise(lines):
        if flags in ("@800200", "@c00200"):
            open_ones.append(title)
            titles.append(title)
        elif flags in ("@1000200", "@1401200"):
            assert open_ones.pop() == title
    assert not open_ones
    assert [title for title in titles if title.startswith("-mlp_")] == ["-mlp_0", "-mlp_1", "-mlp_2"]
    assert len(titles) > 10


def test_a_command_file_of_surfer(tmp_path: Path) -> None:
    """It shows every signal of its waves once, those of a region and node under dividers with their names."""
    path = tmp_path / "run.sucl"
    good("run", "mlp", "--value", "f32", "--data", "random", "--trace", path)
    first, *commands, last = path.read_text().splitlines()
    assert (first, last) == ("load_file run.vcd", "zoom_fit")
    shown = [name for command, name in map(str.split, commands) if command == "variable_add"]
    assert sorted(shown) == sorted(_declared(tmp_path / "run.vcd"))
    dividers = [name for command, name in map(str.split, commands) if command == "divider_add"]
    assert len(dividers) + len(shown) == len(commands)
    # A divider takes one word.
    assert all(re.fullmatch(r"\w+", name) for name in dividers)
    assert [name for name in dividers if name.startswith("mlp_")] == ["mlp_0", "mlp_1", "mlp_2"]
    assert "# and ; end a file's name" in refused("run", "spmv", "--trace", tmp_path / "a#b.sucl")


def _declared(waves: Path) -> list[str]:
    """The signals of a dump, with the scopes in which they are."""
    declared, scopes = [], []
    for line in waves.read_text().splitlines():
        match line.split():
            case ["$scope", _, name, _]:
                scopes.append(name)
            case ["$var", _, _, _, name, _]:
                declared.append(".".join([*scopes, name]))
            case ["$upscope", _]:
                scopes.pop()
    return declared


def test_a_save_file_of_one_region_has_nodes_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.gtkw"
    good("run", "spmv", "--data", "karate", "--trace", path, "--window", "10:40")
    lines = path.read_text().splitlines()
    assert "-spmv" not in lines
    assert "-array_B" in lines
    # A reference is a number, a value the word of its type.
    assert lines[lines.index("samhw.array_B_ref.payload") - 1] == "@24"
    assert lines[lines.index("samhw.reduce_scalar_t0_val.payload") - 1] == "@22"


def test_the_waves_beside_a_save_file_are_another_options(tmp_path: Path) -> None:
    files = ("--trace", tmp_path / "run.gtkw", "--wave", tmp_path / "run.vcd")
    assert "run.vcd; name two files" in refused("run", "spmv", "--backend", "verilator", *files)


def test_a_trace_that_cannot_be(tmp_path: Path) -> None:
    assert "add '--trace run.json'" in refused("run", "spmv", "--window", "1:2")
    of_another_kind = refused("run", "spmv", "--trace", tmp_path / "run.txt")
    assert "suffix .json, .pftrace, .vcd, .fst, .gtkw or .sucl" in of_another_kind
    assert "give two cycles" in refused("run", "spmv", "--trace", tmp_path / "run.vcd", "--window", "3")
    assert not list(tmp_path.iterdir())


def test_a_trace_has_values_and_waits(tmp_path: Path) -> None:
    """A product of numbers with fractions: what the multiplier gives, and how long channels were empty."""
    a, b = np.array([0.5, -1.25, 3.0]), np.array([2.0, 4.0, -0.5])
    found = samhw_compile("y[i] = a[i] * b[i]", value="f32").run(a=a, b=b)
    events = json.loads(found.trace(tmp_path / "run.json").read_text())["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    read = [e for e in slices if threads[e["pid"], e["tid"]].endswith("from mul.val")]
    assert [e["args"]["value"] for e in read if e["args"]["kind"] == "VAL"] == ["1", "-5", "-1.5"]
    assert [e["name"] for e in read] == ["1", "-5", "-1.5", "S0", "D"]
    assert not [e for e in slices if e["args"]["stood"] < 0]
    coordinates = [e for e in slices if "crd" in threads[e["pid"], e["tid"]].split()[-1]]
    assert coordinates
    assert not [e for e in coordinates if "value" in e["args"]]


def test_a_trace_says_for_how_long_a_channel_was_empty(tmp_path: Path) -> None:
    """Sums of four products come every five cycles: four products and the end of the row."""
    found = samhw_compile("y[i] = A[i,j] * x[j]", formats={"A": "dense", "x": "dense"}).run(
        A=np.ones((6, 4), dtype=int), x=np.ones(4, dtype=int)
    )
    events = json.loads(found.trace(tmp_path / "run.json").read_text())["traceEvents"]
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    sums = [e for e in events if e["ph"] == "X" and "reduce" in threads[e["pid"], e["tid"]].split()[-1]]
    assert [e["args"]["empty before"] for e in sums][1:6] == [4] * 5
