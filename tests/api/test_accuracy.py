"""`samhw.accuracy`, and loops over inputs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import samhw
import samhw.torch
from samhw.errors import InputError

PRODUCT = "T[i, j] = A[i, k] * X[k, j]"


def inputs(count: int = 3) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    return [{"A": rng.random((4, 5)), "X": rng.random((5, 3))} for _ in range(count)]


def test_types_beside_each_other(tmp_path: Path) -> None:
    design = samhw.compile(PRODUCT)
    found = samhw.accuracy(design, inputs(), ["f32", "bf16", "fixed<16,12>", "f8e4m3"], clock="100MHz")
    assert [(row.value, row.input) for row in found.rows[:4]] == [
        *(("f32", "0"), ("f32", "1"), ("f32", "2"), ("bf16", "0"))
    ]
    errors = {
        value: max(r.difference.relative_error for r in rows) for (value, _), rows in found.groups.items()
    }
    assert 0 < errors["f32"] < 1e-6 < errors["fixed<16,12>"] < errors["bf16"] < 1e-2 < errors["f8e4m3"] < 0.2
    by_hand = design.with_value("bf16").run(inputs()[2])
    exact = inputs()[2]["A"] @ inputs()[2]["X"]
    assert found.rows[5].difference.max_abs_error == pytest.approx(np.max(np.abs(by_hand["T"] - exact)))
    assert found.rows[5].cycles == by_hand.cycles
    assert found.to_json()["rows"][5]["microseconds"] == pytest.approx(by_hand.cycles / 100)
    assert by_hand.microseconds("10ns") == pytest.approx(by_hand.cycles / 100)
    assert [row[0] for row in found.grid()] == ["value", "f32", "bf16", "fixed<16,12>", "f8e4m3"]
    assert "fixed<16,12>  T " in str(found)
    assert "<td>bf16</td>" in found._repr_html_()
    assert "float64, at 100 MHz: f32, bf16" in repr(found)
    assert "relative error" in found.plot(tmp_path / "a.svg").read_text()


def test_what_is_exact_and_what_is_infinite_is_drawn(tmp_path: Path) -> None:
    whole = [{"x": [1.0, 2.0]}, {"x": [3e38, 1.0]}]
    found = samhw.accuracy(samhw.compile("y[i] = 2 * x[i]"), whole, ["f32"])
    assert [row.difference.relative_error for row in found.rows] == [0, float("inf")]
    drawn = found.plot(tmp_path / "a.svg").read_text()
    assert ">exact<" in drawn
    assert ">infinite<" in drawn


def test_a_module() -> None:
    torch.manual_seed(0)
    module = torch.nn.Linear(4, 3).eval()
    design = samhw.torch.compile(module, (torch.rand(2, 4),))
    calls = [(torch.rand(rows, 4),) for rows in (2, 1)]
    found = samhw.accuracy(design, calls, ["f32", "bf16"])
    assert found.program == "Linear"
    worst = [max(r.difference.relative_error for r in rows) for rows in found.groups.values()]
    assert worst[0] < 1e-6 < worst[1] < 1e-2
    result = design.run(*calls[0])
    assert result.microseconds("1MHz") == result.cycles
    with pytest.raises(InputError, match="needs a clock"):
        result.microseconds()
    beside = design.run(*calls[0], memory="ddr4")
    assert beside.microseconds() == beside.microseconds("250MHz")
    assert result.check().verdict == "right"
    (difference,) = result.differences().values()
    exact = module.double()(calls[0][0].double()).detach()
    assert difference.max_abs_error == pytest.approx(float((result.output.double() - exact).abs().max()))


def test_a_loop_over_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    design = samhw.compile(PRODUCT, value="f32")
    found = list(design.run_all(inputs(), progress=True))
    assert "100%" in capsys.readouterr().err
    for result, given in zip(found, inputs(), strict=True):
        np.testing.assert_allclose(result["T"], given["A"] @ given["X"], rtol=1e-6)
    assert len({id(result.compiled) for result in found}) == 1
    lazy = design.run_all(iter(inputs()))
    assert next(lazy).cycles == found[0].cycles
    assert "runs" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([],), "give at least one of each"),
        ((inputs(1), []), "give at least one of each"),
        ((inputs(1), 32), "give several, as in"),
        ((3,), "The inputs cannot be 3"),
        ((inputs(1), ["f99"]), "Unknown value type 'f99'"),
        (([3],), "The data cannot be 3"),
    ],
)
def test_what_is_refused(arguments: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        samhw.accuracy(samhw.compile(PRODUCT), *arguments)


def test_a_clock_and_a_plot_of_no_kind_are_refused() -> None:
    with pytest.raises(InputError, match="3 is no clock"):
        samhw.accuracy(samhw.compile(PRODUCT), inputs(1), clock=3)
    with pytest.raises(InputError, match=r"nothing is drawn as \.txt"):
        samhw.accuracy(samhw.compile(PRODUCT), inputs(1)).plot("a.txt")
