"""Random options for every command, good and hostile ones: an exit code that means something, and never a
traceback.

    SAMHW_RANDOM_OPTIONS=5000 python -m pytest tests/cli/test_random_options.py
"""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

import samhw
from samhw.app.cli import COMMANDS, main
from samhw.targets.building import verilator
from samhw.tensors import Tensor, write_tensor

CASES = int(os.environ.get("SAMHW_RANDOM_OPTIONS", "200"))
BATCH = 20

CODES = {0, 1, 2, 130}

FILES = (
    *("good.ein", "bad.ein", "empty.ein", "folder.ein", "good.py:program", "bad.py:program"),
    *(
        "good.py:nothing",
        "a.mtx",
        "v.tns",
        "x.npz",
        "sam",
        "folder",
        "arch.json",
        "memory.json",
        "good.design.json",
    ),
    *("sweep.toml", "schedule.toml", "order.toml", "later.toml", "missing"),
)
"""What lies in the folder of a case, but for the last."""

HOSTILE = (
    *("", " ", "-", "--", "-1", "0", "1", "nan", "inf", "-inf", "1e400", "9" * 30, "9" * 5000),
    *("\u0663", "\u00b2", "a b", "\u540d\u524d", "\udcff", "%s", "{}", "[red]x[/]", "\n", "\t", "'", '"'),
    *("$HOME", "*", "x" * 300, "../..", ":", "=", ",", "+", ";", "a=", "=a", "a:b", "1:2:3", "<"),
    *("fixed<", "/", "/dev/null", "/dev/full", "/proc/self/mem"),
    *FILES,
)
"""What no option is made for, and what some are."""

GOOD = {
    "program": ("spmv", "spmm", "mmadd", "gcn", "sae", "good.ein", "good.py:program"),
    "programs": ("spmv", "spmm", "gcn", "good.ein", "sweep.toml"),
    "data": (
        *("karate", "random", "random:size=5", "random:size=5,density=0.5,seed=3", "random:h=4"),
        *("B=a.mtx", "A=a.mtx", "X=x.npz", "a=v.tns", "a.mtx", "a.mtx:pattern", "v.tns", "sam", "x.npz"),
        *("karate+random", "random:size=2000000000", "random:size=x", "random:density=2"),
        *("random:density=nan", "random:seed=-1", "random:color=3"),
    ),
    "schedule_file": ("schedule.toml", "later.toml", "auto"),
    "design": ("good.design.json",),
    "files": ("schedule.toml", "later.toml", "order.toml"),
    "schedule": ("schedule.toml", "order.toml"),
    "order": ("i,j", "j,i", "i,k,j", "k,j,i", "i,i", "i"),
    "fuse": ("none", "partial", "full", "kinds", "none,full"),
    "value": ("i8", "i16", "i32", "fixed<16,8>", "bf16", "f32", "fixed<32,31>", "fixed<8,9>", "i64"),
    "iteration": ("factored", "global", "factored,global"),
    "cascade": ("off", "auto", "rescaled", "deferred", "finite", "tile=4", "finite+tile=2", "some"),
    "permute_rows": (
        "A=by length",
        "A=even(2)",
        "A=reverse Cuthill-McKee",
        "A=good.py:rule",
        "A",
        "X=even(0)",
    ),
    "row_orders": ("A=none,by length", "B=even(2)", "A=reverse Cuthill-McKee,by length", "A", "=none"),
    "splits": ("A=none,rows(2)", "B=hyb(1,2),even(2)", "A", "A=rows(0)"),
    "split": ("A=rows(2)", "A=hyb(1,2)", "A=diagonal + csr", "x=rows(2)", "A=good.py:rule", "A", "A=rows(0)"),
    "share": ("auto", "all", "none", "some", "A=buffer", "T=store", "T=recompute,T=store", "="),
    "arch": ("samhw", "vitis", "arch.json"),
    "backend": ("sim", "verilator", "hls", "board:ulx3s", "board:arty_a7"),
    "port": ("/dev/none", "/dev/null"),
    "baud": ("9600", "3000000", "0"),
    "json_target": ("-", "out.json"),
    "save": ("out.mtx", "out.tns", "out.npz", "outdir", "a.mtx"),
    "wave": ("out.vcd", "out.fst"),
    "trace": ("out.json", "out.vcd", "out.fst"),
    "window": ("0:100", "5:2", "5:5", "10:20"),
    "memory": ("ddr4", "hbm2", "chip", "memory.json"),
    "place": ("A=ddr", "A=ddr,X=chip", "B=hbm:1", "A=chip+B=ddr", "A.vals=ddr", "A=off"),
    "on_chip": ("auto", "all", "none", "1KB", "2MB", "m_axi"),
    "regions": ("kernels", "top"),
    "target": ("sim", "vitis-hls", "verilator", "verilog", "board:arty_a7"),
    "name": ("conv", "wire"),
    "host": ("axi4", "axi4:0", "interrupt,recovery", "clock,axi4:3", "counters,axi4:33", "axi"),
    "output": ("out", "out.json", "table.csv", "table.parquet"),
    "part": ("xcu280-fsvh2892-2L-e",),
    "clock": ("4ns", "3.3ns", "80MHz", "1GHz", "-4"),
    "extents": ("i=9", "i=200,j=200", "x=2", "i=0"),
    "suite": ("kernels", "models"),
    "report": ("out",),
    "jobs": ("1", "2"),
    "blocks": ("i=2", "i=4+j=2", "x=2", "1"),
    "lanes": ("i=2", "j=2", "i=3+j=2", "x=2", "1"),
    "listed": ("3",),
    "html": ("out.html",),
    "plot": ("out.png", "out.svg", "out.pdf"),
    "against": ("bytes", "operations", "depth", "lanes", "price"),
    "dot": ("out.dot", "out.svg"),
    "depth": ("auto", "2,8", "1"),
    "draws": ("1", "2", "0"),
    "settings": (
        *("slack=2", "slack=-1", "step=0", "memory=3", "alu.f32.mul=4", "index_bits=64"),
        *("watchdog=1e9", "fanout=9999999999", "fuse=none,full", "formats.B=csr,dcsr", "permute=true"),
    ),
}
"""For each parameter texts that it is made for, and near misses."""

NEEDED = {"target", "output"}
"""Options that a command does not go far without."""


def fill(folder: Path) -> None:
    """The files of a case."""
    program = "tensor B[i, j] : csr\ntensor c[j] : dense\ntensor x[i] : dense\nx[i] = B[i, j] * c[j]\n"
    (folder / "good.ein").write_text(program)
    (folder / "bad.ein").write_text(program + "x[i = B[")
    (folder / "empty.ein").write_text("")
    (folder / "folder.ein").mkdir()
    (folder / "folder").mkdir()
    (folder / "good.py").write_text(
        f"from samhw.lang import parse\nprogram = parse({program!r})\nnothing = 3\n"
    )
    (folder / "bad.py").write_text("program = 1 / 0\n")
    matrix = np.arange(12).reshape(3, 4) % 5
    write_tensor(folder / "a.mtx", Tensor.from_dense(matrix, "csr"))
    write_tensor(folder / "v.tns", Tensor.from_dense(np.arange(4), "csf"))
    write_tensor(folder / "x.npz", Tensor.from_dense(matrix, "dense"))
    write_tensor(folder / "sam", Tensor.from_dense(matrix, "csf"))
    (folder / "arch.json").write_text('{"slack": 3}')
    (folder / "memory.json").write_text('{"preset": "ddr4", "cl": 20}')
    (folder / "schedule.toml").write_text(
        'fuse = "full"\niteration = "global"\npermute = true\n[formats]\nB = "dcsr"\n'
    )
    (folder / "order.toml").write_text('place = {B = "ddr"}\n[order]\nx = ["j", "i"]\n')
    (folder / "later.toml").write_text("[blocks]\ni = 4\n")
    samhw.compile(folder / "good.ein", fuse="full").save(folder / "good.ein")
    (folder / "sweep.toml").write_text('program = "spmv"\ndata = "random:size=4"\ndepth = ["auto", 2]\n')


def text(rng: random.Random, parameter: click.Parameter) -> str:
    """A value for a parameter."""
    good = GOOD.get(str(parameter.name), ())
    if not good or rng.random() < 0.25:
        return rng.choice(HOSTILE)
    chosen = rng.choice(good)
    if rng.random() < 0.05:  # A slip of the finger.
        place = rng.randrange(len(chosen) + 1)
        chosen = chosen[:place] + rng.choice("x0-,:= ") + chosen[place + rng.randrange(2) :]
    return chosen


def arguments(rng: random.Random) -> list[str]:
    """A random command line."""
    name = rng.choice(sorted(COMMANDS))
    words: list[str] = []
    command = main.get_command(click.Context(main), name)
    assert command is not None
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            for _ in range(rng.choice([1, 1, 1, 2]) if parameter.nargs == -1 else 1):
                words.append(text(rng, parameter))
            continue
        if parameter.name in ("scheduler", "help"):  # That one would wait for an answer.
            continue
        assert isinstance(parameter, click.Option)
        if rng.random() > (0.95 if parameter.name in NEEDED else 0.15):
            continue
        for _ in range(2 if parameter.multiple and rng.random() < 0.3 else 1):
            option = parameter.opts[-1]
            if parameter.is_flag:
                words.append(option)
            elif rng.random() < 0.2:
                words.append(f"{option}={text(rng, parameter)}")
            else:
                words += [option, text(rng, parameter)]
    if rng.random() < 0.05:
        words.insert(rng.randrange(len(words) + 1), rng.choice(["--nonsense", "-x", *HOSTILE]))
    return [name, *words]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of a case, on a machine without Verilator and compiler: designs that are built
    have tests of their own."""
    monkeypatch.chdir(tmp_path)
    for tool in ("SAMHW_VERILATOR", "CXX"):
        monkeypatch.setenv(tool, "/nonexistent/tool")
    verilator.find_verilator.cache_clear()
    fill(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(CASES // BATCH))
def test_random_options(batch: int, folder: Path) -> None:
    rng = random.Random(batch)
    for _ in range(BATCH):
        case = arguments(rng)
        try:
            # Whatever is no samhw error comes through.
            result = CliRunner().invoke(main, case, catch_exceptions=False)
        except BaseException as error:
            error.add_note(f"samhw {case}")
            raise
        assert result.exit_code in CODES, case
        assert "Traceback" not in result.output, case
        assert (result.exit_code == 2) <= bool(result.stderr.strip()), case
        assert not list(folder.rglob("*.tmp")), case


@pytest.mark.slow
def test_random_options_in_processes(folder: Path) -> None:
    """Some of them as a user types them, with what only a process has: its end."""
    rng = random.Random("processes")
    command = [sys.executable, "-c", "from samhw.app.cli import main; main(prog_name='samhw')"]
    for _ in range(CASES // 20):
        case = arguments(rng)
        done = subprocess.run(
            [*command, *case], capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL
        )
        assert done.returncode in CODES, (case, done.stderr)
        assert "Traceback" not in done.stderr, (case, done.stderr)
        if done.returncode == 0 and case[:1] != ["sweep"] and "-" in case and "--json" in case:
            json.loads(done.stdout)
