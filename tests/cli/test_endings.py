"""How commands end that cannot go on: a full disk, Ctrl-C, a kill. One sentence, and nothing half-written."""

import json
import os
import shlex
import signal
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner

from samhw.app.cli import main
from tests.support.proc import children, running, wait_until
from tests.support.thorough import sample

COMMAND = [sys.executable, "-c", "from samhw.app.cli import main; main(prog_name='samhw')"]

OUTPUTS = [
    "run spmv --data karate --json OUT",
    "run spmm --data karate --save OUT.mtx",
    "run spmv --data karate --save OUT.tns",
    "run spmv --data karate --save OUT.npz",
    "run spmm --data karate --save OUT",
    "run spmv --data karate --trace OUT.json",
    "run spmv --data karate --trace OUT.vcd",
    "compile spmv --data karate --dot OUT",
    "compile spmv --data karate --html OUT",
    "compile spmv --data karate -o OUT",
    "compare spmv --fuse none --json OUT",
    "build spmv --data karate --target sim -o OUT",
    "build spmv --data karate --target vitis-hls -o OUT",
    "sweep spmv --data random -o OUT.csv",
]
"""Commands that write; OUT is where."""

FULL = """
import json, resource, sys
from click.testing import CliRunner
from samhw.app.cli import main
endless = resource.RLIM_INFINITY
for warm, full in json.loads(sys.argv[1]):
    assert CliRunner().invoke(main, warm.split()).exit_code == 0
    for limit in (100, 0):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, endless))
        try:
            main(full.split(), prog_name="samhw")
        except SystemExit as end:
            print("ended with", end.code)
        resource.setrlimit(resource.RLIMIT_FSIZE, (endless, endless))
"""
"""Runs each command once as it is, so that all caches are filled, and then with disks that take only this
many bytes of a file."""


@pytest.mark.slow
def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    pairs = []
    for number, command in enumerate(OUTPUTS):
        for name in ("warm", "full"):
            (tmp_path / f"{name}{number}").mkdir()
        pairs.append([command.replace("OUT", f"{tmp_path}/{name}{number}/out") for name in ("warm", "full")])
    words = [sys.executable, "-c", FULL, json.dumps(pairs)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    ends = [line for line in done.stdout.splitlines() if line.startswith("ended with ")]
    sentences = done.stderr.splitlines()
    assert len(ends) == len(sentences) == 2 * len(OUTPUTS), done.stderr
    assert set(ends) <= {"ended with 1", "ended with 2"}
    for sentence in sentences:
        assert sentence.startswith("samhw: ")
        assert "File too large" in sentence or "No space left on device" in sentence
    for number, command in enumerate(OUTPUTS):
        left = {path.name for path in (tmp_path / f"full{number}").iterdir()}
        # What a sweep has measured stays.
        assert left <= ({"out.csv.journal"} if "sweep" in command else set()), command


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("command", [command for command in OUTPUTS if command.endswith("OUT")])
def test_a_full_device_is_a_sentence(command: str) -> None:
    result = CliRunner().invoke(main, command.replace("OUT", "/dev/full").split())
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("samhw: ")
    assert result.stderr.count("\n") == 1
    assert not Path("/dev/full").is_file()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("arguments", [["kernels"], ["run", "spmv"], ["run", "spmv", "--json", "-"]])
def test_a_full_standard_output_is_a_sentence(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert (
        done.stderr
        == f"samhw: 'samhw {arguments[0]}' could not write (No space left on device); make room.\n"
    )


def test_a_closed_standard_output_is_no_error() -> None:
    """As of a daemon."""
    command = shlex.join([*COMMAND, "kernels"])
    done = subprocess.run(f"{command} >&-", shell=True, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_terminal_without_the_marks_of_a_table() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    arguments = ["compile", "spmv", "--data", "karate", "--table"]
    done = subprocess.run([*COMMAND, *arguments], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "LS(?B_i?)" in done.stdout


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (KeyboardInterrupt, 130, "samhw: 'samhw run' was interrupted; it left nothing half-written.\n"),
        (MemoryError, 1, "samhw: 'samhw run' needs more memory than there is; use smaller data.\n"),
    ],
)
def test_what_ends_a_command(
    error: type[BaseException], code: int, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr("samhw.app.cli.run.execute", fail)
    result = CliRunner().invoke(main, ["run", "spmv"])
    assert (result.exit_code, result.stderr) == (code, sentence)


@pytest.mark.parametrize("command", ["run spmv", "compare spmv", "build spmv --check --target sim -o OUT"])
def test_ctrl_c_in_the_simulator(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which notes it, and ends by itself."""

    def interrupted(*arguments: object, **options: object) -> bool:
        signal.raise_signal(signal.SIGINT)
        return True

    monkeypatch.setattr("samhw.sim.engine.run", interrupted)
    result = CliRunner().invoke(
        main, [*command.replace("OUT", str(tmp_path / "out")).split(), "--data", "karate"]
    )
    assert result.exit_code == 130, result.output
    assert result.stderr.startswith("samhw: The run was interrupted")
    assert not list(tmp_path.iterdir())


def test_the_package_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "samhw", "run"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "samhw: Missing argument 'PROGRAM'; see 'samhw run --help'.\n"


@pytest.mark.parametrize(
    "arguments", [["build", "spmv", "--part", ""], ["build", "spmv", "--part="], ["run", ""]]
)
def test_an_empty_argument_is_refused(arguments: list[str]) -> None:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert "is empty; give a text, or leave it out" in result.stderr


BUILDS = (
    "run spmv --backend verilator",
    "build spmv --data karate --target verilator -o out",
    "correlate spmv mmadd",
)
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
STOPPED = [*((command, signal.SIGINT) for command in BUILDS), *((BUILDS[2], end) for end in ENDS[1:])]
"""Each command has files of its own to leave, where it can still do something; the last one has workers."""


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize(("command", "end"), sample(list(product(BUILDS, ENDS)), STOPPED))
def test_a_build_that_is_stopped(command: str, end: signal.Signals, tmp_path: Path) -> None:
    """With a compiler that never ends."""
    compiler, begun = tmp_path / "compiler", tmp_path / "begun"
    compiler.write_text(f"#!/bin/sh\ntouch {begun}\nsleep 600 & sleep 600\n")
    compiler.chmod(0o755)
    environment = {**os.environ, "SAMHW_CACHE": str(tmp_path / "cache"), "CXX": str(compiler)}
    process = subprocess.Popen(
        [*COMMAND, *command.split()],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(begun.exists)
    started = children(process.pid)
    assert started
    process.send_signal(end)
    _, errors = process.communicate()
    wait_until(lambda: not running(started))
    if end == signal.SIGINT:
        assert process.returncode == 130
        assert (
            errors == f"samhw: 'samhw {command.split()[0]}' was interrupted; it left nothing half-written.\n"
        )
        unfinished = [path for path in (tmp_path / "cache").glob("*/*.*") if path.is_dir()]
        assert not unfinished or command.startswith("correlate")
        assert not (tmp_path / "out").exists()
        assert not list(tmp_path.glob(".*"))
    else:
        assert process.returncode == -end
        assert errors == ""
