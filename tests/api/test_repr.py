"""What a console shows of the objects of the Python interface: a line each."""

import numpy as np
import torch

import samhw
import samhw.torch

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
