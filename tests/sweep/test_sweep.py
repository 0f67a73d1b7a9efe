"""Sweeps: axes, keys, the journal, processes that die, tables, and a sweep that is killed and goes on."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from samhw.app import sweep as package
from samhw.app.cli import main
from samhw.app.sweep import Configuration, State, product, read_description, sweep, workers
from samhw.app.sweep.journal import Journal
from samhw.app.sweep.outcome import Outcome, outcome
from samhw.app.sweep.run_sweep import journal_of, write_table
from samhw.choices.schedule import Schedule
from samhw.errors import InputError, RunError
from samhw.graph import Arch
from samhw.graph.numerics import value_type

SMALL = "random:size=6"


def lines(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def entries(output: Path) -> list[str]:
    """The keys of a journal, in the order in which they were noted."""
    return [json.loads(line)["key"] for line in journal_of(output).read_text().splitlines()]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Configurations are measured in this process, where it does not matter who does."""

    def run_here(
        tasks: Sequence[tuple[str, Configuration]], jobs: int | None, work: workers.TaskKind
    ) -> Generator[tuple[str, Outcome]]:
        yield from ((key, outcome(configuration)) for key, configuration in tasks)

    monkeypatch.setattr(package.run_sweep, "run_locally", run_here)


# Axes


def test_product_is_every_combination_and_the_last_axis_varies_fastest() -> None:
    found = list(
        product(
            {"program": ["spmv", "spmm"], "depth": ["auto", 4]}, {"slack": 1, "alu": {"f32": {"mul": [4, 8]}}}
        )
    )
    assert [(c.program, c.depth, dict(c.settings)["alu.f32.mul"]) for c in found] == [
        (program, depth, latency) for program in ("spmv", "spmm") for depth in (None, 4) for latency in (4, 8)
    ]
    assert found[1].arch().alu["f32"]["mul"] == 8
    assert found[1].arch().alu["bf16"] == Arch().alu["bf16"]
    assert found[0].columns()["arch.slack"] == found[0].arch().slack == 1


def test_description_with_several_sweeps_and_exclusions(tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text("""
value = ["i32", "f32"]
[arch]
slack = [0, 2]
[[sweep]]
program = "spmv"
[[sweep]]
program = ["gcn", "spmv"]
value = "f32"
fuse = ["none", "full"]
arch.memory = 3
[[exclude]]
program = "gcn"
fuse = "full"
arch.slack = 2
""")
    found = [(c.program, c.value, c.schedule.fuse, c.settings) for c in read_description(path)]
    assert len(found) == len(set(found)) == 4 + 8 - 1
    assert ("spmv", value_type("i32"), "partial", (("slack", 0),)) in found
    assert ("gcn", value_type("f32"), "full", (("slack", 0), ("memory", 3))) in found
    assert ("gcn", value_type("f32"), "full", (("slack", 2), ("memory", 3))) not in found


def test_every_field_of_a_schedule_has_a_column(tmp_path: Path) -> None:
    others: dict[str, Any] = {
        "fuse": "none",
        "iteration": "global",
        "permute": True,
        "place": {"A": "chip"},
        "on_chip": "64KB",
        "order": ["i", "k", "j"],
        "formats": {"A": "dcsr"},
        "largest_copy": 64,
        "attempts": 3,
        "lanes": {"i": 2},
        "share": "none",
        "brackets": {"T": "A * X"},
        "split": {"A": "rows(2)"},
        "partial_sums": [],
        "blocks": {"i": 2},
        "permute_rows": {"A": "by length"},
        "cascade": "rescaled",
        "queues": {"T": 4},
        "deal": {"i": "ranges"},
        "interleave": ["X"],
        "share_hardware": "none",
        "parallel": "all",
        "fixed_extents": True,
    }
    assert others.keys() == {field.name for field in fields(Schedule)}
    rows = [Configuration("spmm", schedule=Schedule(), memory="ddr4").columns()]
    for name, value in others.items():
        schedule = Schedule.from_fields({name: value})
        rows.append(Configuration("spmm", schedule=schedule, memory="ddr4").columns())
    write_table(tmp_path / "table.csv", rows)
    written = lines(tmp_path / "table.csv")
    for name, row in zip(others, written[1:], strict=True):
        assert {c.partition(".")[0] for c in row if row[c] != written[0][c]} == {name}


def test_a_word_may_be_a_number(tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text("program = 'spmm'\nlanes = [1, 'i=2']\n[[exclude]]\nlanes = 1\n")
    (left,) = read_description(path)
    assert left.schedule.lanes == {"i": 2}


def test_fields_in_words_are_axes(tmp_path: Path, here: None) -> None:
    output = tmp_path / "table.csv"
    words = ("--set", "blocks=1,i=4", "--set", "split.A=none,columns(2)", "--set", "partial_sums=none,T")
    found = CliRunner().invoke(main, ["sweep", "spmm", *words, "-o", str(output)])
    assert found.exit_code == 0, found.output
    written = {(row["blocks"], row["split.A"], row["partial_sums"]): row for row in lines(output)}
    assert len(written) == 8
    assert int(written["i=4", "", "none"]["cycles"]) < int(written["1", "", "none"]["cycles"])
    assert written["1", "columns(2)", "T"]["regions"] == "3"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("program = [", "is no TOML"),
        ("value = 'f32'", "needs programs"),
        ("program = 'spnn'", "no program 'spnn'"),
        ("programs = 'spmv'", "no axis 'programs'"),
        ("program = 'spmv'\nfuse = 'some'", "no fuse 'some'"),
        ("program = 'spmv'\nvalue = 'f99'", "Unknown value type 'f99'"),
        ("program = 'spmv'\nvalue = 32", "'value' is 32, which is not a text"),
        ("program = 'spmv'\ndepth = 0", "depth 0"),
        ("program = 'spmv'\ndepth = 'deep'", "'deep', which is not a whole number"),
        ("program = 'spmv'\nmemory = 'ddr9'", "no memory 'ddr9'"),
        ("program = 'spmv'\nmemory = 'none'", "have the memory 'chip'"),
        ("program = 'spmv'\nplace = 'B=ddr'", "memory is 'chip'"),
        ("program = 'spmv'\narch = 3", "'arch' is no table"),
        ("program = 'spmv'\n[arch]\nslak = 3", "no field 'slak' to set: Arch has index_bits"),
        ("program = 'spmv'\n[arch]\nalu.f32.mull = 3", "no field 'alu.f32.mull' to set: alu.f32 has max"),
        ("program = 'spmv'\n[arch]\nalu = 3", "Arch.alu is a table, of alu.integer, "),
        ("program = 'spmv'\n[arch]\nslack = 'much'", "of another kind"),
        ("program = 'spmv'\n[arch]\nmemory = 0", "Arch.memory is 0"),
        ("program = 'spmv'\n[exclude]\nvalue = 'f32'", r"write \[\[exclude\]\]"),
        ("program = 'spmv'\n[[exclude]]\nvalu = 'f32'", "names 'valu'"),
        ("program = 'spmv'\n[[exclude]]\nprogram = 'spmv'", "nothing is left"),
    ],
)
def test_bad_description(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_description(path)


# Keys


def test_a_key_stands_for_all_that_a_result_follows_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix, program = tmp_path / "a.npz", tmp_path / "p.ein"
    np.savez(matrix, np.eye(3))
    program.write_text("tensor A[i, j] : csr\nx[i] = A[i,j]\n")
    base = Configuration(str(program), f"A={matrix}")
    key = base.key()
    assert base.key() == key
    others = [
        Configuration(str(program), f"A={matrix}", value=value_type("i32")),
        Configuration(str(program), f"A={matrix}", depth=3),
        Configuration(str(program), f"A={matrix}", settings=(("slack", 5),)),
        Configuration(str(program), f"A={matrix}", memory="ddr4"),
        Configuration(str(program), f"A={matrix}", schedule=Schedule(place={"A": "ddr"}), memory="ddr4"),
    ]
    assert len({key, *(other.key() for other in others)}) == 6
    default = Configuration(str(program), f"A={matrix}", settings=(("slack", Arch().slack),))
    assert default.key() == key

    program.write_text("tensor A[i, j] : csr\nx[i] = A[i,j] + A[i,j]\n")
    changed = base.key()
    np.savez(matrix, 2 * np.eye(3))
    monkeypatch.setattr(package.configuration, "version_digest", lambda: "of another samhw")
    again = base.key()
    monkeypatch.undo()
    assert len({key, changed, again, base.key()}) == 4
    matrix.unlink()
    with pytest.raises(InputError, match=r"Cannot read .*a.npz"):
        base.key()


def test_configurations_for_another_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text("from samhw.lang import load_kernel\np = load_kernel('spmv')\n")
    data = "A={0}a.mtx+karate+{0}g.mtx:pattern+random:size=3+synthetic:cora"
    configuration = Configuration("m.py:p", data.format("")).anywhere()
    assert configuration.program == f"{tmp_path}/m.py:p"
    assert configuration.data == data.format(f"{tmp_path}/")
    assert Configuration.from_json(json.loads(json.dumps(configuration.to_json()))) == configuration


# Outcomes


def test_every_end_has_a_row() -> None:
    right = outcome(Configuration("spmv", SMALL))
    assert right["status"] == "right"
    assert right["checked"]
    assert right["cycles"] > 0
    assert "limits" in right["bottleneck"]
    assert (right["fetching"], right["bytes_moved"]) == (0, None)
    slow = outcome(Configuration("spmv", SMALL, schedule=Schedule(place={"B": "hbm"}), memory="hbm2"))
    assert slow["cycles"] > right["cycles"]
    assert slow["fetching"] > 0
    assert slow["bytes_moved"] % 32 == 0
    refused = outcome(Configuration("spmm", SMALL, schedule=Schedule(order=("i", "j", "k"))))
    assert refused["status"] == "refused"
    assert "declare X with the mode order" in refused["error"]
    failed = outcome(Configuration("mttkrp", "random", value=value_type("i8")))
    assert failed["status"] == "failed"
    assert "overflow" in failed["error"]
    deadlock = outcome(Configuration("gcn_softmax", "karate", depth=1))
    assert deadlock["status"] == "failed"
    assert "deadlock" in deadlock["error"].lower()


# Journal and resumption


def test_an_entry_is_an_axis() -> None:
    """Both ways to write it are one."""
    words = ["csr", "dcsr"]
    dotted = list(product({"program": "spmv", "data": SMALL, "formats.A": words}))
    assert dotted == list(product({"program": "spmv", "data": SMALL, "formats": {"A": words}}))
    assert len(dotted) == 2
    with pytest.raises(InputError, match=r"no axis 'lanes\.i'"):
        list(product({"program": "spmv", "lanes.i": 2}))


@pytest.mark.usefixtures("here")
def test_a_sweep_goes_on_and_repeats_nothing(tmp_path: Path) -> None:
    output = tmp_path / "r.csv"
    states: list[State] = []
    first = list(product({"program": "spmv", "data": SMALL, "depth": [2, 3]}))
    sweep(first, output, jobs=1, progress=states.append)
    assert states == [(0, 2, 0), (1, 2, 0), (2, 2, 0)]
    before = entries(output)

    states.clear()
    more = list(product({"program": "spmv", "data": SMALL, "depth": [4, 3, 2]}))
    rows = sweep(more, output, jobs=1, progress=states.append)
    assert states == [(2, 3, 2), (3, 3, 2)]
    assert entries(output)[:2] == before
    assert len(entries(output)) == 3
    assert [row["depth"] for row in rows] == [4, 3, 2]
    assert [line["depth"] for line in lines(output)] == ["4", "3", "2"]


@pytest.mark.usefixtures("here")
def test_equal_configurations_run_once_and_have_a_row_each(tmp_path: Path) -> None:
    default = Configuration("spmv", SMALL)
    same = Configuration("spmv", SMALL, settings=(("slack", Arch().slack),))
    states: list[State] = []
    rows = sweep([default, same], tmp_path / "r.csv", progress=states.append)
    assert states[-1] == (1, 1, 0)
    assert [row.get("arch.slack") for row in rows] == [None, Arch().slack]
    assert rows[0]["cycles"] == rows[1]["cycles"]


@pytest.mark.usefixtures("here")
def test_a_torn_last_line_is_measured_again(tmp_path: Path) -> None:
    output = tmp_path / "r.csv"
    configurations = list(product({"program": "spmv", "data": SMALL, "depth": [2, 3]}))
    sweep(configurations, output, jobs=1)
    journal = journal_of(output)
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-20])
    states: list[State] = []
    rows = sweep(configurations, output, jobs=1, progress=states.append)
    assert states[0] == (1, 2, 1)
    assert [row["status"] for row in rows] == ["right", "right"]
    assert len(entries(output)) == 2

    journal.write_bytes(b"no json\n" + whole)
    with pytest.raises(InputError, match=r"Line 1 of the journal .* is damaged"):
        sweep(configurations, output)


def test_a_line_is_on_the_disk_at_once(tmp_path: Path) -> None:
    path = tmp_path / "r.csv.journal"
    with Journal(path) as journal:
        journal.append("key", Configuration("spmv").to_json(), {"status": "right"})
        assert json.loads(path.read_text())["outcome"] == {"status": "right"}


def test_a_journal_has_one_writer(tmp_path: Path) -> None:
    output = tmp_path / "r.csv"
    with Journal(journal_of(output)), pytest.raises(InputError, match="Another sweep is writing"):
        sweep([Configuration("spmv", SMALL)], output)
    assert not list(tmp_path.iterdir())


def test_a_process_that_dies_costs_one_configuration(tmp_path: Path) -> None:
    """A program whose file kills its process, while others are measured."""
    deadly = tmp_path / "deadly.py"
    flag = tmp_path / "flag"
    deadly.write_text(
        "import os\nfrom samhw.lang import load_kernel\nprogram = load_kernel('spmv')\n"
        f"if os.path.exists({str(flag)!r}):\n    os.kill(os.getpid(), 9)\n"
    )
    output = tmp_path / "r.csv"
    configurations = list(product({"program": [f"{deadly}:program", "spmv", "spmm"], "data": SMALL}))
    flag.touch()
    rows = sweep(configurations, output, jobs=1)
    assert [row["status"] for row in rows] == ["crashed", "right", "right"]
    assert "SIGKILL (out of memory?)" in rows[0]["error"]
    # That may come out better the next time.
    flag.unlink()
    states: list[State] = []
    rows = sweep(configurations, output, jobs=1, progress=states.append)
    assert states[0] == (2, 3, 2)
    assert [row["status"] for row in rows] == ["right"] * 3


@pytest.mark.usefixtures("here")
def test_ctrl_c_leaves_the_table_of_what_is_done(tmp_path: Path) -> None:
    def interrupt(state: State) -> None:
        if state.done == 2:
            raise KeyboardInterrupt

    output = tmp_path / "r.csv"
    with pytest.raises(RunError, match=r"interrupted with 2 of 3 .*; the same command goes on from there"):
        sweep(
            list(product({"program": "spmv", "data": SMALL, "depth": [2, 3, 4]})),
            output,
            jobs=1,
            progress=interrupt,
        )
    assert len(lines(output)) == len(entries(output)) == 2


@pytest.mark.slow
def test_kill_9_and_on(tmp_path: Path) -> None:
    """The sweep's own processes end as well, and the next sweep measures the rest alone."""
    output = tmp_path / "r.csv"
    command = [sys.executable, "-c", "from samhw.app.cli import main; main()", "sweep", "spmv", "spmm"]
    command += ["--data", SMALL, "--depth", "2,3,4,5,6,7,8,9,10,11", "-o", str(output), "--jobs", "2"]
    running = subprocess.Popen(command)
    journal = journal_of(output)
    deadline = time.monotonic() + 60
    while (not journal.exists() or journal.read_bytes().count(b"\n") < 3) and time.monotonic() < deadline:
        time.sleep(0.01)
    workers = children(running.pid)
    assert len(workers) == 2
    running.send_signal(signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL
    done = journal.read_bytes().count(b"\n")
    assert 3 <= done < 20
    assert not output.exists()
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(alive, workers))

    after = subprocess.run(command, capture_output=True, text=True, check=False)
    assert after.returncode == 0, after.stderr
    assert "20 configurations: 20 right" in after.stdout
    assert len(entries(output)) == len(set(entries(output))) == 20
    assert [line["status"] for line in lines(output)] == ["right"] * 20


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(stat.parent.name))
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_processes_have_one_core_each(tmp_path: Path) -> None:
    """And Ctrl-C on the terminal is not for them."""
    asking, answers = tmp_path / "asking.py", tmp_path / "answers"
    asking.write_text(
        "import os\nfrom samhw.lang import load_kernel\nprogram = load_kernel('spmv')\n"
        f"with open({str(answers)!r}, 'a') as file:\n"
        "    print(os.getsid(0), os.environ.get('OPENBLAS_NUM_THREADS'), file=file)\n"
    )
    (row,) = sweep([Configuration(f"{asking}:program", SMALL)], tmp_path / "r.csv", jobs=3)
    assert row["status"] == "right"
    session, threads = answers.read_text().splitlines()[-1].split()
    assert threads == "1"
    assert int(session) != os.getsid(0)


# Tables


@pytest.mark.usefixtures("here")
def test_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    output = tmp_path / "r.parquet"
    sweep(list(product({"program": ["spmv", "gat"], "data": "karate", "value": "i32"}, {"slack": 1})), output)
    table = parquet.read_table(output)
    types = {name: str(kind) for name, kind in zip(table.schema.names, table.schema.types, strict=True)}
    assert types["cycles"] == types["depth"] == types["arch.slack"] == "int64"
    assert types["energy_pj"] == "double"
    assert types["checked"] == "bool"
    assert types["error"] == "string"
    spmv, gat = table.to_pylist()
    assert spmv["checked"]
    assert spmv["error"] is None
    assert gat["cycles"] is None
    assert "no operation 'exp'" in gat["error"]


def test_bad_tables_are_refused_before_anything_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configurations = [Configuration("spmv", SMALL)]
    with pytest.raises(InputError, match=r"suffix .csv or .parquet"):
        sweep(configurations, tmp_path / "r.txt")
    with pytest.raises(InputError, match="Cannot write"):
        sweep(configurations, tmp_path / "nowhere" / "r.csv")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'samhw\[parquet\]'"):
        sweep(configurations, tmp_path / "r.parquet")
    assert not list(tmp_path.iterdir())


# Cluster


def test_on_a_cluster(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    output = tmp_path / "r.csv"
    configurations = list(product({"program": ["spmv", "examples/spmm.ein"], "data": SMALL, "depth": [1, 3]}))
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=None
    ) as cluster:
        rows = sweep(configurations, output, scheduler=cluster.scheduler_address)
    assert [row["status"] for row in rows] == [outcome(c)["status"] for c in configurations]
    assert [row["cycles"] for row in rows if "cycles" in row]
    # Nothing is left to do: no scheduler is asked.
    sweep(configurations, output, scheduler="tcp://127.0.0.1:1")


def test_no_scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(package.workers, "PATIENCE", 0.1)
    with pytest.raises(InputError, match=r"No Dask scheduler answers at tcp://127.0.0.1:1"):
        sweep([Configuration("spmv", SMALL)], tmp_path / "r.csv", scheduler="tcp://127.0.0.1:1")
    with pytest.raises(InputError, match="missing port number"):
        sweep([Configuration("spmv", SMALL)], tmp_path / "r.csv", scheduler="nosuch")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'samhw\[cluster\]'"):
        sweep([Configuration("spmv", SMALL)], tmp_path / "r.csv", scheduler="tcp://127.0.0.1:1")
    assert not list(tmp_path.iterdir())


# Command line


def test_command(tmp_path: Path) -> None:
    output = tmp_path / "r.csv"
    arguments = [
        "sweep",
        "spmv",
        "--data",
        SMALL,
        "--value",
        "i32,fixed<16,8>",
        "--set",
        "alu.integer.mul=2,9",
    ]
    result = CliRunner().invoke(main, [*arguments, "-o", str(output)])
    assert result.exit_code == 0, result.output
    assert "4 configurations: 4 right" in result.output
    found = lines(output)
    assert [(line["value"], line["arch.alu.integer.mul"]) for line in found] == [
        (value, latency) for value in ("i32", "fixed<16,8>") for latency in ("2", "9")
    ]
    assert int(found[1]["cycles"]) > int(found[0]["cycles"])


def test_a_wrong_result_is_an_exit_code(tmp_path: Path) -> None:
    configuration = Configuration("spmv", SMALL)
    output = tmp_path / "r.csv"
    with Journal(journal_of(output)) as journal:
        journal.append(configuration.key(), configuration.to_json(), {"status": "wrong", "checked": False})
    result = CliRunner().invoke(main, ["sweep", "spmv", "--data", SMALL, "-o", str(output)])
    assert result.exit_code == 1
    assert "1 wrong" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.toml", "--value", "f32"], "file has all of its axes"),
        (["a.toml"], "Cannot read a.toml"),
        (["spmv", "--set", "slack"], "--set slack: give a field of Arch"),
        (["spmv", "--set", "slack=x"], "Arch.slack is 2 by default, and 'x' is of another kind"),
        (["spmv", "--depth", "4,x"], "'depth' is 'x', which is not a whole number"),
        (["spmv", "--depth", "1.5"], "1.5, which is not a whole number"),
        (["spmv", "--data", "nowhere.mtx"], "Cannot read nowhere.mtx"),
        (["spmv", "--jobs", "0"], "0 processes"),
        (["spmv", "--jobs", "2", "--scheduler", "tcp://here:8786"], "give one of them"),
    ],
)
def test_bad_options(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["sweep", *arguments, "-o", "r.csv"])
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert not list(tmp_path.iterdir())
