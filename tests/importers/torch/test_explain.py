"""What becomes of each operator, and all refusals at once."""

import pytest
import torch
from torch import Tensor, nn

import samhw.torch
from samhw.errors import InputError
from samhw.importers.torch.export import in_users_file


class Router(nn.Module):
    """Two refusals, one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.expert = nn.Linear(6, 4), nn.Linear(6, 6)

    def forward(self, x: Tensor, ids: Tensor) -> Tensor:
        scores, places = self.gate(x).mode(-1, keepdim=True)
        best = self.expert(x).nanmedian(-1, keepdim=True)[0]
        table = torch.ones(4, 4).tril() @ self.gate.weight
        return scores.softmax(-1)[:, :1] * self.expert(x).relu() + best + places[:, :1] + table[ids + 1]


class Chosen(nn.Module):
    """As many elements as the data say."""

    def forward(self, x: Tensor) -> Tensor:
        return x[x > 2].exp().sum() + x.mode()[0].sum()


class Branch(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.relu() if x.sum() > 0 else x


ARGUMENTS = (torch.randn(5, 6), torch.tensor([0, 1, 0, 2, 1]))


def test_every_operator_and_every_refusal():
    found = samhw.torch.explain(Router().eval(), ARGUMENTS)
    said = {step.operator: step.becomes for step in found.steps}
    assert said["aten.mode"] == said["aten.nanmedian"] == "refused"
    assert said["aten.tril"] == "worked out at once, of constants alone"
    assert said["aten.softmax"] == "4 statements"
    assert said["aten.relu"] == "part of the statement that reads it"
    assert [step.scope for step in found.steps].count("gate") == 1
    assert ["mode" in text or "nanmedian" in text for text in found.refusals] == [True, True]
    assert all(text.startswith(f"{__file__}:") for text in found.refusals)


def test_the_first_refusal_is_that_of_compile():
    found = samhw.torch.explain(Router().eval(), ARGUMENTS)
    with pytest.raises(InputError) as refusal:
        samhw.torch.compile(Router().eval(), ARGUMENTS)
    assert str(refusal.value) == found.refusals[0]


def test_nothing_is_refused_of_what_compiles():
    found = samhw.torch.explain(nn.Sequential(nn.Linear(3, 4), nn.ReLU()), (torch.randn(2, 3),))
    assert found.refusals == ()
    assert str(found).startswith("Sequential: 2 operators, 1 statement; nothing refused")
    assert found.steps[0].statements == ("n0",)


def test_a_shape_that_depends_on_data():
    found = samhw.torch.explain(Chosen(), (torch.randn(5),))
    assert any("as many elements as the data say" in text for text in found.refusals)
    assert any("aten.mode" in text for text in found.refusals)
    with pytest.raises(InputError, match="as many elements as the data say"):
        samhw.torch.compile(Chosen(), (torch.randn(5),))


def test_what_cannot_be_exported_is_one_refusal():
    found = samhw.torch.explain(Branch(), (torch.randn(3),))
    assert found.steps == ()
    assert len(found.refusals) == 1
    assert "decides by its data" in found.refusals[0]


def test_in_a_notebook_and_in_text():
    found = samhw.torch.explain(Router().eval(), ARGUMENTS)
    assert "(1) " in str(found)
    assert "refused (2)" in str(found)
    assert "<table>" in found._repr_html_()


def test_what_is_no_module():
    with pytest.raises(InputError, match="give a module of PyTorch"):
        samhw.torch.explain(torch.relu, ARGUMENTS)


def test_a_line_of_the_user_comes_before_that_of_a_package():
    stack = (
        f'  File "/home/ada/model.py", line 3, in forward\n    return self.block(x)\n'
        f'  File "{pytest.__file__}", line 7, in forward\n    y = x.unfold(1)\n'
        f'  File "{torch.__file__}", line 9, in call\n    return f(x)\n'
    )
    place, line = in_users_file(stack) or ("", "")
    assert place == f"/home/ada/model.py:3, by way of {pytest.__file__}:7"
    assert line == "return self.block(x)"


def test_a_module_of_pytorch_has_no_line():
    found = samhw.torch.explain(nn.GRU(4, 4), (torch.randn(3, 4),))
    assert {step.place for step in found.steps} == {""}
