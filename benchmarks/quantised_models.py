"""Four networks that PT2E has quantised (`torchao.quantization.pt2e`), in the simulator, as RTL and as HLS:

* a pruned MLP on scikit-learn's digits,
* attention of one head,
* a convolutional network with residuals,
* a GCN on Cora (`$SAMHW_DATA/cora.npz`), or with `--nodes` on its first ones.

*In integers*: how many of the products of tensors are of integers into i32. *Off the oracle*: how far the
program is from exact integers and rational scales (`samhw/app/workload/exact_integers.py`); the integers of a
run are those of the program, bit by bit. RTL and HLS have the simulator's words, and the RTL its cycles.

Usage, from the repository's root: python -m benchmarks.quantised_models [NETWORK ...] [--nodes N]
[--backends sim,verilator,hls] [--json FILE|-]
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer.x86_inductor_quantizer import (
    X86InductorQuantizer,
    get_default_x86_inductor_quantization_config,
)

import samhw.torch
from benchmarks.common import follow, parser, report
from samhw.app.torch import ModuleResult
from samhw.graph.numerics import Integer
from samhw.lang import Access, Mul, Program, walk
from samhw.lang.typed import kind_of, types_of

__all__ = ["NETWORKS", "products", "row"]

Network = tuple[nn.Module, Tensor]

PRUNED = 0.9
"""The share of the MLP's weights that are zeros."""


class Attention(nn.Module):
    """One head."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.scale = width**-0.5

    def forward(self, x: Tensor) -> Tensor:
        scores = torch.matmul(self.q(x), self.k(x).transpose(-1, -2)) * self.scale
        return self.o(torch.matmul(torch.softmax(scores, -1), self.v(x)))


class Residuals(nn.Module):
    """Convolutions, each added to what it is of."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, channels, 3, padding=1)
        self.second, self.third = (nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))
        self.norm = nn.BatchNorm2d(channels)
        self.last = nn.Linear(channels, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.first(x))
        x = F.max_pool2d(torch.relu(x + self.norm(self.second(x))), 2)
        x = torch.relu(x + self.third(x))
        return self.last(F.adaptive_avg_pool2d(x, 1).flatten(1))


class GCN(nn.Module):
    """Two layers over a graph that is the same in every run."""

    def __init__(self, adjacency: Tensor, features: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.register_buffer("adjacency", adjacency)
        self.first = nn.Linear(features, hidden, bias=False)
        self.second = nn.Linear(hidden, classes, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(torch.matmul(self.adjacency, self.first(x)))
        return torch.matmul(self.adjacency, self.second(x))


# The networks


def mlp(nodes: int | None) -> Network:
    """64-256-10, trained on scikit-learn's digits, pruned, and trained once more."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    x, y = torch.tensor(digits.data / 16, dtype=torch.float32), torch.tensor(digits.target)
    train = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))[:1400]
    layers = nn.Linear(64, 256), nn.Linear(256, 10)
    made = nn.Sequential(layers[0], nn.ReLU(), layers[1])
    masks = {layer: torch.ones_like(layer.weight) for layer in layers}
    for _ in range(2):
        optimiser = torch.optim.Adam(made.parameters(), 3e-3)
        for _ in range(200):
            optimiser.zero_grad()
            F.cross_entropy(made(x[train]), y[train]).backward()
            optimiser.step()
            with torch.no_grad():
                for layer, mask in masks.items():
                    layer.weight.mul_(mask)
        for layer in layers:
            size = layer.weight.abs()
            masks[layer] = (size > size.flatten().kthvalue(int(PRUNED * size.numel())).values).float()
            with torch.no_grad():
                layer.weight.mul_(masks[layer])
    return made, x[:4]


def attention(nodes: int | None) -> Network:
    """Eight columns wide, over six tokens."""
    return Attention(8), torch.randn(6, 8)


def cnn(nodes: int | None) -> Network:
    """Four channels, on images of 8 by 8."""
    return Residuals(4), torch.randn(2, 1, 8, 8)


def gcn(nodes: int | None) -> Network:
    """Cora with loops, normalised by degrees."""
    held = np.load(Path(os.environ.get("SAMHW_DATA", "../shared/data"), "cora.npz"))
    read = {
        name: scipy.sparse.csr_matrix(
            (values, held[f"{name}_indices"], held[f"{name}_indptr"]), shape=tuple(held[f"{name}_shape"])
        )
        for name, values in (
            ("adj", np.ones(len(held["adj_indices"]), np.float32)),
            ("feat", held["feat_data"]),
        )
    }
    count = nodes or read["adj"].shape[0]
    looped = read["adj"][:count, :count] + scipy.sparse.eye(count, dtype=np.float32)
    degrees = scipy.sparse.diags(np.asarray(looped.sum(1)).ravel() ** -0.5)
    adjacency = torch.tensor((degrees @ looped @ degrees).toarray().astype(np.float32))
    features = torch.tensor(read["feat"][:count].toarray())
    return GCN(adjacency, features.shape[1], 16, int(held["labels"].max()) + 1), features


NETWORKS: Mapping[str, tuple[Callable[[int | None], Network], Mapping[str, str]]] = {
    "mlp": (mlp, {}),
    "attention": (attention, {}),
    "cnn": (cnn, {}),
    "gcn": (gcn, {"x_q": "csr"}),
}
"""By name: what makes it, and formats of tensors."""


def quantised(module: nn.Module, x: Tensor) -> nn.Module:
    """The module in int8: linear layers, convolutions, additions and products of data."""
    config = get_default_x86_inductor_quantization_config()
    quantiser = X86InductorQuantizer().set_global(config)
    quantiser.set_function_type_qconfig(torch.matmul, config)
    prepared = prepare_pt2e(torch.export.export(module.eval(), (x,)).module(), quantiser)
    prepared(x)
    found: nn.Module = convert_pt2e(prepared)
    return found


def products(program: Program) -> list[bool]:
    """Of each product of tensors that is summed, whether it is one of integers; the program's types are
    written out."""
    types = types_of(program, program.value)
    return [
        isinstance(kind_of(node, types), Integer)
        for statement in program.statements
        if statement.reduction_indices
        for node in walk(statement.rhs)
        if isinstance(node, Mul) and all(any(isinstance(e, Access) for e in walk(c)) for c in node.children)
    ]


def row(name: str, backends: Sequence[str], nodes: int | None = None) -> dict[str, Any]:
    """What one network gives."""
    torch.manual_seed(0)
    make, formats = NETWORKS[name]
    module, x = make(nodes)
    design = samhw.torch.compile(quantised(module, x), (x,), value="f32", sparsify=0.5, formats=formats)
    first = design.run()
    found = first.check()
    whole = products(design.compiled.program)
    made: dict[str, Any] = {
        "network": name,
        "products": len(whole),
        "in integers": sum(whole),
        "off the oracle": found.program_error,
        "cycles": first.cycles,
    }
    for backend in backends:
        if backend != "sim":
            made[backend] = _same(first, design.run(backend=backend), cycles=backend == "verilator")
    return made


def _same(one: ModuleResult, other: ModuleResult, *, cycles: bool) -> str:
    """Whether two runs have the same words, and take as many cycles."""
    words = [held.result.tensors for held in (one, other)]
    alike = words[0].keys() == words[1].keys() and all(
        np.array_equal(words[0][name].to_dense(), words[1][name].to_dense(), equal_nan=True)
        for name in words[0]
    )
    return "equal" if alike and (not cycles or one.cycles == other.cycles) else "DIFFERS"


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__)
    options.add_argument("networks", nargs="*", default=[*NETWORKS], metavar="NETWORK")
    options.add_argument("--nodes", type=int, metavar="N")
    options.add_argument("--backends", default="sim,verilator,hls", metavar="NAME,..")
    chosen = options.parse_args(arguments)
    backends = chosen.backends.split(",")
    rows = [row(name, backends, chosen.nodes) for name in follow(chosen.networks)]
    report("Networks that PT2E has quantised", rows, chosen.json)


if __name__ == "__main__":
    main()
