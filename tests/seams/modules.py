"""Random modules of PyTorch with a schedule: PyTorch itself, in float64, is their oracle."""

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

import samhw.torch
from samhw.errors import InputError, RunError
from samhw.lang import dumps
from tests.seams.case import Case
from tests.seams.features import features_of
from tests.seams.run import Outcome

__all__ = ["run_module"]

Step = Callable[[torch.Tensor], torch.Tensor]


class Chain(nn.Module):
    """Steps one after another, of a matrix to a matrix."""

    def __init__(self, source: random.Random, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randint(-2, 3, (size, size)).float() / 2)
        self.register_buffer("adjacency", (torch.rand(size, size) < 0.4).float().to_sparse_csr())
        self.register_buffer("places", torch.randint(0, size, (size,)))
        self.names = source.sample(sorted(STEPS), source.randint(2, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for name in self.names:
            x = STEPS[name](self, x)
        return x


def _loop(module: Any, x: torch.Tensor) -> torch.Tensor:
    state, found = torch.zeros_like(x[0]), []
    for row in x:
        state = torch.tanh(0.5 * state + row)
        found.append(state)
    return torch.stack(found)


STEPS: dict[str, Callable[[Any, torch.Tensor], torch.Tensor]] = {
    "product": lambda m, x: x @ m.weight,
    "sparse product": lambda m, x: torch.sparse.mm(m.adjacency, x),
    "relu": lambda m, x: torch.relu(x),
    "softmax": lambda m, x: torch.softmax(x, 1),
    "gather": lambda m, x: x[m.places],
    "scatter": lambda m, x: torch.zeros_like(x).index_add(0, m.places, x),
    "roll": lambda m, x: torch.roll(x, 1, 0),
    "flip": lambda m, x: torch.flip(x, (1,)),
    "pad": lambda m, x: nn.functional.pad(x, (1, 0))[:, :-1],
    "concatenation": lambda m, x: torch.cat([x[:, 1:], x[:, :1]], 1),
    "transposition": lambda m, x: x.T,
    "reshape": lambda m, x: x.reshape(-1).reshape(x.shape[1], x.shape[0]),
    "running sum": lambda m, x: torch.cumsum(x, 0),
    "centred": lambda m, x: x - x.amax(1, keepdim=True),
    "where": lambda m, x: torch.where(x > 0.3, x, 0.0),
    "scan": _loop,
}
"""Of a chain, by name. All keep the shape of a square matrix."""


def run_module(seed: int) -> Outcome:
    """Imports a random module, runs it under a random schedule, and compares with PyTorch."""
    warnings.simplefilter("ignore")
    source = random.Random(seed)
    torch.manual_seed(seed)
    size = source.randint(2, 4)
    module = Chain(source, size).eval()
    x = torch.randint(-3, 4, (size, size)).float() / 2
    schedule: dict[str, Any] = {"fuse": source.choice(["none", "full", "module", "kinds", "auto"])}
    if source.random() < 0.3:
        schedule["cascade"] = source.choice(["rescaled", "finite"])
    features = frozenset({"pytorch"})
    try:
        design = samhw.torch.compile(module, (x,), value="f32", schedule=schedule, permute=True)
        result = design.run()
        given = {name: t.to_dense() for name, t in result.result.workload.tensors.items()}
        case = Case(dumps(design.imported.program), given, given, {**schedule, "permute": True}, "f32")
        features |= features_of(case)
        found, alarm = result.output.detach().numpy(), _alarm(result)
        # From here on its weights are others, so that a check would refuse it.
        wanted = module.double()(x.double()).detach().numpy()
        if not np.allclose(found, wanted, rtol=1e-3, atol=1e-4):
            text = f"{module.names}: {found.tolist()}, right is {wanted.tolist()}"
            return Outcome("wrong", text, features=features)
        if alarm:
            return Outcome("false alarm", f"{module.names}, {schedule}: {alarm}", features=features)
    except InputError as error:
        return Outcome("refused", f"{module.names}: {error}"[:300], features=features)
    except Exception as error:
        text = f"{module.names}, {schedule}: {type(error).__name__}: {error}"
        return Outcome("traceback", text[:300], features=features)
    return Outcome("right", features=features, compared=found.size)


def _alarm(result: samhw.torch.ModuleResult) -> str:
    """What the check of a run says, if it calls it wrong."""
    try:
        result.check()
    except RunError as error:
        return str(error)
    return ""
