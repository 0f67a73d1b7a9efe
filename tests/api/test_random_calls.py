"""Calls of the Python interface with arguments of random types and values: each ends in a result or in an
`InputError`.

    SAMHW_RANDOM_CALLS=5000 python -m pytest tests/api/test_random_calls.py
"""

import json
import os
import random
import warnings
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import samhw
import samhw.torch
from samhw.choices.schedule import Schedule
from samhw.errors import InputError
from samhw.graph import Arch, Dram
from tests.api.arguments import anything, data, one_of

CASES = int(os.environ.get("SAMHW_RANDOM_CALLS", "240"))
BATCH = 30

PROGRAMS: dict[str, dict[str, tuple[int, ...]]] = {
    "T[i, j] = A[i, k] * X[k, j]": {"A": (4, 3), "X": (3, 2)},
    "y[i] = A[i, j] * X[j]": {"A": (4, 3), "X": (3,)},
    "y[i, j] max= A[i, j, k] + X": {"A": (2, 3, 2), "X": ()},
    "tensor A[i, j] : csr\nB[i, j] = A[i, j] + X[i, j]\ny[i] = B[i, j]": {"A": (4, 3), "X": (4, 3)},
}
GOOD: dict[str, tuple[Any, ...]] = {
    "formats": ({"A": "csr"}, {"A": "dense"}, {}),
    "value": ("f32", "i32", "bf16", "fixed<16,8>"),
    "schedule": ({}, {"fuse": "full"}, {"lanes": {"i": 2}}, samhw.Schedule()),
    "fuse": ("full", "none", [["T"]], [["y"]]),
    "order": (["i", "k", "j"], ["i", "j"], {"y": ["i", "j"]}),
    "permute": (True, False),
    "entries": ({"A": 64}, {}),
    "arch": ("vitis", "samhw", {"slack": 3}),
    "backend": ("sim", None),
    "memory": ("ddr4", {"preset": "hbm2"}, None),
    "wave": (None, "w.vcd"),
    "sparsify": (0.5, 0, 1),
}
"""What the arguments are made for."""

FIELDS = {
    "schedule": [field.name for field in fields(Schedule)],
    "arch": [field.name for field in fields(Arch)],
    "memory": [field.name for field in fields(Dram)],
}
"""Of the arguments that may be tables."""


def keywords(rng: random.Random, names: list[str], often: float) -> dict[str, Any]:
    """Some of the arguments of those names, good ones and others."""
    return {name: argument(rng, name) for name in names if rng.random() < often}


def argument(rng: random.Random, name: str) -> Any:
    """A value for the argument of that name."""
    if name in FIELDS and rng.random() < 0.3:
        table = {rng.choice(FIELDS[name]): anything(rng) for _ in range(rng.choice([1, 1, 2]))}
        return {"preset": "ddr4", **table} if name == "memory" else table
    return rng.choice(GOOD[name]) if rng.random() < 0.4 else anything(rng)


COMPILE = ["formats", "value", "schedule", "fuse", "order", "permute", "entries", "arch"]


def compiled(rng: random.Random) -> None:
    """`samhw.compile`, of a program or something else."""
    program = rng.choice(list(PROGRAMS)) if rng.random() < 0.8 else anything(rng)
    samhw.compile(program, **keywords(rng, COMPILE, 0.25))


def ran(rng: random.Random) -> None:
    """`run`, of a program with data; then what a result has."""
    program, shapes = rng.choice(list(PROGRAMS.items()))
    often = rng.choice([0, 0, 0.1])
    value = rng.choice([{}, {"value": "f32"}])
    design = samhw.compile(program, **{**value, **keywords(rng, COMPILE, often)})
    given = {name: data(rng, shape) for name, shape in shapes.items()}
    if rng.random() < 0.05:
        given[rng.choice(["A", "Q", "memory", "backend", ""])] = anything(rng)
    options = keywords(rng, ["backend", "memory", "wave"], 0.1)
    if rng.random() < 0.1:
        result = design.run(anything(rng), **{**given, **options})
    else:
        result = design.run(given, **options)
    assert result.cycles > 0
    # Of what has been taken nothing is masked.
    assert not any(isinstance(v, np.ma.MaskedArray) and np.ma.is_masked(v) for v in given.values())
    for name in result:
        assert result[name] is not None
    if rng.random() < 0.3:
        design.save("p.ein", "p.npz")
        again = samhw.load("p.ein").run(given, **options)
        assert again.cycles == result.cycles


def measured(rng: random.Random) -> None:
    """`samhw.accuracy`, of a design and inputs."""
    program, shapes = rng.choice(list(PROGRAMS.items()))
    inputs = [{name: data(rng, shape) for name, shape in shapes.items()} for _ in range(rng.randrange(3))]
    values = rng.choice([["f32", "bf16"], ["i32"], "f32", [anything(rng)]])
    clock = rng.choice([None, "100MHz", anything(rng)])
    design = samhw.compile(program)
    found = samhw.accuracy(design, inputs if rng.random() < 0.9 else anything(rng), values, clock=clock)
    assert str(found)


def saved(rng: random.Random) -> None:
    """`save` to anywhere, and `load` of that, or of a file that has been damaged."""
    design = samhw.compile(rng.choice(list(PROGRAMS)), **keywords(rng, COMPILE, 0.05))
    if rng.random() < 0.3:
        design.save(anything(rng), anything(rng))
        samhw.load(anything(rng))
    design.save("p.ein")
    path = Path("p.design.json")
    text = path.read_text()
    if rng.random() < 0.5:
        at = rng.randrange(len(text))
        path.write_text(text[:at] + rng.choice(["", "x", "9", '"', "]", "{", "-", "\0"]) + text[at + 1 :])
    else:
        found = json.loads(text)
        found[rng.choice([*found, "more"])] = rng.choice(
            [
                None,
                1,
                -1,
                2**70,
                "x",
                [],
                ["A"],
                [1],
                {},
                {"A": 3},
                {"A": -3},
                {"i": "x"},
                {"alu": 3},
                0.5,
                True,
            ]
        )
        path.write_text(json.dumps(found))
    loaded = samhw.load("p.ein")
    loaded.schedule.apply(loaded.program)


class Both(torch.nn.Module):
    """A module of two arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = torch.nn.Linear(3, 2)

    def forward(self, x: Any, y: Any = 1) -> Any:
        return self.fc(x) * y


def imported(rng: random.Random) -> None:
    """`samhw.torch.compile`, and a run with the same or other arguments."""
    torch.manual_seed(0)
    module = rng.choice([Both(), torch.nn.Linear(3, 2), torch.nn.ReLU(), anything(rng)])
    arguments = [torch.rand(4, 3) if rng.random() < 0.6 else data(rng, (4, 3))]
    if rng.random() < 0.3:
        arguments.append(anything(rng))
    names = ["value", "fuse", "formats", "sparsify", "schedule", "permute", "arch"]
    given = tuple(arguments) if rng.random() < 0.9 else anything(rng)
    design = samhw.torch.compile(module, given, **keywords(rng, names, 0.1))
    other = [data(rng, (4, 3))] if rng.random() < 0.3 else []
    result = design.run(*other, **keywords(rng, ["backend", "memory", "wave"], 0.1))
    assert result.output is not None


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(CASES // BATCH))
def test_random_calls(batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = random.Random(batch)
    for number in range(BATCH):
        call: Callable[[random.Random], None] = rng.choice(
            [compiled, ran, ran, ran, saved, imported, measured]
        )
        seed = rng.random()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                one_of(random.Random(seed), call)
        except InputError as error:
            text = str(error)
            assert 0 < len(text.strip()) < 2000, (call.__name__, seed, text)
        except BaseException as error:
            error.add_note(f"call {number} of batch {batch}: {call.__name__}({seed})")
            raise
