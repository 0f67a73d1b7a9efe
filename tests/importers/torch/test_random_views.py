"""Random chains of views mean what PyTorch makes of them, and run."""

import os
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import samhw.torch
from samhw.errors import InputError
from samhw.importers.core import rewrites
from tests.importers.torch.agree import agree
from tests.importers.torch.drawn import random_module
from tests.importers.torch.view_chains import view_chain

COUNT = int(os.environ.get("SAMHW_RANDOM_VIEWS", "50"))
RUNS = COUNT // 10


@pytest.mark.nightly(but=3)
@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_programs_are_their_modules(part: int) -> None:
    for seed in range(part, COUNT, 10):
        module, arguments = view_chain(seed)
        try:
            agree(module, arguments)
        except (AssertionError, InputError, ValueError) as error:
            raise AssertionError(f"seed {seed}, {', '.join(module.names)}: {error}") from error


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_they_run(part: int) -> None:
    """Unfused, and by the module tree."""
    for seed in range(part, RUNS, 5):
        module, arguments = view_chain(seed)
        single = [argument.float() for argument in arguments]
        for fuse in (None, "module"):
            samhw.torch.compile(module, single, value="f32", fuse=fuse).run().check()


class Calls(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *given: torch.Tensor) -> Any:
        return self.function(*given)


VIEWS: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "one slice of a matrix, before and after another axis splits": (
        lambda x: (x[:, :1].relu(), x.view(2, 2, 2)[:, :1, :].relu()),
        (4, 2),
    ),
    "one slice, before and after its own axis splits": (
        lambda x: (x[:2].relu(), x.view(4, 2, 2)[:2].relu()),
        (8, 2),
    ),
    "an empty part": (lambda x: torch.cat([x[:, :4].relu(), x[:, 4:]], 1), (3, 4)),
    "an empty part of a split": (lambda x: torch.cat(x.split([4, 0], 1)[::-1], 1) * 2, (3, 4)),
    "the sum of nothing": (lambda x: x[:, 4:].sum(1) + x[:, 0], (3, 4)),
    "a product over nothing": (lambda x: x[:, 4:] @ x[:, 4:].T + x @ x.T, (3, 4)),
    "nothing beside something": (lambda x: (x[:, 4:], x * 2), (3, 4)),
    "nothing added by index": (lambda x: x.index_add(0, torch.arange(3)[3:], x[3:]) * 2, (3, 4)),
    "two matrices that differ in one number": (
        lambda x: [F.interpolate(x, 5, mode="linear", align_corners=each) for each in (False, True)],
        (1, 2, 3),
    ),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_that_were_wrong(name: str) -> None:
    function, shape = VIEWS[name]
    agree(Calls(function), (torch.randn(shape, dtype=torch.float64),))


def hidden(x: Tensor, keep: Tensor) -> tuple[Tensor, ...]:
    """Slices of what is -inf at places: along indices of the scores, and along those of the mask alone."""
    minus = -float("inf")
    scores, spread = torch.where(keep, x, minus), torch.where(keep, x[:, :1], minus)
    computed = torch.where(keep[0], (x @ x.T @ x), minus)
    return (
        scores[:, :3].softmax(-1),
        spread[:, 1:].softmax(-1),
        spread[:, ::2].amax(1),
        computed[1:, 1:].softmax(-1),
        scores[1].softmax(0),
    )


def hidden_parts(x: Tensor, keep: Tensor) -> Tensor:
    """Corners of scores are hidden, one after the other, as attention by windows does it."""
    scores = (x @ x.T).relu() + 1
    first = scores[:2, :2]
    scores[:2, :2] = torch.full_like(first, -float("inf")).where(keep[:2, :2], first)
    last = scores[-2:, -2:]
    scores[-2:, -2:] = torch.full_like(last, -float("inf")).where(keep[-2:, -2:], last)
    return torch.cat([x[:, :1], scores.softmax(-1)], 1)


def test_parts_that_are_masked():
    keep = torch.tensor([[1, 0, 0], [0, 0, 0], [0, 0, 1]]).bool()
    agree(Calls(lambda x: hidden_parts(x, keep)), (torch.randn(3, 2),))


def test_slices_under_a_mask():
    keep = torch.tensor([[1, 1, 0, 1], [0, 1, 1, 0], [1, 1, 1, 1]]).bool()
    agree(Calls(lambda x: hidden(x, keep)), (torch.randn(3, 4),))
    agree(Calls(lambda x, mask: hidden(x, mask > 0)), (torch.randn(3, 4), keep.long()))


def test_masked_scores_beside_others():
    """Scores beside a sink, which attention leaves out afterwards, and two masks side by side."""
    keep = torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0]]).bool()

    def scores(x: Tensor, sink: Tensor, *more: Tensor) -> tuple[Tensor, Tensor]:
        masks = more or (keep,)
        held = [torch.where(mask > 0, x * n, -torch.inf) for n, mask in enumerate((*masks, keep), 1)]
        return torch.cat([held[0], sink], 1).softmax(1)[:, :-1], torch.cat(held, 1).logsumexp(1)

    agree(Calls(scores), (torch.randn(3, 4), torch.randn(3, 1)))
    agree(Calls(scores), (torch.randn(3, 4), torch.randn(3, 1), keep.long()))


def test_an_empty_argument():
    agree(Calls(lambda x, y: torch.cat([x, y]) * 2), (torch.ones(0, 2), torch.ones(3, 2)))


def test_an_empty_result_is_refused():
    with pytest.raises(InputError, match="Calls gives an empty tensor for these arguments"):
        agree(Calls(lambda x: x[:, 4:] * 2), (torch.ones(3, 4),))
    with pytest.raises(
        InputError, match=r"'aten.addmm' takes a tensor without elements, of the shape \(2, 0\)"
    ):
        agree(Calls(lambda x: torch.addmm(x, x[:, 2:], x[2:])), (torch.ones(2, 2),))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [random_module, view_chain])
def test_statements_without_many_loops(kind: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """With few levels, a good part of the statements is computed of reshaped copies."""
    monkeypatch.setattr(rewrites, "DEEPEST", 4)
    merged = 0
    for seed in range(COUNT // 5):
        module, arguments = kind(seed)
        try:
            program = agree(module, arguments).program
        except InputError as error:
            if "nested loops, and hardware has 4" not in str(error):
                raise
            continue
        merged += any(statement.lhs.tensor.endswith("_whole") for statement in program.statements)
    assert merged
