"""What results and designs give to look at: pages, traces, estimates."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import samhw
import samhw.torch
from samhw.app.api import DesignResult
from samhw.errors import InputError
from samhw.graph import DDR4

TEXT = "y[i] = A[i,j] * x[j]"
DATA = {"A": np.eye(5, dtype=int), "x": np.arange(5)}


def result(**options: Any) -> DesignResult:
    return samhw.compile(TEXT).run(DATA, **options)


def told(page: Path) -> Any:
    """What a page shows."""
    found = re.search(r'id="data">(.*?)</script>', page.read_text("utf-8"), re.S)
    assert found
    return json.loads(found[1])


def test_a_report_is_a_page(tmp_path: Path) -> None:
    found = result()
    page = found.report(tmp_path / "new" / "report")
    assert page == tmp_path / "new" / "report" / "index.html"
    data = told(page)
    assert (data["run"]["cycles"], data["run"]["status"]) == (found.cycles, "right")
    assert data["regions"][0]["channels"][0]["fill"]


def test_a_report_is_of_the_same_memory(tmp_path: Path) -> None:
    found = result(memory=DDR4)
    assert found.cycles > result().cycles
    data = told(found.report(tmp_path))
    assert data["run"]["cycles"] == found.cycles
    assert data["run"]["memory"]["name"] == DDR4.name


def test_a_report_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="Cannot write the report"):
        result().report(tmp_path / "file")


def test_a_trace_has_the_tokens_of_the_run(tmp_path: Path) -> None:
    found = result()
    path = found.trace(tmp_path / "run.json")
    events = json.loads(path.read_text("utf-8"))["traceEvents"]
    cycles = [event["ts"] for event in events if event["ph"] == "X"]
    assert 0.5 * found.cycles < max(cycles) <= found.cycles
    part = found.trace(tmp_path / "part.json", (4, 8))
    shorter = json.loads(part.read_text("utf-8"))["traceEvents"]
    assert 0 < len(shorter) < len(events)
    assert found.trace(str(tmp_path / "run.vcd")).read_text("utf-8").startswith("$")


@pytest.mark.parametrize("window", [(8, 4), (-1, 3), 7, (1, 2, 3), ("a", "b")])
def test_no_window(window: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give two cycles, the later one last"):
        result().trace(tmp_path / "run.json", window)


def test_no_trace(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is no trace file; give it the suffix \.json"):
        result().trace(tmp_path / "run.txt")


def test_an_estimate_counts_what_data_store() -> None:
    design = samhw.compile(TEXT)
    with pytest.raises(InputError, match="give data, or run the design first"):
        design.estimate()
    before = design.estimate(DATA)
    found = design.run(DATA)
    assert design.estimate() == before
    assert before.operations == found.stats().regions[0].operations
    assert before.cycles == pytest.approx(found.cycles, rel=0.5)
    assert len(repr(before)) < 150
    assert f"about {before.cycles:,.0f} cycles" in before._repr_html_()


def test_a_module_has_what_a_program_has(tmp_path: Path) -> None:
    module = samhw.torch.compile(torch.nn.Linear(4, 2), (torch.rand(3, 4),))
    found = module.run()
    assert module.estimate().cycles == pytest.approx(found.cycles, rel=0.5)
    assert told(found.report(tmp_path / "page"))["run"]["cycles"] == found.cycles
    assert found.trace(tmp_path / "run.json").exists()


@pytest.mark.slow
@pytest.mark.verilator
def test_a_report_of_the_rtl(tmp_path: Path) -> None:
    found = result(backend="verilator")
    data = told(found.report(tmp_path))
    assert (data["run"]["backend"], data["run"]["cycles"]) == ("verilator", found.cycles)
