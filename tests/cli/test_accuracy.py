"""`samhw accuracy`."""

from pathlib import Path

import pytest

from tests.support.command import good, refused, report


def test_types_on_draws(tmp_path: Path) -> None:
    plot = tmp_path / "a.svg"
    command = ("accuracy", "spmm", "--data", "karate", "--draws", "2", "--value", "bf16,fixed<16,4>")
    printed = good(*command, "--clock", "100MHz", "--plot", plot).stdout
    assert "spmm on 2 inputs, beside float64, at 100 MHz" in printed
    assert "fixed<16,4>" in plot.read_text().replace("&lt;", "<").replace("&gt;", ">")
    good(*command, "--plot", plot, "--width", "3.5in")
    assert 'width="252pt"' in plot.read_text()
    rows = report(*command)["rows"]
    assert [(row["value"], row["input"][-1]) for row in rows] == [
        *(("bf16", "0"), ("bf16", "1"), ("fixed<16,4>", "0"), ("fixed<16,4>", "1"))
    ]
    # Drawn are multiples of 1/16, which both types hold; products need 8 bits after the point.
    assert [row["relative_error"] > 0 for row in rows] == [False, False, True, True]
    assert rows[0]["cycles"] != rows[1]["cycles"] or rows[2]["rms_error"] != rows[3]["rms_error"]


@pytest.mark.parametrize(
    ("data", "inputs"),
    [
        ((), ["auto"]),
        (("--draws", "2"), ["random:seed=0", "random:seed=1"]),
        (("--data", "random:size=4", "--draws", "1"), ["random:size=4,seed=0"]),
        (("--data", "karate", "--data", "random"), ["karate", "random"]),
    ],
)
def test_inputs(data: tuple[str, ...], inputs: list[str]) -> None:
    rows = report("accuracy", "spmv", *data, "--value", "f32")["rows"]
    assert [row["input"] for row in rows] == inputs


def test_what_is_refused() -> None:
    assert "Unknown value type 'f99'" in refused("accuracy", "spmv", "--value", "f99")
    assert "--draws" in refused("accuracy", "spmv", "--draws", "0")
    assert "nothing is drawn as .txt" in refused("accuracy", "spmv", "--plot", "a.txt")
