"""Four networks that PT2E has quantised (`torchao.quantization.pt2e`), in the simulator, as RTL and as HLS:

* an MLP on scikit-learn's digits, of whose weights nine in ten are pruned,
* attention of one head,
* a convolutional network with residuals,
* a GCN, trained on Cora (`$SAMHW_DATA/cora.npz`), or with `--nodes` on its first ones.

*f32*, *pruned* and *int8* are accuracies on what was not trained on, in percent, the last one by exact
arithmetic. *In integers*: how many of the products of tensors are of integers into i32. *Integers*: what the
quantisers of results give; *off*: those of a run that are not what fractions give
(tests/support/rational_networks.py). *result*: how far the outputs are from theirs, in units of 2**-24 of the
greatest. RTL and HLS have the simulator's words, and the RTL its cycles.

Usage, from the repository's root: python -m benchmarks.quantised_models [NETWORK ...] [--nodes N]
[--backends sim,verilator,hls] [--json FILE|-]
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
from tests.support.rational_networks import run, telling

__all__ = ["NETWORKS", "products", "row"]


@dataclass(frozen=True)
class HeldOut:
    """What a network was not trained on: arguments, classes, and the rows of the result that count."""

    x: Tensor
    classes: Tensor
    rows: slice = field(default_factory=lambda: slice(None))

    def accuracy(self, result: Any) -> float:
        """How many of a network's choices are right, in percent."""
        chosen = np.asarray(result)[self.rows].argmax(-1)
        return round(100 * float(np.mean(chosen == self.classes[self.rows].numpy())), 1)


@dataclass(frozen=True)
class Network:
    """A network in f32.

    Attributes:
        x: what a design is made for.
        seen: what its ranges are taken from, each of the size of `x`.
        accuracies: those in f32.
    """

    module: nn.Module
    x: Tensor
    seen: Iterable[Tensor]
    test: HeldOut | None = None
    accuracies: Mapping[str, float] = field(default_factory=dict)


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


def trained(module: nn.Module, x: Tensor, classes: Tensor, rows: slice, *, decay: float = 0) -> None:
    """Trains on some rows of the result; weights that are zero stay so."""
    masks = [(weight, (weight != 0).float()) for weight in module.parameters()]
    optimiser = torch.optim.Adam(module.parameters(), 3e-3, weight_decay=decay)
    for _ in range(200):
        optimiser.zero_grad()
        F.cross_entropy(module(x)[rows], classes[rows]).backward()
        optimiser.step()
        with torch.no_grad():
            for weight, mask in masks:
                weight.mul_(mask)


def accuracy(module: nn.Module, test: HeldOut) -> float:
    """That of a network in f32."""
    with torch.no_grad():
        return test.accuracy(module(test.x))


def mlp(nodes: int | None) -> Network:
    """64-256-10, trained on scikit-learn's digits, pruned, and trained once more."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    x, classes = torch.tensor(digits.data / 16, dtype=torch.float32), torch.tensor(digits.target)
    mixed = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    x, classes, known = x[mixed], classes[mixed], slice(0, 1400)
    test = HeldOut(x[1400:], classes[1400:])
    layers = nn.Linear(64, 256), nn.Linear(256, 10)
    made = nn.Sequential(layers[0], nn.ReLU(), layers[1])
    trained(made, x, classes, known)
    found = {"f32": accuracy(made, test)}
    for layer in layers:
        size = layer.weight.abs()
        with torch.no_grad():
            layer.weight.mul_(size > size.flatten().kthvalue(int(PRUNED * size.numel())).values)
    trained(made, x, classes, known)
    return Network(made, x[:4], x[known].split(4), test, found | {"pruned": accuracy(made, test)})


def attention(nodes: int | None) -> Network:
    """Eight columns wide, over six tokens."""
    x = torch.randn(6, 8)
    return Network(Attention(8), x, [x])


def cnn(nodes: int | None) -> Network:
    """Four channels, on images of 8 by 8."""
    x = torch.randn(2, 1, 8, 8)
    return Network(Residuals(4), x, [x])


def gcn(nodes: int | None) -> Network:
    """Cora with loops, normalised by degrees; trained on its first 140 nodes, tested on the last 1,000."""
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
    x = torch.tensor(read["feat"][:count].toarray())
    classes = torch.tensor(held["labels"][:count]).long()
    made = GCN(adjacency, x.shape[1], 16, int(held["labels"].max()) + 1)
    trained(made, x, classes, slice(0, 140), decay=5e-3)
    test = HeldOut(x, classes, slice(max(140, count - 1000), count))
    return Network(made, x, [x], test, {"f32": accuracy(made, test)})


NETWORKS: Mapping[str, tuple[Callable[[int | None], Network], Mapping[str, str]]] = {
    "mlp": (mlp, {}),
    "attention": (attention, {}),
    "cnn": (cnn, {}),
    "gcn": (gcn, {"x_q": "csr"}),
}
"""By name: what makes it, and formats of tensors."""


def quantised(network: Network) -> torch.fx.GraphModule:
    """The network in int8: linear layers, convolutions, additions and products of data."""
    config = get_default_x86_inductor_quantization_config()
    quantiser = X86InductorQuantizer().set_global(config)
    quantiser.set_function_type_qconfig(torch.matmul, config)
    exported = torch.export.export(network.module.eval(), (network.x,))
    prepared = prepare_pt2e(exported.module(), quantiser)
    for x in network.seen:
        prepared(x)
    found: torch.fx.GraphModule = convert_pt2e(prepared)
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
    network = make(nodes)
    module = quantised(network)
    accuracies: dict[str, float | None] = {"f32": None, "pruned": None, "int8": None, **network.accuracies}
    if network.test is not None:
        exact = run(torch.export.export(module, (network.x,)), network.test.x)
        accuracies["int8"] = network.test.accuracy(exact.outputs[0])
    options: dict[str, Any] = {"value": "f32", "sparsify": 0.5, "formats": formats}
    design = samhw.torch.compile(module, (network.x,), **options)
    first = design.run()
    first.check()
    whole = products(design.compiled.program)
    made: dict[str, Any] = {
        "network": name,
        **accuracies,
        "products": len(whole),
        "in integers": sum(whole),
        **beside_fractions(telling(module), network.x, options),
        "cycles": first.cycles,
    }
    for backend in backends:
        if backend != "sim":
            made[backend] = _same(first, design.run(backend=backend), cycles=backend == "verilator")
    return made


def beside_fractions(module: torch.fx.GraphModule, x: Tensor, options: Mapping[str, Any]) -> dict[str, Any]:
    """How a run of a network that gives all of its integers differs from fractions."""
    exact = run(torch.export.export(module, (x,)), x)
    found = samhw.torch.compile(module, (x,), **options).run().output
    pairs = [(ours.numpy(), theirs) for ours, theirs in zip(found, exact.outputs, strict=True)]
    whole = [(ours, theirs) for ours, theirs in pairs if ours.dtype.kind in "iu"]
    ((result, wanted),) = [pair for pair in pairs if pair[0].dtype.kind == "f"]
    apart = np.abs(result - wanted.astype(np.float64)).max() / float(np.abs(wanted).max())
    return {
        "integers": sum(ours.size for ours, _ in whole),
        "off": sum(int((ours != theirs).sum()) for ours, theirs in whole),
        "result, 2^-24": round(float(apart) * 2**24, 2),
    }


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
