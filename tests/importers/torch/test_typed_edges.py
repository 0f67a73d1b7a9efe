"""Relational graph convolutions (Schlichtkrull et al., 2018) over edges with types, as users of PyTorch
Geometric write them: `RGCNConv` itself where it is installed, and its forward in plain PyTorch."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import samhw.torch


class _Rgcn(nn.Module):
    """What RGCNConv computes: for each type of edge the mean of the sources of a node's edges, times the
    weights of that type, beside the node itself."""

    def __init__(self, inputs: int, outputs: int, types: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(types, inputs, outputs))
        self.root = nn.Parameter(torch.randn(inputs, outputs))
        self.bias = nn.Parameter(torch.randn(outputs))

    def relation(self, x: Tensor, edge_index: Tensor, edge_type: Tensor, number: int) -> Tensor:
        """The mean of the sources of the edges of a type."""
        source, target = edge_index[:, edge_type == number]
        return _mean(x[source], target, torch.ones(source.size(0)), x.size(0))

    def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor) -> Tensor:
        out = torch.zeros(x.size(0), self.weight.size(2))
        for number in range(self.weight.size(0)):
            out = out + self.relation(x, edge_index, edge_type, number) @ self.weight[number]
        return out + x @ self.root + self.bias


class _Masked(_Rgcn):
    """With all edges for each type, of which those of others count for nothing."""

    def relation(self, x: Tensor, edge_index: Tensor, edge_type: Tensor, number: int) -> Tensor:
        source, target = edge_index
        counts = (edge_type == number).to(x.dtype)
        return _mean(x[source] * counts.unsqueeze(-1), target, counts, x.size(0))


def _mean(messages: Tensor, target: Tensor, counts: Tensor, nodes: int) -> Tensor:
    total = torch.zeros(nodes, messages.size(1)).index_add(0, target, messages)
    edges = torch.zeros(nodes).index_add(0, target, counts)
    return total / edges.clamp(min=1).unsqueeze(-1)


def _graph(seed: int, types: int = 3) -> tuple[Tensor, Tensor, Tensor]:
    """Features, edges and their types. Some edges come twice, and some nodes have none."""
    made = torch.Generator().manual_seed(seed)
    edges = torch.randint(0, 9, (2, 24), generator=made)
    return torch.randn(12, 5, generator=made), edges, torch.randint(0, types, (24,), generator=made)


def _agrees(module: nn.Module) -> None:
    design = samhw.torch.compile(module, _graph(0))
    for seed in (0, 1):
        found = design.run(*_graph(seed))
        found.check()  # Raises for a wrong result.
        wanted = module(*_graph(seed)).detach().numpy()
        assert np.allclose(found.output, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", [_Rgcn, _Masked])
def test_relations_of_typed_edges(kind: type[_Rgcn]) -> None:
    torch.manual_seed(0)
    _agrees(kind(5, 4, 3))


def test_the_layer_of_pytorch_geometric() -> None:
    layers = pytest.importorskip("torch_geometric.nn")
    torch.manual_seed(0)
    _agrees(layers.RGCNConv(5, 4, 3))
