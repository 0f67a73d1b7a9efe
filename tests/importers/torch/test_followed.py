"""What integers and conditions decide is that of the example arguments, which are fixed by that: with others
the module is imported anew, and nothing is silently wrong."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import samhw.torch
from samhw.errors import InputError
from samhw.importers.torch import import_module
from samhw.lang.reference import evaluate_program

GENERATOR = torch.Generator().manual_seed(0)


class Of(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function
        self.register_buffer("order", torch.tensor([2, 0, 1, 3]))

    def forward(self, *given: Tensor) -> Any:
        return self.function(self, *given)


def branches(_, x: Tensor, ids: Tensor, keep: Tensor) -> Tensor:
    x = x * 2 if (ids == 0).any() else x - 1
    return x[ids] + keep[:, None]


def picks(_, x: Tensor, ids: Tensor, keep: Tensor) -> tuple[Tensor, ...]:
    return x[keep], x[ids > 1, 1:], torch.masked_select(x, keep[:, None]).sum()


def counts(_, x: Tensor, ids: Tensor, keep: Tensor) -> Tensor:
    """Rows by graphs, as dense batches have them."""
    graph = ids.sort()[0]
    number = int(graph.max()) + 1
    sizes = torch.zeros(number, dtype=torch.long).scatter_add(0, graph, torch.ones_like(graph))
    before = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)[:-1]])
    places = torch.arange(len(x)) - before[graph] + graph * int(sizes.max())
    out = x.new_zeros(number * int(sizes.max()), x.shape[1])
    out[places] = x
    mask = torch.zeros(len(out), dtype=torch.bool)
    mask[places] = True
    return out[mask] * 2


def numbers(_, x: Tensor, ids: Tensor, keep: Tensor) -> Tensor:
    first, *rest = ids.tolist()
    return x[: keep.sum() + 1].sum(0) + x[ids.max()] + first * x[len(rest) - 1] + float(ids.float().mean())


def repeats(_, x: Tensor, ids: Tensor, keep: Tensor) -> tuple[Tensor, ...]:
    filled = x.masked_scatter(keep[:, None].expand_as(x), x.flip(0))
    return x.repeat_interleave(ids + 1, dim=0), filled, x[:, 0].repeat_interleave(ids + 1)


def writes(self: Of, x: Tensor, ids: Tensor, keep: Tensor) -> Tensor:
    """What is seen through a view has been written to its base."""
    held = torch.zeros(4, 2, dtype=torch.long)
    view = held[1:, 1]
    held[ids % 4, 1] = 3
    view += self.order[:3]
    return x[: int(view.max()) % 3 + 1] + view.sum() * 0


def changes(_, x: Tensor, ids: Tensor, keep: Tensor) -> Tensor:
    """A constant that is written to is so in the trace, and beside it, once."""
    part = ids[ids > 0]
    part -= 1
    return x[: part.max() + 1].sum(0) + part.sum()


def unused(_, x: Tensor, ids: Tensor, keep: Tensor) -> Tensor:
    return x[ids] * keep[:, None]


def one_by_one(_, x: Tensor, ids: Tensor, keep: Tensor) -> Tensor:
    return torch.stack([x[n] for n in range(len(ids)) if keep[n]] or [x[0]])


CASES = {
    branches: {"ids"},
    picks: {"ids", "keep"},
    counts: {"ids"},
    numbers: {"ids", "keep"},
    repeats: {"ids", "keep"},
    writes: {"ids"},
    changes: {"ids"},
    unused: set[str](),
    one_by_one: {"keep"},
}


def drawn() -> tuple[Tensor, ...]:
    ids = torch.randint(4, (4,), generator=GENERATOR)
    return torch.randn(4, 3, dtype=torch.float64), ids, torch.rand(4, generator=GENERATOR) < 0.6


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_other_values_are_right_or_refused(function):
    """For any arguments an import either takes them, and gives what the module gives, or says that it does
    not."""
    module = Of(function)
    names = dict(zip(("given_0", "given_1", "given_2"), ("x", "ids", "keep"), strict=True))
    imports = []
    for _ in range(6):
        arguments = drawn()
        wanted = module(*arguments)
        imports.append(import_module(module, arguments))
        assert {names[name] for name in imports[-1].fixed} == CASES[function]
        for imported in imports:
            if not imported.takes(arguments):
                with pytest.raises(InputError, match=r"decides what the module computes, and has other val"):
                    imported.tensors(arguments)
                continue
            found = evaluate_program(imported.program, imported.tensors(arguments))
            ours = torch.utils._pytree.tree_leaves(imported.outputs(found, arguments, exact=True))
            for mine, other in zip(ours, torch.utils._pytree.tree_leaves(wanted), strict=True):
                torch.testing.assert_close(mine.double(), other.double())


def test_a_design_says_what_it_has_fixed_and_takes_other_values():
    design = samhw.torch.compile(Of(branches), [a.float() if a.is_floating_point() else a for a in drawn()])
    assert design.fixed == ("given_1",)
    assert "fixed for given_1" in repr(design)
    for _ in range(4):
        x, ids, keep = drawn()
        design.run(x.float(), ids, keep).check()
    assert design.run().check().good


def of_floats(_, x: Tensor, ids: Tensor, keep: Tensor) -> Tensor:
    held = torch.zeros(4, 3, dtype=x.dtype)
    view = held[1:]
    held[ids] = x
    return x * 2 if view.any() else x


def of_changed(_, x: Tensor, ids: Tensor, keep: Tensor) -> Tensor:
    held = torch.zeros(4, 3, dtype=x.dtype)
    view = held[1:]
    held.add_(x)
    return x * 2 if view.any() else x


@pytest.mark.parametrize("function", [of_floats, of_changed], ids=lambda function: function.__name__)
def test_what_floats_decide_is_refused(function):
    """A view too of what has been written to is known no more."""
    with pytest.raises(InputError, match="Of decides by its data what it computes"):
        import_module(Of(function), drawn())


def test_the_module_stays_and_draws_its_numbers_once():
    class Drawing(nn.Module):
        def __call__(self, x: Tensor, ids: Tensor) -> Tensor:
            count = int(ids.max())
            return super().__call__(x, count)

        def forward(self, x: Tensor, count: int) -> Tensor:
            torch.rand(3)
            torch.randint(3, (2,))
            return x * count

    module, arguments = Drawing(), (torch.ones(2), torch.tensor([1, 3]))
    before, state = vars(module).copy(), torch.get_rng_state()
    imported = import_module(module, arguments)
    assert type(module) is Drawing
    assert vars(module) == before
    assert list(imported.fixed)
    assert torch.equal(torch.get_rng_state(), state)


class Picking(nn.Module):
    def forward(self, x: Tensor, keep: Tensor, matrix: Tensor) -> Tensor:
        return (x[keep] * keep[:2].sum()).sum(0) + matrix.values().sum()


def test_what_is_fixed_keeps_its_values():
    """Whatever becomes of the tensors that they came from."""
    x, keep = torch.randn(4, 2), torch.tensor([True, False, True, True])
    matrix = torch.eye(3).to_sparse_csr()
    wanted = Picking()(x, keep, matrix)
    imported = import_module(Picking(), (x, keep, matrix))
    keep[0], matrix.values()[0] = False, 5
    assert not imported.takes((x, keep, matrix))
    old = x, torch.tensor([True, False, True, True]), torch.eye(3).to_sparse_csr()
    found = evaluate_program(imported.program, imported.tensors(old))
    torch.testing.assert_close(imported.outputs(found, old), wanted)


class Asserting(nn.Module):
    """What an assertion says of data holds."""

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        assert x.max() < 100, "too large"
        assert x.isfinite().all()
        return torch.where(keep, x, -x).sum(0)


def test_assertions_and_bytes_as_conditions():
    x, keep = torch.randn(4, 2), torch.tensor([[1], [0], [1], [1]], dtype=torch.uint8)
    design = samhw.torch.compile(Asserting(), (x, keep), value="f32")
    design.run().check()
    design.run(x, 1 - keep).check()


class AssertingBranch(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        assert x.max() < 100
        return x if x.min() > 0 else -x


def test_an_assertion_decides_no_branch():
    with pytest.raises(InputError, match=r"AssertingBranch decides by its data[\s\S]*x\.min"):
        import_module(AssertingBranch(), (torch.ones(3),))
