"""Finite numbers that hide scores count as -inf; but they stay numbers where something reads them that only
numbers can be given to."""

import math

import pytest
import torch
import torch.nn.functional as F

import samhw.torch
from samhw.importers.torch import explain
from tests.importers.torch.agree import Of, agree


def hidden(x, number):
    return x.masked_fill(torch.eye(len(x)) == 1, number)


READERS = {
    "sum": lambda s: s.sum(1),
    "clamp": lambda s: s.log_softmax(-1).clamp(min=-1e3),
    "cross entropy": lambda s: F.cross_entropy(s, torch.tensor([1, 2, 0])),
    "cross entropy of what is hidden": lambda s: F.cross_entropy(s, torch.tensor([0, 2, 0])),
    "entropy": lambda s: -(s.softmax(-1) * s.log_softmax(-1)).sum(-1),
    "output": lambda s: s,
    "softmax beside": lambda s: (s.softmax(-1), s * s),
}


@pytest.mark.parametrize("number", [-1e9, torch.finfo(torch.float32).min / 8])
@pytest.mark.parametrize("name", READERS)
def test_read_as_numbers(name, number):
    torch.manual_seed(0)
    if name == "softmax beside":
        number = -1e9  # Its square is finite.
    module, x = Of(lambda x: READERS[name](hidden(x, number))), torch.randn(3, 3)
    agree(module, (x,))
    assert not explain(module, (x,)).refusals


def test_hidden_where_softmax_alone_reads_them():
    torch.manual_seed(0)
    module = Of(lambda x: hidden(x, -1e9).softmax(-1) @ x)
    imported = agree(module, (torch.randn(3, 3),))
    assert any(statement.mask is not None for statement in imported.program.statements)


def test_added_masks_too():
    torch.manual_seed(0)
    mask = torch.zeros(3, 3).masked_fill(torch.eye(3) == 1, -1e9)
    module, x = Of(lambda x: ((x + mask).softmax(-1), (x + mask).sum(0))), torch.randn(3, 3)
    samhw.torch.compile(module.eval(), (x,), value="f32").run().check()


def test_what_is_no_number_hides_nothing():
    torch.manual_seed(0)
    agree(Of(lambda x: torch.where(x > 0, x, math.nan).nan_to_num(3.0) + 1), (torch.randn(3, 4),))
