"""What `samhw build` is sized for, and what it says."""

import json
import shutil
from pathlib import Path

import pytest

from samhw.targets.backends import targets
from tests.support.command import good, refused, report, samhw

TARGETS = [
    pytest.param(
        name,
        marks=[pytest.mark.skipif(shutil.which("iverilog") is None, reason="needs Icarus Verilog")]
        if name == "icarus"
        else [],
    )
    for name in (target.target for target in targets())
]

CONCAT = """
tensor a[i] : dense
tensor b[j] : dense
tensor c[k] : dense
s[k] = concat(k, a[k], b[k])
y[k] = s[k] + c[k]
"""


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_is_built_of_a_size_that_nobody_gave(target: str, tmp_path: Path) -> None:
    message = refused("build", "spmm", "--target", target, "-o", tmp_path / "out")
    assert "give '--extents i=N,k=N,j=N'" in message
    assert "'--data karate'" in message
    assert "give '--extents k=N,j=N'" in refused(
        "build", "spmm", "--target", target, "--extents", "i=9", "-o", tmp_path / "out"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("target", ["sim", "verilog", "vitis-hls"])
def test_a_build_says_what_it_is_sized_for(target: str, tmp_path: Path) -> None:
    build = ("build", "spmm", "--target", target, "-o")
    result = good(*build, tmp_path / "data", "--data", "karate")
    assert "  sized for  karate, rounded up; --extents and --capacity, or other --data, change it\n" in (
        result.stdout
    )
    assert "  extents    up to i 64, k 64, j 16\n  entries    up to A 256, T 1,024\n" in result.stdout
    result = good(*build, tmp_path / "own", "--extents", "i=100, k=50,j=8", "--capacity", "A=300")
    assert "  sized for  the extents that it was given; " in result.stdout
    assert "  extents    up to i 100, k 50, j 8\n  entries    up to A 300, T 800\n" in result.stdout
    result = good(*build, tmp_path / "both", "--data", "karate", "--extents", "k=50,j=20")
    assert "  sized for  karate, rounded up, and for --extents; " in result.stdout
    assert "up to i 64, k 50, j 20\n" in result.stdout


def test_compile_says_what_it_took(tmp_path: Path) -> None:
    assert samhw("compile", "spmm", "--data", "karate").stderr == ""
    said = samhw("compile", "spmm").stderr
    assert said == (
        "samhw: this is sized for karate, since nothing says how large it is to be; '--data' and '--extents "
        "i=N,k=N,j=N' do.\n"
    )
    assert samhw("compile", "spmm", "--extents", "i=3,j=3,k=3").stderr == ""


def test_extents_that_follow_from_others(tmp_path: Path) -> None:
    path = tmp_path / "p.ein"
    path.write_text(CONCAT)
    build = ("build", path, "--target", "sim", "-o", tmp_path / "out")
    assert "give '--extents j=N,k=N'" in refused(*build, "--extents", "i=5")
    assert report(*build, "--extents", "i=5,j=7")["extents"] == {"i": 5, "j": 7, "k": 12}
    wide = ("build", path, "--target", "sim", "--data", "random:size=16", "-o")
    assert report(*wide, tmp_path / "a", "--extents", "i=100")["extents"] == {"i": 100, "j": 16, "k": 116}
    assert report(*wide, tmp_path / "b", "--extents", "k=100")["extents"] == {"i": 16, "j": 84, "k": 100}


def test_a_summary_and_not_a_list_of_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = good("build", "spmm", "--data", "karate", "--target", "verilog", "--name", "conv", "-o", out)
    lines = result.stdout.splitlines()
    files = [path for path in out.rglob("*") if path.is_file()]
    assert len(files) > 50
    assert len(lines) < 12
    assert lines[0] == f"{out}: spmm for verilog, i32, {len(files)} files"
    assert any(line.split()[0] == "conv.f" for line in lines)
    assert result.stderr == "samhw: nothing was checked; '--check' simulates a build on its data first.\n"


@pytest.mark.parametrize("target", ["sim", "verilog", "vitis-hls"])
def test_the_summary_names_files_that_are_there(target: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    lines = good("build", "spmv", "--data", "karate", "--target", target, "-o", out).stdout.splitlines()
    said = ("sized for", "extents", "entries", "expected")
    named = [line.split()[0] for line in lines[1:] if not line.strip().startswith(said)]
    assert named
    assert all((out / name).is_file() for name in named)


def test_a_build_as_json(tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = report("build", "spmm", "--data", "karate", "--check", "--target", "verilog", "-o", out)
    assert found["checked"] is True
    assert found["extents"] == {"i": 64, "k": 64, "j": 16}
    assert found["entries"] == {"A": 256, "T": 1024}
    assert sorted(found["files"]) == sorted(str(p.relative_to(out)) for p in out.rglob("*") if p.is_file())
    assert json.loads((out / "address_map.json").read_text())["extents"]["i"]["greatest"] == 64


@pytest.mark.parametrize(
    ("extents", "sentence"),
    [
        ("x=3", "'spmm' has no index 'x' to give an extent; it has i, k, j."),
        ("i=0", "Index i cannot have extent 0; give 1 to 4,294,967,295."),
        ("i=9999999999", "Index i cannot have extent 9999999999"),
        ("i=10", "The data has i=34, for which a build of up to 10 has no room"),
        ("i", "--extents i: give an index and its greatest extent, such as i=1000."),
        ("i=-4", "give an index and its greatest extent"),
    ],
)
def test_extents_that_cannot_be(extents: str, sentence: str) -> None:
    assert sentence in refused("run", "spmm", "--data", "karate", "--extents", extents)


def test_extents_that_the_text_has(tmp_path: Path) -> None:
    path = tmp_path / "p.ein"
    path.write_text("tensor a[i=9] : dense\ny[i] = a[i]\n")
    said = "'p' says that i=9, and not 10; change it there, or give 9."
    assert said in refused("compile", path, "--extents", "i=10")


def test_a_larger_build_runs_smaller_data() -> None:
    plain, wide = (report("run", "spmm", *more) for more in ((), ("--extents", "i=2000,k=3000")))
    assert wide["checked"]
    assert wide["cycles"] == plain["cycles"]


def test_what_a_port_has_belongs_to_the_rtl(tmp_path: Path) -> None:
    build = ("build", "spmm", "--data", "random:size=5", "-o", tmp_path / "out")
    said = refused(*build, "--target", "sim", "--host", "axi4")
    assert "--host belongs to '--target verilator'" in said
    assert "'--target verilog'" in said
    assert "did you mean 'interrupt'" in refused(*build, "--target", "verilog", "--host", "interrupts")
    run = ("run", "spmm", "--data", "random:size=5", "--host", "recovery")
    assert "--host belongs to '--backend verilator'" in refused(*run)
    good(*build, "--target", "verilog", "--host", "axi4:2,counters")
    found = json.loads((tmp_path / "out" / "address_map.json").read_text())
    assert found["host"]["id_bits"] == 2
    assert "s_axi_awlen" in (tmp_path / "out" / "rtl" / "samhw_top.v").read_text()


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("board:arty_a7", "block RAMs (Xilinx 7): fits XC7A35T"),
        ("verilog", "block RAMs (ECP5): fits LFE5U-85F, XC7A100T"),
        ("vitis-hls", ""),
    ],
)
def test_area_is_of_the_target(target: str, said: str, tmp_path: Path) -> None:
    build = ("build", "spmm", "--extents", "i=34,j=34,k=34", "--target", target, "-o")
    lines = good(*build, tmp_path / "a").stdout.splitlines()
    assert [line for line in lines if said and said in line] == [
        line for line in lines if line.startswith("  expected")
    ]
    assert bool(report(*build, tmp_path / "b")["fits"]) == bool(said)
    assert ("  host.py           needs --data; " in "\n".join(lines)) == target.startswith("board:")
