"""What backends say of themselves, and whether commands ask them."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from samhw.app.cli import main
from samhw.app.workload import bind_program, compile_workload
from samhw.compiler import Compiled
from samhw.errors import InputError
from samhw.targets.backends import (
    BACKENDS,
    MODEL,
    Backend,
    Execution,
    build,
    find_backend,
    find_target,
    registry,
    run,
)
from samhw.targets.running.images import Inputs


class Echo(Backend):
    """The simulator's results under another name."""

    name = "echo"
    target = "echo-build"
    label = "echo"

    def execute(self, compiled: Compiled, inputs: Inputs) -> Execution:
        return MODEL.execute(compiled, inputs)

    def build(self, compiled: Compiled, directory: Path, inputs: Inputs | None) -> None:
        (directory / "echo.txt").write_text(compiled.program.name, encoding="utf-8")

    def check_run(self, **options: object) -> None:
        MODEL.check_run(**options)

    def check_build(self, **settings: object) -> None:
        MODEL.check_build(**settings)


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> Backend:
    """A backend that is registered."""
    found = Echo()
    monkeypatch.setattr(registry, "BACKENDS", (*BACKENDS, found))
    return found


def test_names_are_their_own() -> None:
    assert len({backend.name for backend in BACKENDS}) == len(BACKENDS)
    assert len({backend.target for backend in BACKENDS}) == len(BACKENDS)
    assert all(find_backend(backend.name) is backend is find_target(backend.target) for backend in BACKENDS)


def test_what_is_not_there() -> None:
    with pytest.raises(
        InputError, match="There is no backend 'board'; choose one of sim, verilator, icarus, cxxrtl, hls"
    ):
        find_backend("board")
    with pytest.raises(
        InputError, match="There is no target 'hls'; choose one of sim, verilator, icarus, cxxrtl, vitis-hls"
    ):
        find_target("hls")


def test_another_backend(echo: Backend, tmp_path: Path) -> None:
    workload = bind_program("spmv")
    compiled = compile_workload(workload)
    assert run(compiled, workload.tensors, "echo").cycles == run(compiled, workload.tensors).cycles
    assert [path.name for path in build(compiled, echo, tmp_path / "out")] == ["echo.txt"]
    assert find_target("echo-build") is echo


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (
            ("run", "spmv", "--wave", "a.vcd"),
            "--wave records the RTL's signals, which --backend sim lacks; give '--backend verilator'.",
        ),
        (("run", "spmv", "--regions", "top"), "how the HLS design is built; add '--backend hls'."),
        (
            ("build", "spmv", "--target", "sim", "-o", "out", "--regions", "top"),
            "--regions belongs to '--target vitis-hls'; leave it out.",
        ),
        (
            ("run", "spmv", "--emulate"),
            "--emulate belongs to '--backend board:arty_a7' or '--backend board:ecpix5' or ",
        ),
    ],
)
def test_hints_name_those_that_can(words: tuple[str, ...], hint: str) -> None:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert hint in result.stderr
