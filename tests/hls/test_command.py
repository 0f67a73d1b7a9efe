"""The command line's HLS options."""

import json
from pathlib import Path

import pytest

from samhw.graph import Arch
from tests.support.command import samhw

LAYERS = "tensor x[i=4] : dense\ntensor y[i] : dense\ntensor z[i] : dense\ny[i] = 2 * x[i]\nz[i] = y[i] + 1\n"


@pytest.fixture
def layers(tmp_path: Path) -> Path:
    path = tmp_path / "layers.ein"
    path.write_text(LAYERS)
    return path


def test_build_writes_one_top_or_a_kernel_for_each_region(layers: Path, tmp_path: Path) -> None:
    file = "src/layers_1_kernel.cpp"
    for regions, expected in (("top", file), ("kernels", f"layers_1/{file}")):
        folder = tmp_path / regions
        result = samhw("build", layers, "--target", "vitis-hls", "--regions", regions, "-o", folder)
        assert result.exit_code == 0, result.output
        assert (folder / expected).is_file()
        assert (folder / "regions.json").exists() == (regions == "kernels")


@pytest.mark.slow
def test_run_compares_one_top(layers: Path) -> None:
    result = samhw(
        "run",
        layers,
        "--fuse",
        "none",
        "--backend",
        "hls",
        "--regions",
        "top",
        "--json",
        "-",
        "--data",
        "random",
    )
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert len(report["regions"]) == 2
    assert report["checked"]
    assert report["cycles"] == report["model_cycles"]


def test_run_with_the_profile_of_hls(tmp_path: Path) -> None:
    """Cycles are those of the profile, by its name or from a file; without it, those of the RTL."""
    path = tmp_path / "arch.json"
    path.write_text(Arch.vitis().dumps())
    cycles = [
        json.loads(samhw("run", "spmv", "--value", "f32", "--json", "-", *arch).stdout)["cycles"]
        for arch in ((), ("--arch", "samhw"), ("--arch", "vitis"), ("--arch", path))
    ]
    assert cycles[0] == cycles[1] < cycles[2] == cycles[3]


def test_the_profile_in_a_project(tmp_path: Path) -> None:
    """The floating-point IP gets the latencies of the profile; another profile gives others."""
    for name, latency in (("vitis", 6), ("samhw", 5)):
        folder = tmp_path / name
        samhw(
            "build", "spmv", "--value", "f32", "--data", "random", "--target", "vitis-hls",
            "--arch", name, "-o", folder,
        )  # fmt: skip
        assert f"syn.op=op:fadd latency:{latency}\n" in (folder / "hls_config.cfg").read_text()
        assert f"config_op fadd -latency {latency}\n" in (folder / "run_hls.tcl").read_text()
        assert "op:fdiv" not in (folder / "hls_config.cfg").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("run", "spmv", "--regions", "top"),
            "--regions says how the HLS design is built",
        ),
        (
            ("build", "spmv", "--target", "sim", "--regions", "top", "-o", "x"),
            "to '--target vitis-hls'",
        ),
        (
            ("run", "spmv", "--arch", "nowhere.json"),
            "no arch 'nowhere.json'; give samhw, vitis, ecp5-100, or a build's",
        ),
        (("run", "spmv", "--arch", "vitis", "--backend", "verilator"), "Arch.fanout is 2, but the RTL"),
    ],
)
def test_refusals(arguments: tuple[str, ...], message: str) -> None:
    result = samhw(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_file_that_is_no_arch(tmp_path: Path) -> None:
    path = tmp_path / "arch.json"
    for text, message in (
        ("[]", "give samhw, vitis, ecp5-100, or a build's arch.json"),
        ('{"speed": 3}', "no field 'speed'"),
    ):
        path.write_text(text)
        result = samhw("run", "spmv", "--arch", path)
        assert result.exit_code == 2
        assert message in result.stderr
