"""Small things that a day meets."""

import csv
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import samhw as api
from samhw.app.cli.printed import _folded, _parts
from samhw.errors import InputError
from samhw.lang import titled
from tests.support.command import good, refused, report, samhw


@pytest.mark.parametrize("program", ["spmm", "gcn", "S[i, j] = A[i, k] * B[k, j]"])
def test_random_data_take_extents_by_index(program: str) -> None:
    index = {"gcn": "f"}.get(program, "j")
    size = "" if program == "gcn" else ",size=6"  # A model has a size for each index.
    told = good("run", program, "--data", f"random:{index}=24{size},seed=1").output
    assert "x24 (" in told
    result = samhw("run", "spmm", "--data", "random:zz=3")
    assert result.exit_code == 2
    assert "the keys are size, density, seed and" in result.stderr
    assert samhw("run", "spmm", "--data", "random:i=0").exit_code == 2


def test_a_tensor_is_the_graph_of_a_data_set(tmp_path: Path) -> None:
    graph: Any = scipy.sparse.random_array((9, 9), density=0.3, rng=np.random.default_rng(0), format="csr")
    path = tmp_path / "graph.npz"
    parts = {"data": graph.data, "indices": graph.indices, "indptr": graph.indptr}
    np.savez(path, **{f"adj_{name}": array for name, array in parts.items()}, adj_shape=graph.shape)
    told = report("run", "spmm", "--data", f"A={path}", "--value", "f32")
    assert told["checked"]
    assert f"A 9x9 ({graph.nnz} stored)" in good("run", "spmm", "--data", f"A={path}").output


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("run", "spmv", "--backend", "verilatr"), "verilator"),
        (("build", "spmv", "--data", "karate", "--target", "verilogg", "-o", "no"), "verilog"),
        (("run", "spmv", "--value", "bf6"), "bf16"),
        (("compile", "spmv", "--estimate", "--part", "XC7Z02"), "XC7Z020"),
        (("run", "y[i] = rellu(x[i])"), "relu"),
        (("run", "spmv", "--data", "B=graph.mtxx"), "graph.mtx"),
    ],
)
def test_did_you_mean(
    words: tuple[str, ...], meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graph.mtx").touch()
    result = samhw(*words)
    assert result.exit_code == 2
    assert "did you mean" in result.stderr
    assert meant.lower() in result.stderr.lower()


@pytest.mark.parametrize(
    ("words", "begun", "expected"),
    [
        ("samhw run spmm --data ", "synthetic:co", "synthetic:cora"),
        ("samhw run spmm --value ", "bf", "bf16"),
        ("samhw build spmm --target ", "verilog", "verilog"),
        ("samhw run spmm --backend ", "ica", "icarus"),
    ],
)
def test_a_shell_completes(words: str, begun: str, expected: str) -> None:
    asked = {"_SAMHW_COMPLETE": "bash_complete", "COMP_WORDS": words + begun}
    asked["COMP_CWORD"] = str(len((words + begun).split()) - 1)
    code = "from samhw.app.cli import main; main(prog_name='samhw')"
    found = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | asked, capture_output=True, text=True, check=False
    )
    assert expected in [line.partition(",")[2] for line in found.stdout.splitlines()]


def test_what_has_its_own_data_is_not_drawn(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    path = tmp_path / "layer.py"
    path.write_text("import torch\ndef layer():\n    return torch.nn.Linear(4, 2), (torch.rand(3, 4),)\n")
    result = samhw("accuracy", f"{path}:layer", "--draws", "2")
    assert result.exit_code == 2
    assert "leave out --draws" in result.stderr
    assert "--data" not in result.stderr


def test_draws_are_not_blamed_for_the_program(tmp_path: Path) -> None:
    path = tmp_path / "product.ein"
    path.write_text("y[i] = A[i, k] * x[k]\n")
    result = samhw("accuracy", str(path), "--draws", "2")
    assert result.exit_code == 2
    assert "unknown tensor 'A'" in result.stderr
    assert "--draws" not in result.stderr


def test_a_schedule_is_a_file_or_auto() -> None:
    result = samhw("run", "spmv", "--schedule", "autoo")
    assert result.exit_code == 2
    assert result.stderr.endswith("give the file of a schedule, or auto.\n")


def test_fields_of_a_schedule_are_no_arguments() -> None:
    with pytest.raises(InputError, match=r"give schedule=\{'lanes': \{'i': 4\}\}"):
        api.compile("spmm", lanes={"i": 4})
    with pytest.raises(InputError, match="compile takes no argument 'speed'"):
        api.compile("spmm", speed=2)


def test_names_fold_after_their_underlines() -> None:
    assert _parts("scan_dense_A_i 1,651 mul_2") == ["scan_", "dense_", "A_", "i", "1,651", "mul_2"]
    assert _folded("scan_compressed_A_k", 12) == "scan_\ncompressed_\nA_k"
    assert _folded("scan_dense_A: 1,651", 40) == "scan_dense_A: 1,651"
    assert "".join(_folded("a_name__of_many c", 2).split()) == "a_name__of_manyc"


def test_a_table_of_a_comparison_has_times() -> None:
    words = ("compare", "spmm", "--data", "karate", "--fuse", "none", "--csv", "-")
    (plain,) = csv.DictReader(StringIO(good(*words).stdout))
    assert not {"hardware_seconds", "gigabytes_per_second"} & plain.keys()
    (timed,) = csv.DictReader(StringIO(good(*words, "--clock", "100MHz").stdout))
    assert timed.keys() - plain.keys() == {"clock_hz", "hardware_seconds", "gigabytes_per_second"}
    assert float(timed["hardware_seconds"]) == pytest.approx(int(plain["cycles"]) / 100e6)
    assert float(timed["clock_hz"]) == 100e6
    assert timed["gigabytes_per_second"] == ""
    (moved,) = csv.DictReader(StringIO(good(*words, "--memory", "ddr4").stdout))
    rate = int(moved["bytes_moved"]) / (float(moved["hardware_seconds"]) * 1e9)
    assert float(moved["gigabytes_per_second"]) == pytest.approx(rate)


def test_a_check_is_asked_for_or_left_out() -> None:
    assert "--no-check leaves that out" in refused("run", "spmv", "--check", "--no-check")
    assert good("run", "spmv", "--no-check").exit_code == 0
    assert "right" in good("run", "spmv", "--check").output


def test_compile_prints_the_statements_of_each_region() -> None:
    told = good("compile", "gcn", "--data", "karate", "--fuse", "none").stdout.splitlines()
    at = next(number for number, line in enumerate(told) if line.startswith("gcn_0: order"))
    assert told[at + 1] == "  T1[i, f] = A[i, k] * X[k, f]"
    assert sum(line.startswith("  ") for line in told) == 7


@pytest.mark.parametrize(
    ("formats", "blocks"),
    [("A=bcsr(4)", {"i": 4, "k": 4}), ("A=bcsr(4),X=bdense(2)", {"i": 4, "k": 4, "j": 2})],
)
def test_blocks_of_several_sizes_are_refused_once(formats: str, blocks: dict[str, int]) -> None:
    told = refused("run", "spmm", "--data", "karate", "--formats", formats)
    option = "+".join(f"{index}={size}" for index, size in blocks.items())
    assert f"'--blocks {option}'" in told
    good("run", "spmm", "--data", "karate", "--formats", formats, "--blocks", option)
    api.compile("spmm", formats={"A": "bcsr(4)"}, schedule={"blocks": blocks}).run("karate").check()


def test_a_run_says_what_lies_off_the_chip() -> None:
    """As its schedule's places have it; a tensor of which all lies there by its own name."""
    words = ("run", "spmm", "--data", "karate", "--memory", "ddr4")
    for more, told in (
        (("--place", "A.vals=ddr"), "A.vals; 6 arrays on chip"),
        (("--place", "X=chip"), "A, T; 1 array on chip"),
        (("--on-chip", "all"), "nothing; 7 arrays on chip"),
    ):
        assert f"  off chip   {told}\n" in good(*words, *more).stdout
        places = report(*words, *more)["schedule"]["place"]
        off = [name for name, place in places.items() if place != "chip"]
        assert ", ".join(off) == told.partition(";")[0].replace("nothing", "")
    assert "off chip" not in good("run", "spmm", "--data", "karate").stdout


def test_entries_that_are_copied_count_as_operations() -> None:
    words = ("run", "spmm", "--data", "karate", "--permute", "--order")
    copied, plain = (report(*words, order) for order in ("k,i,j", "i,k,j"))
    assert copied["operations"] - plain["operations"] == 156  # The entries of A.


CHAIN = (
    "tensor A[i=8, k=8] : csr\ntensor X[k=8, j=8] : csr\ntensor W[j=8, l=8]\n"
    "H[i, j] = A[i, k] * X[k, j]\nY[i, l] = H[i, j] * W[j, l]"
)


def test_a_search_without_choices_says_what_adds_some(tmp_path: Path) -> None:
    out = str(tmp_path / "s.toml")
    few = samhw("tune", "sddmm", "--budget", "1", "-o", out)
    assert "nothing to choose; there is more with --blocks auto, --lanes auto" in few.stderr
    more = samhw("tune", "sddmm", "--budget", "1", "--lanes", "auto", "-o", str(tmp_path / "t.toml"))
    assert "nothing to choose" not in more.stderr


def test_a_long_text_is_called_by_its_last_statement() -> None:
    told = good("compare", CHAIN, "--fuse", "none,full").output
    assert told.startswith("Y[i, l] = H[i, j] * W[j, l] on random, i32\n")
    message = refused("compare", CHAIN, "--fuse", "none", "--order", "i,k,j")
    assert "'Y[i, l] = H[i, j] * W[j, l]' has several at none" in message
    assert titled("y[i] = A[i, k] * x[k]") == "y[i] = A[i, k] * x[k]"
    assert titled("gcn") == "gcn"


def test_orders_of_several_regions_are_compared() -> None:
    orders = ["--order", "H=i,k,j;Y=j,i,l", "--order", "H=i,k,j;Y=i,j,l"]
    told = report("compare", CHAIN, "--fuse", "none", *orders)
    assert [outcome["status"] for outcome in told["outcomes"]] == ["refused", "right"]
    # One region ends with Y alone: there the orders say nothing.
    assert "orders as written" in good("compare", CHAIN, "--order", "H=i,k,j").output


def test_statistics_are_no_wider_than_a_page() -> None:
    rng = np.random.default_rng(0)
    data = {name: rng.integers(-2, 3, (8, 8)) for name in "AXW"}
    text = str(api.compile(CHAIN).run(data).stats())
    assert max(map(len, text.splitlines())) <= 110
    assert " limits this region: " in text
