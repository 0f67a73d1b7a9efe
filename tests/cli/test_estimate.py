"""`samhw compile --estimate`."""

import json
import re

import pytest
from click.testing import CliRunner

import samhw
from samhw.app.cli import main
from samhw.cost import DEVICES, FAMILIES, SHOWN_DEVICES, Device, Use, find_device, parse_budget
from tests.support.command import good


def output(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, ["compile", *arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_regions_and_nodes() -> None:
    text = output("gcn", "--fuse", "partial", "--data", "karate", "--estimate")
    assert text.count("operations,") == 2
    assert "reduce_vector_t1" in text


def test_as_json() -> None:
    found = json.loads(output("spmv", "--data", "karate", "--estimate", "--json", "-"))
    # A product and a sum for each of the 156 entries.
    assert found["operations"] == 312
    assert found["regions"][0]["nodes"]["mul"]["operations"] == 156


def test_area() -> None:
    text = output("spmv", "--data", "karate", "--estimate")
    assert "LFE5U-85F" in text
    assert "XCZU3EG" in text
    found = json.loads(output("spmv", "--data", "karate", "--estimate", "--json", "-"))
    assert list(found["area"]) == [device.name for device in SHOWN_DEVICES]
    area = found["area"]["LFE5U-85F"]
    (region,) = found["regions"]
    parts = [node["area"]["luts"] for node in region["nodes"].values()]
    assert abs(sum(parts) - region["area"]["luts"]) <= len(parts)
    rest = area["memories"]["luts"] + area["control"]["luts"]
    assert abs(area["luts"] - region["area"]["luts"] - rest) <= 3
    assert area["unmeasured"] == []


def test_fpgas_by_name() -> None:
    parts = ("--part", "xc7z020", "--part", "LFE5U-25F")
    found = json.loads(output("spmv", "--data", "karate", "--estimate", *parts, "--json", "-"))["area"]
    assert list(found) == ["XC7Z020", "LFE5U-25F"]
    small = found["LFE5U-25F"]
    assert small["family"] == "ecp5"
    assert small["shares"]["luts"] == pytest.approx(small["luts"] / 24_288, abs=1e-3)
    # Six inputs hold more than four, and a block of 36 Kb more than one of 18 Kb.
    assert 0.3 * small["luts"] < found["XC7Z020"]["luts"] < small["luts"]
    assert found["XC7Z020"]["block_rams"] <= small["block_rams"]
    assert "(0 %)" in output("spmv", "--data", "karate", "--estimate", "--part", "XCVU9P")


def test_whether_it_fits() -> None:
    fits = ("--fits", "LFE5U-85F", "--fits", "luts=1000,brams=1")
    told = output("spmv", "--data", "karate", *fits, code=1)
    assert "LFE5U-85F: fits: LUTs 3 %, registers 2 %" in told
    assert re.search(
        r"luts=1000,brams=1: does not fit: (LUTs|block RAMs) \d+ %, (LUTs|block RAMs) \d+ %", told
    )
    assert "fits" in output("spmv", "--data", "karate", *fits[:2])
    found = json.loads(output("spmv", "--data", "karate", "--estimate", *fits, "--json", "-", code=1))
    assert found["fits"]["LFE5U-85F"] == "fits" == found["area"]["LFE5U-85F"]["verdict"]
    assert found["fits"]["luts=1000,brams=1"].startswith("does not fit: ")
    assert "iCE40UP5K" in output("spmv", "--fits", "5", code=2)


def test_limits() -> None:
    budget = parse_budget("luts=100, dsps=2")
    assert budget.verdict(Use(luts=100, registers=10**9, multipliers=2)) == "fits"
    assert budget.verdict(Use(luts=100.1, multipliers=3)) == "does not fit: multipliers 150 %, LUTs 101 %"
    assert parse_budget("xc7a35t").verdict(Use(block_rams=61)) == "does not fit: block RAMs 122 %"


@pytest.mark.parametrize("device", DEVICES.values(), ids=lambda device: device.name)
def test_every_fpga_has_a_family_that_was_measured(device: Device) -> None:
    assert device.family in FAMILIES
    assert find_device(device.name.lower()) is device


PROGRAM = "tensor A[i=400, j=100] : csr\ny[i] = A[i, j] * x[j]"


def test_nothing_without_data() -> None:
    told = "--estimate counts what inputs store; give --data, or --density."
    assert told in output(PROGRAM, "--estimate", code=2)


def test_densities_stand_in_the_place_of_data() -> None:
    found = json.loads(output(PROGRAM, "--density", "A=0.1", "--estimate", "--json", "-"))
    # A product and a sum for each of the 4,000 entries.
    assert found["operations"] == 8000
    less = json.loads(output(PROGRAM, "--density", "A=0.01", "--estimate", "--json", "-"))
    assert less["operations"] == 800
    assert less["area"]["LFE5U-85F"]["block_rams"] < found["area"]["LFE5U-85F"]["block_rams"]


def test_auto_goes_by_densities() -> None:
    program = (
        "tensor A[i=100, k=100] : csr\ntensor X[k=100, f=100] : csr\ntensor W[f=100, h=4] : dense\n"
        "T[i, f] = A[i, k] * X[k, f]\nY[i, h] = T[i, f] * W[f, h]"
    )

    def choice(density: str) -> str:
        return output(program, "--density", density, "--schedule", "auto")

    assert "brackets: Y = A * (X * W)" in choice("A=0.2,X=0.2")
    assert "brackets" not in choice("A=0.001,X=0.2")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--density", "x=0.5"], "'x' is no input with compressed levels; such are A"),
        (["--density", "A=2"], "a number from 0 to 1, such as A=0.01"),
        (["--density", "A=some"], "a number from 0 to 1, such as A=0.01"),
        (["--density", "A=0.1", "--data", "random"], "--density is for a program without data"),
        (
            ["--estimate", "--part", "XC7A"],
            "No FPGA 'XC7A' is known (did you mean 'XC7A35T'?)",
        ),
        (
            ["--density", "A=0.1", "--part", "XC7A35T"],
            "--part counts for nothing without --estimate; add '--estimate'.",
        ),
        (["--lanes", "auto"], "--lanes auto is for a schedule that is chosen; give --schedule auto too"),
        (["--blocks", "auto"], "--blocks auto is for a schedule that is chosen; give --schedule auto too"),
        (["--schedule", "auto", "--area", "5"], "as in luts=20000"),
        (["--schedule", "auto", "--fuse", "none", "--lanes", "auto"], "auto too, and no --fuse"),
    ],
)
def test_what_is_refused(options: list[str], message: str) -> None:
    assert message in output(PROGRAM, *options, code=2)


def test_a_density_of_what_a_format_makes_sparse() -> None:
    words = ("M[i, r] = B[i, k] * C[k, r]", "--extents", "i=50,k=40,r=8", "--density", "B=0.1")
    found = json.loads(output(*words, "--formats", "B=csr", "--estimate", "--json", "-"))
    # A product and a sum for each of 200 entries and 8 columns.
    assert found["operations"] == 3200
    assert "'B' is no input with compressed levels" in output(*words, "--estimate", code=2)


def test_python_prints_what_the_command_prints() -> None:
    told = str(samhw.compile("gcn", data="karate").estimate())
    printed = good("compile", "gcn", "--data", "karate", "--estimate").stdout
    words = [re.sub("[^!-~]+", " ", text).split() for text in (told, printed)]
    assert words[0] == words[1]
    assert "LFE5U-85F" in told
