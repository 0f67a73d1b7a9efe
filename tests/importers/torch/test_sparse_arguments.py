"""Sparse adjacencies as graph networks take them: by their layout, by their parts, and as they are."""

import pytest
import torch
from torch import Tensor, nn

import samhw.torch
from samhw.errors import InputError
from samhw.lang.reference import evaluate_program
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


class Turned(Held):
    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.matrix.to_dense().t() * 2) @ x


def test_what_is_computed_of_a_view_of_a_sparse_buffer() -> None:
    imported = agree(Turned(), (torch.eye(4),))
    run = evaluate_program(imported.program, imported.tensors((torch.eye(4),)))
    assert imported.outputs(run, (torch.eye(4),)).tolist() == (ADJACENCY.T * 2).tolist()


PLACES = torch.tensor([[0, 1, 2, 2, 0], [1, 3, 0, 0, 1]])
"""Two of them stand twice."""


def made(values: Tensor) -> Tensor:
    return torch.sparse_coo_tensor(PLACES, values * 2, (3, 4))


COMPUTED = {
    "product": lambda v, x: torch.sparse.mm(made(v), x),
    "vector": lambda v, x: made(v) @ x[:, 0],
    "rows": lambda v, x: made(v).to_sparse_csr() @ x,
    "turned": lambda v, x: made(v).t() @ x[:3],
    "dense": lambda v, x: made(v).to_dense() * x[0, 0],
    "values": lambda v, x: made(v).coalesce().values() + x[0, 0],
    "as given": lambda v, x: made(v)._values() + x[0, 0],
    "softmax": lambda v, x: torch.sparse.mm(torch.sparse.softmax(made(v), 1), x),
    "sum": lambda v, x: torch.sparse.sum(made(v), 1).to_dense() + torch.sparse.sum(made(v)),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_a_matrix_of_computed_values(name: str) -> None:
    class Module(nn.Module):
        def forward(self, v: Tensor, x: Tensor) -> Tensor:
            return COMPUTED[name](v, x)

    imported = agree(Module(), (torch.randn(5), torch.randn(4, 2)))
    assert not imported.fixed


STORED = {
    "softmax": lambda a, x: torch.sparse.softmax(a.to_sparse_coo(), 1).to_dense() @ x,
    "logarithm": lambda a, x: torch.sparse.log_softmax(a.to_sparse_coo(), 1).to_dense() @ x,
    "addmm": lambda a, x: torch.sparse.addmm(x, a, x, beta=2, alpha=0.5),
    "sampled": lambda a, x: torch.sparse.sampled_addmm(a, x, x.T, beta=2, alpha=0.5).to_dense(),
    "attention": lambda a, x: (
        torch.sparse.softmax(torch.sparse.sampled_addmm(a, x, x.T, beta=0.0).to_sparse_coo(), 1) @ x
    ),
}


@pytest.mark.parametrize("name", STORED)
def test_what_goes_by_the_stored_places(name: str) -> None:
    """A zero that is stored counts."""

    class Module(nn.Module):
        def forward(self, a: Tensor, x: Tensor) -> Tensor:
            return STORED[name](a, x)

    values = torch.tensor([0.5, 2, 1, 0, 1.5, 3, 1])
    adjacency = torch.sparse_csr_tensor([0, 2, 3, 4, 7], [1, 3, 0, 2, 1, 2, 3], values, (4, 4))
    agree(Module(), (adjacency, torch.randn(4, 3)))


def test_sampled_products_are_computed_where_they_are_stored() -> None:
    class Module(nn.Module):
        def forward(self, a: Tensor, x: Tensor) -> Tensor:
            return torch.sparse.sampled_addmm(a, x, x.T, beta=0.0).to_dense()

    imported = agree(Module(), (ADJACENCY.to_sparse_csr(), torch.randn(4, 3)))
    (product,) = imported.program.statements
    assert "csr" in {str(imported.program.tensors[read.tensor].format) for read in product.reads}
