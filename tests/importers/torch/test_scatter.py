"""What goes to the places that indices name, as graph networks have it: sums, greatest and least ones."""

import pytest
import torch
from torch import Tensor, nn

import samhw.torch

EDGES = torch.tensor([[0, 1, 2, 3, 4, 0, 2], [1, 2, 2, 4, 0, 2, 1]])


class EdgeSoftmax(nn.Module):
    """Attention over the edges that go to a node. Node 3 has none."""

    def __init__(self) -> None:
        super().__init__()
        self.lin, self.score = nn.Linear(4, 6), nn.Linear(6, 2)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        source, goal = edges
        h = self.lin(x)
        scores = self.score(torch.tanh(h[source] + h[goal]))
        to = goal[:, None].expand_as(scores)
        most = scores.new_zeros(len(x), 2).scatter_reduce(0, to, scores, "amax", include_self=False)
        above = (scores - most[goal]).exp()
        sums = above.new_zeros(len(x), 2).scatter_add(0, to, above) + 1e-16
        shares = above / sums[goal]
        messages = shares[:, :, None] * h[source].view(-1, 2, 3)
        out = h.new_zeros(len(x), 6)
        return out.index_add(0, goal, messages.flatten(1))


@pytest.mark.parametrize("fuse", [None, "module"])
def test_attention_over_edges(fuse):
    torch.manual_seed(0)
    x = torch.randn(5, 4)
    design = samhw.torch.compile(EdgeSoftmax(), (x, EDGES), value="f32", fuse=fuse)
    design.run().check()
    design.run(x, EDGES.flip(0)).check()


class Extremes(nn.Module):
    def forward(self, x: Tensor, ids: Tensor) -> tuple[Tensor, ...]:
        to = ids[:, None].expand_as(x)
        least = torch.full((4, 3), -float("inf")).scatter_reduce(0, to, x, "amax")
        return (
            least.relu(),
            torch.full((4, 3), 2.0).scatter_reduce(0, to, x, "amin", include_self=False),
            torch.zeros(4, 2).scatter_reduce(0, ids[:, None] * 0 + 1, x, "amax"),
        )


def test_places_that_nothing_goes_to_keep_what_stands_there():
    x = -torch.rand(5, 3)
    samhw.torch.compile(Extremes(), (x, torch.tensor([0, 3, 3, 0, 1])), value="f32").run().check()


def test_edges_are_gone_through_not_pairs():
    """Twice as many nodes that no edge touches cost what their rows cost, not the square of them."""

    class Greatest(nn.Module):
        def forward(self, x: Tensor, ids: Tensor) -> Tensor:
            to = ids[:, None].expand_as(x)
            return torch.zeros(len(x), 2).scatter_reduce(0, to, x, "amax", include_self=False)

    def cycles(count: int) -> int:
        ids = torch.arange(count) // 4
        return samhw.torch.compile(Greatest(), (torch.randn(count, 2), ids), value="f32").run().cycles

    assert cycles(128) < 2.2 * cycles(64)
