"""The driver for PYNQ on a stand-in for PYNQ, whose MMIO is the port of the simulated RTL."""

import asyncio
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import samhw
from samhw.graph import AddressMap
from samhw.graph.numerics import Words, value_type
from samhw.targets.backends import HostRun
from samhw.targets.building.elaborate import write_address_map
from samhw.targets.building.project import write_project
from samhw.targets.running.driver import VerilatedDesign
from samhw.targets.running.port import WordPort
from tests.running import toy
from tests.support.built import verilated
from tests.support.command import good
from tests.support.spent import simulated, told

pytestmark = [pytest.mark.slow, pytest.mark.verilator]

SPMM = "tensor A[i, k] : csr\ntensor X[k, j] : dense\nT[i, j] = A[i, k] * X[k, j]\nY[i] = T[i, j]"


class Mapped:
    """As `pynq.MMIO.array`: the range as words. A processor copies parts of it in accesses of 16 bytes, which
    must be aligned."""

    def __init__(self, port: WordPort):
        self.port = port
        self.copied = 0

    def __getitem__(self, part: slice) -> Words:
        self._check(part)
        return self.port.read(4 * part.start, part.stop - part.start)

    def __setitem__(self, part: slice, words: Words) -> None:
        self._check(part)
        assert words.dtype == np.uint32
        assert len(words) == part.stop - part.start
        self.port.load(4 * part.start, words)

    def _check(self, part: slice) -> None:
        assert part.stop == part.start or part.start % 4 == part.stop % 4 == 0
        self.copied += part.stop - part.start


class Mmio:
    """As `pynq.MMIO` has it: words at byte addresses."""

    def __init__(self, port: WordPort):
        self.array = Mapped(port)
        self._port = port

    def read(self, offset: int) -> int:
        return int(self._port.read(offset, 1)[0])

    def write(self, offset: int, data: int) -> None:
        assert type(data) is int  # PYNQ takes no integers of NumPy.
        self._port.load(offset, [data])


class DefaultIP:
    """As `pynq.DefaultIP`: a core that the overlay has found."""

    def __init__(self, description: dict[str, Any]):
        self.mmio = Mmio(description["port"])


class Interrupt:
    """As `pynq.Interrupt`, of a core whose `irq` follows from its two registers."""

    def __init__(self, mmio: Mmio, interrupts: dict[str, int]):
        self.mmio, self.interrupts, self.came = mmio, interrupts, 0

    async def wait(self) -> None:
        while not self.mmio.read(self.interrupts["enable"]) & self.mmio.read(self.interrupts["pending"]):
            await asyncio.sleep(0)
        self.came += 1


@pytest.fixture
def pynq(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("pynq")
    module.DefaultIP, module.Overlay = DefaultIP, None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pynq", module)
    return module


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
    with verilated(run, host).session() as session:
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
def test_results_and_cycles_are_the_simulators(
    tmp_path: Path, pynq: ModuleType, host: str, value: str
) -> None:
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
        assert core.mmio.array.copied
        if "interrupt" in host:
            with pytest.raises(module.RunError, match="no interrupt controller at irq"):
                asyncio.run(core.wait_async())
            core.irq = Interrupt(core.mmio, module.MAP["interrupts"])
            core.start()
            asyncio.run(core.wait_async())
            assert core.irq.came == 1
            assert core.mmio.read(module.MAP["interrupts"]["pending"]) == 0
        if "counters" in host:
            assert told(core.counters) == simulated(run)


def test_what_does_not_fit_is_said(tmp_path: Path, pynq: ModuleType) -> None:
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


@pytest.mark.parametrize("name", ["i8", "u8", "i32", "fixed<16,8>", "f8e4m3", "f8e5m2", "f16", "bf16", "f32"])
def test_numbers_have_the_words_of_their_types(tmp_path: Path, pynq: ModuleType, name: str) -> None:
    """Those of samhw, for every word of a short type, and numbers around ties and the ends of the range."""
    kind, module = value_type(name), _written(tmp_path, SHORT, name)
    words = np.arange(min(1 << kind.width, 1 << 16)) << max(0, kind.width - 16)
    values = np.asarray(kind.decode(words), dtype=np.float64)
    about = {"name": "x.vals", "value": name}
    found = module._decoded(about, words)
    np.testing.assert_array_equal(found.astype(np.float64), values)
    assert found.dtype == TYPES.get(name, np.float32)
    finite = values[np.isfinite(values)]
    if name[0] in "iu":
        np.testing.assert_array_equal(module._encoded(about, finite), kind.encode(finite))
        for wrong in (0.5, finite.max() + 1e9, np.nan):
            with pytest.raises(ValueError, match=f"x.vals is of {name}"):
                module._encoded(about, np.array([wrong]))
        return
    near = [finite * factor for factor in (1, 1 + 2**-30, 1 - 2**-30, 0.5, 2)]
    middle = (finite + np.roll(finite, 1)) / 2
    numbers = np.concatenate(
        [*near, middle, np.nextafter(middle, 0), [464, 464.1, 1e38, 3.4e38, 1e300, 1e-300]]
    )
    if not name.startswith("fixed"):
        numbers = np.concatenate(
            [numbers, [np.inf, -np.inf, np.nan, -0.0, 2**-126 - 2**-151, 2**-126 - 2**-149]]
        )
    np.testing.assert_array_equal(module._encoded(about, numbers), kind.encode(numbers))


SHORT = "tensor x[i=5]\ny[i] = x[i] + x[i]"
TYPES = {"i8": np.int8, "u8": np.uint8, "i32": np.int32, "fixed<16,8>": np.float64, "f16": np.float16}


def _written(folder: Path, text: str, value: str, *more: str) -> ModuleType:
    """The driver of a build."""
    (folder / "p.ein").write_text(text + "\n", encoding="utf-8")
    options = ["--target", "verilog", "--name", "conv", "--value", value, *more]
    good("build", str(folder / "p.ein"), *options, "-o", str(folder / "out"))
    return _class(folder / "out")


def test_arrays_of_numpy_go_in_and_come_out(tmp_path: Path, pynq: ModuleType) -> None:
    """A matrix of SciPy has the arrays of csr; a fixed extent is not another, and bits that are too many are
    refused here, since the port would refuse them."""
    rng = np.random.default_rng(3)
    a = scipy.sparse.csr_array(scipy.sparse.random_array((6, 7), density=0.4, rng=rng))
    data = {"A": a.toarray(), "X": rng.random((7, 3))}
    wanted = samhw.compile(SPMM, value="bf16").run(data)
    for module, core, run in _built(tmp_path, SPMM, "", "bf16", data):
        arrays = {"A.pos1": a.indptr, "A.crd1": a.indices, "A.vals": a.data, "X.vals": data["X"]}
        words = core.encode(arrays)
        assert {name: array.tolist() for name, array in words.items()} == {
            name: array.tolist() for name, array in run.inputs.memories.items()
        }
        found = core.decode(core.run(words, run.inputs.extents))
        np.testing.assert_array_equal(found["Y.vals"][:6], np.asarray(wanted["Y"], np.float32))
        with pytest.raises(ValueError, match=r"^A\.crd1 holds words of \d+ bits, which 99999 does not fit"):
            core.load({"A.crd1": [99999]}, {})
        with pytest.raises(ValueError, match=r"^X\.vals takes words, which are integers; `encode`"):
            core.load({"X.vals": [0.5]}, {})
        with pytest.raises(ValueError, match=r"no index q; it has i, j, k"):
            core.load({}, {"q": 1})
        module.MAP["extents"]["i"]["fixed"] = True
        greatest = module.MAP["extents"]["i"]["greatest"]
        with pytest.raises(ValueError, match=f"takes i={greatest} alone, not 1"):
            core.load({}, {"i": 1})


def test_offsets_below_zero_go_in(tmp_path: Path, pynq: ModuleType) -> None:
    """As the port takes them, in the bits of an index; also as samhw has them, modulo 2^32."""
    text = "tensor A[i, k] : dia\ntensor x[k] : dense\ny[i] = A[i, k] * x[k]"
    data = {"A": np.diag([1, 2, 3], -1) + np.diag([4, 5, 6, 7]), "x": np.arange(1, 5)}
    for module, core, run in _built(tmp_path, text, "", "i32", data):
        words = dict(run.inputs.memories)
        assert words["A.off1"].max() >> module._memory("A.off1", "input")["width"]
        for offsets in (words["A.off1"], [-1, 0]):
            results = run.results(core.run({**words, "A.off1": offsets}, run.inputs.extents))
            np.testing.assert_array_equal(results["y"].to_dense(), data["A"] @ data["x"])


def test_the_run_of_a_build_with_data(
    tmp_path: Path, pynq: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command compares words and cycles, and says what is wrong."""

    def typed(module: ModuleType) -> object:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["conv_pynq.py", "conv.bit"])
            with pytest.raises(SystemExit) as left:
                module.main()
        return left.value.code

    for module, core, _ in _built(tmp_path, SPMM, "", "i32", _spmm()):
        module.Overlay = lambda path, core=core: SimpleNamespace(conv=core)
        assert (typed(module), capsys.readouterr().out) == (0, "conv: PASS\n")
        path = tmp_path / "out" / "bench" / "words.json"
        words = json.loads(path.read_text())
        words["results"]["Y.vals"][0] += 1
        path.write_text(json.dumps(words | {"cycles": 3}))
        assert typed(module) == 1
        assert f"FAIL, Y.vals, {core.cycles} cycles instead of 3" in capsys.readouterr().out
        path.write_text("{}")
        assert typed(module) == "bench/words.json has no run; build with --data."


def test_errors_are_said_in_the_words_of_the_page(tmp_path: Path, pynq: ModuleType) -> None:
    """Of a design that stands still, that goes on, and that has met an error, after which none starts."""
    (tmp_path / "conv.f").write_text("rtl/conv.v\n", encoding="utf-8")
    write_address_map(toy.DESIGN, toy.ARCH, tmp_path, "conv")
    write_project(AddressMap(toy.DESIGN, toy.ARCH), tmp_path, "conv", None)
    module, design = (
        _class(tmp_path),
        VerilatedDesign(toy.DESIGN, toy.ARCH, toy.verilog(), probes=True, stall_ports=True),
    )
    for word, said in (
        (0xDEAD, r"^The run has met an error: overflow in array; load the bitstream again\.$"),
        (0xBEEF, r"^The run has met an error: deadlock; full channels: .*; load the bitstream again\.$"),
    ):
        with design.session() as session:
            core = module.Conv({"port": session.port})
            with pytest.raises(module.RunError, match=said):
                core.run({"A.vals": [1, word]}, {"i": 2})
            with pytest.raises(module.RunError, match=said):
                core.start()
    with design.session() as session:
        core = module.Conv({"port": session.port})
        core.load({"A.vals": [0xF00D, 1]}, {"i": 2})
        core.start()
        with pytest.raises(module.RunError, match=r"^The run did not end within 0\.01 s\.$"):
            core.wait(0.01)
        for call in (core.start, lambda: core.load({}, {"i": 1}), lambda: core.read("C.vals")):
            with pytest.raises(module.RunError, match=r"^A run is under way; wait for its end\.$"):
                call()


def test_the_driver_is_written_by_its_map(tmp_path: Path, pynq: ModuleType) -> None:
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
        assert (out / "conv_pynq.py").exists() == (out / "overlay.tcl").exists() == there
        assert "spmv" in json.loads((out / "address_map.json").read_text())["name"]


VIVADO = """
foreach name {NAMES} {proc $name args {return $args}}
proc connect_bd_intf_net {a b} {puts "$a -> $b"}
proc connect_bd_net {a b} {puts "$a => $b"}
proc set_property {name args} {puts "[join $name] [join $args]"}
proc add_files args {puts "files $args"}
rename file plain_file
proc file args {puts "file $args"}
proc glob args {return made.hwh}
set argv {ARGUMENTS}
"""


def _vivado(script: Path, arguments: str) -> tuple[str, dict[str, str], str]:
    """What a script does of Vivado's commands, the source of each clock, reset and port, and how it fails."""
    text = script.read_text()
    names = set(re.findall(r"(?:^|\[)\s*([a-z]+_[a-z_]+)\b", text, re.MULTILINE))
    stubs = VIVADO.replace("NAMES", " ".join(sorted(names))).replace("ARGUMENTS", arguments)
    path = script.with_name("stubs.tcl")
    path.write_text(stubs + text)
    done = subprocess.run(["tclsh", path], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    wires = {sink: source for source, _, sink in (line.partition(" => ") for line in lines) if sink}
    assert len(wires) == done.stdout.count(" => ")  # Nothing has two sources.
    wires |= dict(line.split(" -> ") for line in lines if " -> " in line)
    return done.stdout, wires, done.stderr


@pytest.mark.skipif(shutil.which("tclsh") is None, reason="there is no tclsh")
def test_the_script_of_a_bitstream(tmp_path: Path) -> None:
    """For both families, clocks, resets, ports and the interrupt have sources. It takes no other device."""
    for name, host in (("least", ""), ("most", "clock,interrupt")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "p.ein").write_text(SHORT + "\n", encoding="utf-8")
        options = ["--host", host] if host else []
        good(
            "build",
            str(folder / "p.ein"),
            "--target",
            "verilog",
            "--name",
            "conv",
            *options,
            "-o",
            str(folder / "out"),
        )
        script = folder / "out" / "overlay.tcl"
        for part, pins in (
            (
                "xc7z020clg400-1",
                ("M_AXI_GP0", "FCLK_CLK0", "FCLK_CLK1", "IRQ_F2P", "PCW_FPGA{}_PERIPHERAL_FREQMHZ"),
            ),
            (
                "xck26-sfvc784-2LV-c",
                ("M_AXI_HPM0_FPD", "pl_clk0", "pl_clk1", "pl_ps_irq0", "PL{}_REF_CTRL__FREQMHZ"),
            ),
        ):
            text, wires, error = _vivado(script, f"{part} 75")
            assert error == ""
            port, clock, own, interrupt, frequency = pins
            assert wires[f"ps/{port}"] == "control/S00_AXI"
            assert wires["conv/s_axi"] == "control/M00_AXI"
            assert f"{frequency.format(1 if host else 0)} 75" in text
            assert text.splitlines()[-1] == "file copy -force made.hwh conv.hwh"
            if host:
                assert (wires["conv/s_axi_aclk"], wires["conv/aclk"]) == (f"ps/{clock}", f"ps/{own}")
                assert wires["conv/s_axi_aresetn"] == "resets/peripheral_aresetn"
                assert wires["conv/aresetn"] == "core_resets/peripheral_aresetn"
                assert (wires["interrupts/intr"], wires[f"ps/{interrupt}"]) == ("conv/irq", "interrupts/irq")
                assert wires["interrupts/s_axi"] == "control/M01_AXI"
                assert "files -fileset constrs_1 -norecurse conv_clocks.xdc" in text
            else:
                assert (wires["conv/aclk"], wires["conv/aresetn"]) == (
                    f"ps/{clock}",
                    "resets/peripheral_aresetn",
                )
        assert "has no processor that this script knows" in _vivado(script, "xcu55c-fsvh2892-2L-e 75")[2]
        assert "takes a device and MHz" in _vivado(script, "xc7z020clg400-1")[2]
