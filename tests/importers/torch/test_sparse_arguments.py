"""Sparse adjacencies as graph networks take them: by their layout, by their parts, and as they are."""

import pytest
import torch
from torch import Tensor, nn

import samhw.torch
from samhw.errors import InputError
from tests.importers.torch.agree import agree

ADJACENCY = torch.tensor([[0, 0.5, 0, 2], [1, 0, 0, 0], [0, 0, 0, 0], [0, 1.5, 3, 1]])
LAYOUTS = ("to_sparse_csr", "to_sparse_csc", "to_sparse_coo")


class Convolution(nn.Module):
    """Edges or a matrix, as a user holds it."""

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        if edges.layout != torch.strided:
            return torch.sparse.mm(edges.to_sparse_csr(), x)
        source, goal = edges
        return torch.zeros_like(x).index_add(0, goal, x[source])


class Normalised(nn.Module):
    """With values that are computed of those that it has, and put into a matrix again."""

    def forward(self, x: Tensor, matrix: Tensor) -> Tensor:
        matrix = matrix.to_sparse_coo().coalesce()
        (rows, columns), values = matrix.indices(), matrix.values()
        degrees = torch.zeros(matrix.shape[0]).scatter_add(0, rows, values).pow_(-0.5)
        degrees.masked_fill_(degrees == float("inf"), 0)
        made = torch.sparse_coo_tensor(matrix.indices(), degrees[rows] * values, matrix.shape)
        gate = torch.sigmoid(x[rows] - x[columns]) * values[:, None]
        return made @ x + torch.zeros_like(x).index_add(0, rows, gate)


class Reduced(nn.Module):
    def forward(self, x: Tensor, matrix: Tensor) -> tuple[Tensor, ...]:
        matrix = matrix.to_sparse_csr()
        counts = (matrix.crow_indices()[1:] - matrix.crow_indices()[:-1]).clamp(min=1)
        mean = matrix @ x / counts[:, None]
        return mean, *(torch.sparse.mm(matrix, x, kind) for kind in ("sum", "mean", "amax", "amin"))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_matrix_stays_sparse_and_an_argument(layout: str) -> None:
    arguments = torch.randn(4, 3), getattr(ADJACENCY, layout)()
    imported = agree(Convolution(), arguments)
    assert not imported.fixed
    (stored,) = [t for t in imported.program.tensors.values() if not t.format.is_all_dense]
    assert str(stored.format) == "csr" if layout != "to_sparse_csc" else "csc"


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("module", [Normalised(), Reduced()], ids=lambda module: type(module).__name__)
def test_what_asks_for_parts_fixes_them(module: nn.Module, layout: str) -> None:
    x, matrix = torch.randn(4, 3), getattr(ADJACENCY, layout)()
    imported = agree(module, (x, matrix))
    assert list(imported.fixed) == ["matrix"]
    assert not all(t.format.is_all_dense for t in imported.program.tensors.values())
    other = getattr(ADJACENCY * 2, layout)()
    assert imported.takes((x, matrix))
    assert not imported.takes((x, other))
    with pytest.raises(InputError, match="'matrix' decides what the module computes"):
        imported.tensors((x, other))


def test_other_parts_are_imported_anew() -> None:
    design = samhw.torch.compile(Normalised(), (torch.randn(4, 2), ADJACENCY.to_sparse_csr()), value="f32")
    design.run().check()
    design.run(torch.randn(4, 2), ADJACENCY.T.to_sparse_csr()).check()


class Held(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("matrix", ADJACENCY.to_sparse_csr())

    def forward(self, x: Tensor) -> Tensor:
        assert self.matrix.layout == torch.sparse_csr
        return self.matrix @ x + self.matrix.values().sum()


def test_a_buffer_has_its_layout_and_parts() -> None:
    assert not agree(Held(), (torch.randn(4, 2),)).fixed
