"""What a console shows of the objects of the Python interface: a line each."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import samhw
import samhw.torch
from samhw.app.report.comparison import Comparison
from samhw.app.report.estimate import EstimateReport
from samhw.app.report.run_statistics import Statistics
from samhw.app.workload import bind_program
from samhw.compiler import FusionTable
from samhw.errors import InputError
from tests.support.browser import browser, errors, opened

TEXT = "y[i] = A[i,j] * x[j]"


def test_a_design_and_its_result() -> None:
    design = samhw.compile(TEXT)
    assert repr(design) == "<RunnableDesign of text, y[i] = A[i, j] * x[j]; auto, not compiled yet>"
    result = design.run(A=np.eye(3, dtype=int), x=np.ones(3, dtype=int))
    size = "1 region with 11 nodes and 13 channels"
    assert repr(design) == f"<RunnableDesign of text, y[i] = A[i, j] * x[j]; i32, {size}>"
    assert repr(design.compiled) == f"<Compiled text, y[i] = A[i, j] * x[j]; i32, {size}>"
    assert repr(design.graph) == f"<Drawing of text, {size}; .dot is its text>"
    cycles = result.cycles
    assert repr(result) == f"<DesignResult of text by sim: {cycles} cycles; y {result.tensors['y']!r}>"
    assert len(repr(result.run)) < 300


def test_no_part_of_a_model_fills_a_screen() -> None:
    workload = bind_program("gcn", ["karate"])
    design = samhw.compile("gcn")
    result = design.run(workload.tensors)
    run, compiled = result.run, design.compiled
    regions = (*run.regions, *(region.statistics for region in run.regions), *compiled.regions)
    parts = (design, design.program, compiled, compiled.design, *compiled.design.regions, *regions)
    comparison = Comparison("gcn", "karate", "f32", ())
    shown: tuple[Any, ...] = (
        *design.tables.values(),
        design.graph,
        result,
        result.stats(),
        design.estimate(),
        comparison,
    )
    for part in shown:
        assert part._repr_html_().startswith("<"), type(part)
    for part in (*parts, *shown):
        assert len(repr(part)) < 400, type(part)
        assert "\n" not in repr(part)
        if not isinstance(part, FusionTable | Statistics | EstimateReport):  # To print one is to ask for it.
            assert str(part) == repr(part)


def test_views_have_the_size_of_a_cell() -> None:
    design = samhw.compile(TEXT)
    result = design.run(A=np.eye(3, dtype=int), x=np.ones(3, dtype=int))
    for part in (design, design.program, design.graph, design.tables, result, result.stats()):
        assert "max-height" in part._repr_html_(), type(part)
    assert repr(design.tables) == "<Tables of text>"
    assert "Locate" in design.tables._repr_html_()
    limit = result.stats().limit
    assert "text" not in limit  # The only region needs no name.
    assert f"<div>{limit}</div>" in result._repr_html_().replace("&#x27;", "'")


def test_the_page_of_a_run_in_a_cell(tmp_path: Path) -> None:
    """It is the page of `report`, and a browser shows it within another."""
    result = samhw.compile(TEXT).run(A=np.eye(3, dtype=int), x=np.ones(3, dtype=int))
    view = result.view()
    assert repr(view) == f"<PageView of text: {result.cycles} cycles; a notebook shows it>"
    page = result.report(tmp_path / "page").read_text("utf-8")
    assert timeless(page) == timeless(view.page)
    frame = view._repr_html_()
    assert frame.startswith("<iframe srcdoc=")
    assert frame.count("<") == 2  # All of the page is within the quotes.
    with browser() as driver:
        (tmp_path / "cell.html").write_text(f"<!doctype html><body>{frame}")
        opened(driver, tmp_path / "cell.html")
        driver.switch_to.frame(0)
        nodes = driver.execute_script(
            "return [...document.querySelectorAll('.node')].map(n => n.textContent)"
        )
        assert any("reduce_scalar" in node for node in nodes)
        assert errors(driver) == []


def timeless(page: str) -> str:
    """Without what differs from one making to the next."""
    return re.sub(r"\d{4}-\d\d-\d\d[ T][0-9:+.]*|[0-9.]+ s\b|seconds\":[0-9.e-]+", "", page)


def test_where_the_cycles_went() -> None:
    result = samhw.compile(TEXT).run(A=np.eye(3, dtype=int), x=np.ones(3, dtype=int))
    stats = result.stats()
    assert [region.cycles for region in stats] == [result.cycles]
    assert repr(stats).startswith(f"<Statistics of text: {result.cycles} cycles in 1 region; the longest is")
    assert "<th>waited most for</th>" in stats._repr_html_()
    title, headings, *rows = str(stats).splitlines()
    assert (title, headings.split()[0]) == ("text", "node")
    names = [node.name for node in stats.regions[0].nodes]
    assert [row.split()[0] for row in rows[: len(names)]] == names
    assert stats.to_json()[0]["nodes"]
    counted = replace(
        result, run=replace(result.run, regions=(replace(result.run.regions[0], statistics=None),))
    )
    with pytest.raises(InputError, match="the backend 'sim' says where they went"):
        counted.stats()


def test_a_model_has_no_line_for_each_statement() -> None:
    design = samhw.compile("gcn")
    assert (
        repr(design)
        == f"<RunnableDesign of gcn, {len(design.program.statements)} statements; auto, not compiled yet>"
    )


def test_a_module_has_what_its_design_has() -> None:
    """Before a run too, since its example arguments are known."""
    module = samhw.torch.compile(torch.nn.Linear(4, 2), (torch.rand(3, 4),))
    assert module.graph._repr_html_()
    assert list(module.tables) == ["Linear"]
    assert module.compiled is module.design.compiled
    assert module.graph == module.design.graph
    assert repr(module) == f"<ModuleDesign of Linear: {module.design!r}>"
    result = module.run()
    assert repr(result) == f"ModuleResult(result={result.result!r})"
    assert len(repr(result)) < 300


def test_a_table_is_text_too() -> None:
    design = samhw.compile("index i=3\nindex j=3\ny[i] = A[i, j] * x[j]", formats={"A": "csr"})
    assert repr(design.tables) == "<Tables of text>"
    title, headings, *rows = str(design.tables).splitlines()
    assert title == "text"
    assert headings.split() == ["A[i,j]", "x[j]", "t0[i]", "y[i]"]
    assert [row.split()[0] for row in rows] == ["i", "j", "val"]
