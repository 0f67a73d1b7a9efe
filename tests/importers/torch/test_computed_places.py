"""Places that the module computes, as routers, memories and sparse attention have them."""

from collections.abc import Callable
from typing import cast

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import samhw.torch
from samhw.app.checking.measure import measure_compiled
from samhw.errors import InputError
from tests.importers.torch.agree import agree

library = torch.library.Library("transformers", "FRAGMENT")
if not hasattr(torch.ops.transformers, "grouped_mm_fallback"):
    library.define("grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor")

    def _grouped(x: Tensor, weight: Tensor, offs: Tensor) -> Tensor:
        parts = zip(x.tensor_split(offs[:-1].long()), weight, strict=True)
        return torch.cat([rows @ matrix for rows, matrix in parts])

    library.impl("grouped_mm_fallback", _grouped, "CPU")
    library.impl("grouped_mm_fallback", lambda x, w, offs: x.new_empty(len(x), w.shape[2]), "Meta")

Body = Callable[[Tensor, Tensor], Tensor]


class Of(nn.Module):
    """A function of a tensor of 4 x 6 and a table of 6 x 3."""

    def __init__(self, body: Body) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: Tensor, table: Tensor) -> Tensor:
        return self.body(x, table)


def _best(x: Tensor, count: int = 2) -> Tensor:
    return x.topk(count, 1)[1]


READ: dict[str, Body] = {
    "gather": lambda x, t: x.gather(1, _best(x.abs())),
    "in the order of a sort": lambda x, t: x.gather(1, x.argsort(1)),
    "of the end": lambda x, t: t[(x > 0).sum(1) - 4],
    "rows": lambda x, t: t[_best(x)],
    "index_select": lambda x, t: t.index_select(0, x.argmax(1)),
    "by a condition as a number": lambda x, t: t[(x > 0).long()],
    "beside a known place": lambda x, t: x[torch.arange(4), x.argmax(1)],
    "two places": lambda x, t: t[x.argmax(1), (x > 0).sum(1) % 3],
    "two places around a slice": lambda x, t: x.reshape(4, 3, 2)[(x > 0).sum(1) % 4, :, (x > 1).sum(1) % 2],
    "one_hot": lambda x, t: F.one_hot(x.argmax(1), 6).float() @ t,
    "repeated along rows": lambda x, t: t.expand(4, 6, 3).gather(1, _best(x)[..., None].expand(-1, -1, 3)),
    "places of places": lambda x, t: t[_best(x, 3).gather(1, (x[:, :2] > 0).long())],
    "bags": lambda x, t: F.embedding_bag(_best(x, 3), t, mode="mean"),
    "weighted bags": lambda x, t: F.embedding_bag(
        _best(x, 3), t, mode="sum", per_sample_weights=x[:, :3].softmax(1)
    ),
}

WRITTEN: dict[str, Body] = {
    "scatter": lambda x, t: torch.zeros_like(x).scatter(1, _best(x), x.topk(2, 1)[0]),
    "a number": lambda x, t: x.scatter(1, _best(x), 1.0),
    "the last of several": lambda x, t: x.scatter(1, (x > 0).long(), x * 2),
    "the last of several rows": lambda x, t: t.index_put(((x[:, 0] > 0).long(),), t[:4] * 2),
    "scatter_add": lambda x, t: x.scatter_add(1, (x > 0).long(), x * 2),
    "scatter_reduce": lambda x, t: t.scatter_reduce(0, _best(x, 3), x[:, :3], "mean"),
    "greatest": lambda x, t: x.scatter_reduce(0, (x > 0).long()[:, :1].expand(-1, 6), x, "amax"),
    "index_add": lambda x, t: torch.zeros(6, 6).index_add(0, x.argmax(1), x),
    "a number for rows": lambda x, t: t.index_fill(0, x[0].topk(2)[1], 3.0),
}


@pytest.mark.nightly(but=8)
@pytest.mark.parametrize("name", [*READ, *WRITTEN])
def test_computed_places(name: str) -> None:
    for seed in range(2):
        torch.manual_seed(seed)
        agree(Of((READ | WRITTEN)[name]), (torch.randn(4, 6), torch.randn(6, 3)))


def test_experts_of_transformers() -> None:
    """Rows are sorted by their experts, which have as many as the data say; expert 2 may have none."""

    def body(x: Tensor, experts: Tensor) -> Tensor:
        best, order = x[:, :4].argmax(1).sort()
        ends = torch.histc(best.float(), bins=4, min=0, max=3).cumsum(0, dtype=torch.int32)
        made = torch.ops.transformers.grouped_mm_fallback(x[order], experts, ends)
        return made[order.argsort()]

    for seed in range(3):
        torch.manual_seed(seed)
        agree(Of(body), (torch.randn(5, 6), torch.randn(4, 6, 3)))


def test_only_the_chosen_experts_compute() -> None:
    """Sixteen experts take hardly more operations than four, and far fewer than if all of them computed."""

    def operations(count: int) -> int:
        def body(x: Tensor, experts: Tensor) -> Tensor:
            best, order = x[:, :count].argmax(1).sort()
            ends = torch.histc(best.float(), bins=count, min=0, max=count - 1).cumsum(0, dtype=torch.int32)
            return cast("Tensor", torch.ops.transformers.grouped_mm_fallback(x[order], experts, ends))

        torch.manual_seed(0)
        design = samhw.torch.compile(Of(body), (torch.randn(4, 16), torch.randn(count, 16, 12)), value="f32")
        result = design.run()
        result.check()
        return measure_compiled(result.result.workload, design.compiled).operations

    rows = 4 * 16 * 12
    assert operations(4) < operations(16) < 1.2 * operations(4) < 4 * rows


def test_only_what_two_places_pick_is_read() -> None:
    def operations(size: int) -> int:
        torch.manual_seed(0)
        example = torch.randn(4, 6), torch.randn(size, 40, size)
        body = Of(lambda x, table: table[x[:, :size].argmax(1), :, x[:, :size].argmin(1)])
        design = samhw.torch.compile(body, example, value="f32")
        result = design.run()
        result.check()
        return measure_compiled(result.result.workload, design.compiled).operations

    assert operations(6) < 2 * operations(2)


@pytest.mark.parametrize("name", ["rows", "weighted bags", "the last of several"])
def test_runs(name: str) -> None:
    torch.manual_seed(0)
    design = samhw.torch.compile(
        Of((READ | WRITTEN)[name]), (torch.randn(4, 6), torch.randn(6, 3)), value="f32"
    )
    design.run().check()
    design.run(torch.randn(4, 6), torch.randn(6, 3)).check()


def test_conditions_are_no_places() -> None:
    with pytest.raises(InputError, match="gives as many elements as the data say"):
        samhw.torch.compile(Of(lambda x, t: t[x[0] > 0]), (torch.randn(4, 6), torch.randn(6, 3)))
