"""The driver for PYNQ on a stand-in for PYNQ, whose MMIO is the port of the simulated RTL."""

import asyncio
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import samhw
from samhw.graph import HostOptions
from samhw.targets.backends import HostRun
from samhw.targets.running.driver import VerilatedDesign
from samhw.targets.running.port import WordPort
from tests.support.command import good
from tests.support.spent import simulated, told

pytestmark = [pytest.mark.slow, pytest.mark.verilator]

SPMM = "tensor A[i, k] : csr\ntensor X[k, j] : dense\nT[i, j] = A[i, k] * X[k, j]\nY[i] = T[i, j]"


class Mmio:
    """As `pynq.MMIO` has it: words at byte addresses."""

    def __init__(self, port: WordPort):
        self._port = port

    def read(self, offset: int) -> int:
        return int(self._port.read(offset, 1)[0])

    def write(self, offset: int, data: int) -> None:
        self._port.load(offset, [data])


class DefaultIP:
    """As `pynq.DefaultIP`: a core that the overlay has found."""

    def __init__(self, description: dict[str, Any]):
        self.mmio = Mmio(description["port"])


class Interrupt:
    """As `pynq.Interrupt`, of a core whose `irq` is looked at."""

    def __init__(self, mmio: Mmio, status: int):
        self.mmio, self.status, self.waited = mmio, status, 0

    async def wait(self) -> None:
        self.waited += 1
        while self.mmio.read(self.status) & 1:
            await asyncio.sleep(0)


@pytest.fixture
def pynq(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("pynq")
    module.DefaultIP = DefaultIP  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pynq", module)


def _class(folder: Path) -> Any:
    """The class of a build's driver."""
    spec = importlib.util.spec_from_file_location("conv_pynq", folder / "conv_pynq.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _built(folder: Path, text: str, host: str, value: str, data: dict[str, Any]) -> Iterator[Any]:
    """The module of the driver, its core in simulation, and the run that it is to make."""
    path, out = folder / "p.ein", folder / "out"
    path.write_text(text + "\n", encoding="utf-8")
    options = ["--target", "verilog", "--name", "conv", "--value", value]
    options += ["--host", host] if host else []
    for name, array in data.items():
        np.save(folder / f"{name}.npy", array)
        options += ["--data", f"{name}={folder / f'{name}.npy'}"]
    good("build", str(path), *options, "-o", str(out))
    run: HostRun = samhw.compile(str(path), value=value).host_run(data)
    rtl = VerilatedDesign.build(run.compiled.design, run.compiled.arch, host=HostOptions.parse(host))
    with rtl.session() as session:
        module = _class(out)
        yield module, module.Conv({"port": session.port}), run


def _spmm() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(2)
    return {"A": rng.integers(-2, 3, (6, 7)), "X": rng.integers(-2, 3, (7, 3))}


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize(
    ("host", "value"),
    [("", "i32"), ("axi4,pingpong", "f32"), ("interrupt,recovery,counters", "bf16")],
)
def test_results_and_cycles_are_the_simulators(tmp_path: Path, pynq: None, host: str, value: str) -> None:
    data = _spmm()
    design = samhw.compile(SPMM, value=value)
    wanted = design.run(data)
    for module, core, run in _built(tmp_path, SPMM, host, value, data):
        assert module.Conv.bindto == ["samhw:user:conv:1.0"]
        for _ in range(2):
            results = run.results(core.run(*run.inputs))
            np.testing.assert_array_equal(results["Y"].to_dense(), wanted["Y"])
            assert core.cycles == wanted.cycles
            assert sum(core.region_cycles) == wanted.cycles
        if "interrupt" in host:
            core.irq = Interrupt(core.mmio, 4)
            core.start()
            asyncio.run(core.wait_async())
            assert core.irq.waited == 1
            assert core.mmio.read(module.MAP["interrupts"]["pending"]) == 0
        if "counters" in host:
            assert told(core.counters) == simulated(run)


def test_what_does_not_fit_is_said(tmp_path: Path, pynq: None) -> None:
    text, data = "tensor x[i]\ny[i] = x[i] + x[i]", {"x": np.arange(1, 6)}
    for module, core, run in _built(tmp_path, text, "recovery", "i8", data):
        memories, extents = run.inputs
        with pytest.raises(ValueError, match=r"takes i from 1 to .*, not 1000"):
            core.load(memories, {"i": 1000})
        with pytest.raises(ValueError, match=r"x\.vals has room for .* words, not 1000"):
            core.load({"x.vals": [0] * 1000}, extents)
        with pytest.raises(ValueError, match=r"no memory z to reach so; there are x\.vals"):
            core.load({"z": []}, extents)
        with pytest.raises(ValueError, match=r"y\.vals has .* words, not 900"):
            core.read("y.vals", 900)
        with pytest.raises(module.RunError, match=r"has met an error: overflow in .*; clear it"):
            core.run({"x.vals": [100] * 5}, extents)
        core.clear()
        results = run.results(core.run(memories, extents))
        assert results["y"].to_dense().tolist() == [2, 4, 6, 8, 10]
        module.MAP["identity"] += 1
        with pytest.raises(module.RunError, match="The bitstream is build 0x"):
            module.Conv({"port": core.mmio._port})


def test_the_driver_is_written_by_its_map(tmp_path: Path, pynq: None) -> None:
    """Its lines fit a page, and it is not there where tensors lie off the chip, which it cannot load."""
    for memory, there in (((), True), (("--memory", "constant:9"), False)):
        out = tmp_path / str(there)
        good(
            "build",
            "spmv",
            "--data",
            "random:size=4",
            *memory,
            "--target",
            "verilog",
            "--name",
            "conv",
            "-o",
            str(out),
        )
        assert (out / "conv_pynq.py").exists() == there
        assert "spmv" in json.loads((out / "address_map.json").read_text())["name"]
