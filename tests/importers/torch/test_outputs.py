"""Outputs that others read, that are views of one tensor, and that nobody computes, in every fusion mode,
against PyTorch."""

from dataclasses import replace

import pytest
import torch
from torch import nn

import samhw
import samhw.torch
from samhw.app.checking import check
from samhw.compiler import program_to_design as compiler
from samhw.errors import RunError

LEVELS = (None, "module", "full", "partial", "kinds", "auto")


class Outputs(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.function(self, x)


def read_by_others(module, x):
    h = module.layer(x)
    return h, h.relu(), {"product": h * 2 + 1, "p": h.softmax(-1), "peak": h.amax(-1)}


def views(_, x):
    y = x.relu()
    return y, y.t(), y.view(-1), y.contiguous(), y, y[0], y.diagonal(), y.view(2, 2, 4).permute(2, 0, 1)


def views_that_are_read(_, x):
    h = x * 2
    return h.t(), h, h.view(2, 8), h.relu(), h.flip(0)


def not_computed(module, x):
    return x, x.t(), x.relu(), torch.ones(3), module.layer.weight, 3, None


def broadcast(_, x):
    s = x.sum(0)
    return s, s.expand(4, 4), s.view(1, 4), s.exp()


def chain(module, x):
    a = module.layer(x).relu()
    b = module.layer(a) + a
    return a, b, (b.softmax(-1) @ a.t()).sum(0)


def scan(module, x):
    start = h = torch.relu(x[0])
    states, found = [], []
    for t in range(20):
        h = torch.tanh(module.layer(h) + x[t % 4])
        states.append(h)
        found.append(h.relu())
    return start, h, torch.stack(states), torch.stack(found)


@pytest.mark.nightly(but=12)
@pytest.mark.parametrize("fuse", LEVELS)
@pytest.mark.parametrize(
    "function", [read_by_others, views, views_that_are_read, not_computed, broadcast, chain, scan]
)
def test_every_output_is_given(function, fuse):
    torch.manual_seed(0)
    module, x = Outputs(function).eval(), torch.randn(4, 4)
    result = samhw.torch.compile(module, (x,), value="f32", fuse=fuse).run()
    with torch.no_grad():
        wanted = torch.utils._pytree.tree_leaves(module(x))
    found = torch.utils._pytree.tree_leaves(result.output)
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)
    result.check()


def test_views_share_a_result():
    design = samhw.torch.compile(Outputs(views_that_are_read).eval(), (torch.randn(4, 4),))
    copies = [s for s in design.imported.program.statements if str(s.lhs).startswith("output")]
    # One for h, t() and view(), one for each of the others at the most.
    assert len(copies) <= 3


PROGRAM = "tensor x[i]\nh[i] = x[i] * 2\nr[i] = max(h[i], 0)\n"


def test_a_run_without_a_result_fails():
    design = samhw.compile(PROGRAM, fuse="full", value="f32")
    result = design.run({"x": torch.arange(3.0).numpy()})
    with pytest.raises(RunError, match="has stored no r"):
        check(result.workload, result.compiled, {})


def test_a_design_without_a_result_is_not_made(monkeypatch):
    def without_tensors(*arguments):
        found = lowered(*arguments)
        return replace(found, graph=replace(found.graph, tensors=found.graph.tensors[:0]))

    lowered = compiler.assembled
    monkeypatch.setattr(compiler, "assembled", without_tensors)
    with pytest.raises(RunError, match="no memory for r"):
        samhw.compile(PROGRAM, fuse="full", value="f32").run({"x": torch.arange(3.0).numpy()})
