"""What a console shows of the objects of the Python interface: a line each."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import samhw
import samhw.torch
from samhw.errors import InputError
from samhw.report.comparison import Comparison
from samhw.workload import bind_program

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
        assert str(part) == repr(part)
        assert "\n" not in repr(part)


def test_where_the_cycles_went() -> None:
    result = samhw.compile(TEXT).run(A=np.eye(3, dtype=int), x=np.ones(3, dtype=int))
    stats = result.stats()
    assert [region.cycles for region in stats] == [result.cycles]
    assert repr(stats).startswith(f"<Statistics of text: {result.cycles} cycles in 1 regions; the longest is")
    assert "<th>waited for a token</th>" in stats._repr_html_()
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
