"""Zero times anything is zero, and zero divided by anything: in every format, whatever stands next to it.

The oracle is a loop over single numbers.

A long run on demand: SAMHW_RANDOM_ZEROS=20000 python -m pytest tests/compiler/test_zero.py
"""

import os
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import pytest

from samhw.app.workload import Workload, compile_workload
from samhw.choices.fuse import FUSION_LEVELS
from samhw.choices.schedule import Schedule
from samhw.graph.numerics import value_type
from samhw.lang import parse
from samhw.targets.backends import run
from samhw.tensors import Tensor

RANDOM = int(os.environ.get("SAMHW_RANDOM_ZEROS", "200"))
ROWS, COLUMNS = 5, 4
VALUES = [0.0, 0.0, 1.0, -2.0, 4.0, np.inf, -np.inf, np.nan]
"""Without -0, which no compressed level stores: what is divided by it depends on that."""


def times(a: float, b: float) -> float:
    return 0.0 if a == 0 or b == 0 else a * b


def by(a: float, b: float) -> float:
    if a == 0:
        return 0.0
    return float(np.float64(a) / np.float64(b))


def leaky(a: float) -> float:
    return times(a, 0.0) if a < 0 else a


Oracle = Callable[[int, dict[str, np.ndarray]], float]

STATEMENTS: dict[str, Oracle] = {
    "y[i] = a[i] * b[i]": lambda i, t: times(t["a"][i], t["b"][i]),
    "y[i] = a[i] * b[i] * c[i]": lambda i, t: times(times(t["a"][i], t["b"][i]), t["c"][i]),
    "y[i] = a[i] / b[i]": lambda i, t: by(t["a"][i], t["b"][i]),
    "y[i] = a[i] * (b[i] / c[i])": lambda i, t: times(t["a"][i], by(t["b"][i], t["c"][i])),
    "y[i] = a[i] * b[i] / c[i]": lambda i, t: by(times(t["a"][i], t["b"][i]), t["c"][i]),
    "y[i] = (a[i] + b[i]) * c[i]": lambda i, t: times(t["a"][i] + t["b"][i], t["c"][i]),
    "y[i] = (a[i] - b[i]) / c[i]": lambda i, t: by(t["a"][i] - t["b"][i], t["c"][i]),
    "y[i] = leaky_relu(a[i], 0) * b[i]": lambda i, t: times(leaky(t["a"][i]), t["b"][i]),
    "y[i] = M[i,k] * c[k]": lambda i, t: sum(times(t["M"][i, k], t["c"][k]) for k in range(COLUMNS)),
    "y[i] = M[i,k] / c[k]": lambda i, t: sum(by(t["M"][i, k], t["c"][k]) for k in range(COLUMNS)),
    "fuse {\n  t[i] = M[i,k] / c[k]\n  y[i] = t[i] * a[i]\n}": lambda i, t: times(
        sum(by(t["M"][i, k], t["c"][k]) for k in range(COLUMNS)), t["a"][i]
    ),
}
FORMATS = {"a": ["dense", "csf"], "b": ["dense", "csf"], "c": ["dense", "csf"], "M": ["dense", "csr", "csf"]}


def work(statement: str, formats: dict[str, str], rng: np.random.Generator) -> tuple[Workload, np.ndarray]:
    """The statement on random special values, and what it should give."""
    index = "k" if "c[k]" in statement else "i"
    shapes = {"a": (ROWS,), "b": (ROWS,), "c": (COLUMNS if index == "k" else ROWS,), "M": (ROWS, COLUMNS)}
    used = [name for name in shapes if f"{name}[" in statement]
    arrays = {name: rng.choice(VALUES, shapes[name]) for name in used}
    indices = {"a": "i", "b": "i", "c": index, "M": "i, k"}
    lines = [f"tensor {name}[{indices[name]}] : {formats[name]}" for name in used]
    if "t[" in statement:
        lines.append("tensor t[i] : dense")
    program = parse("\n".join([*lines, "tensor y[i] : dense", statement]))
    tensors = {name: Tensor.from_dense(arrays[name], program.tensors[name].format) for name in used}
    bound = program.bind({name: tensor.shape for name, tensor in tensors.items()})
    with np.errstate(all="ignore"):
        right = np.array([STATEMENTS[statement](i, arrays) for i in range(ROWS)])
    return Workload("zero", bound, tensors), right


def every_format() -> Iterator[dict[str, str]]:
    for chosen in product(*FORMATS.values()):
        yield dict(zip(FORMATS, chosen, strict=True))


@pytest.mark.parametrize("value", ["f32", "bf16"])
def test_every_format_gives_the_same(value: str) -> None:
    rng = np.random.default_rng(0)
    statements, formats = list(STATEMENTS), list(every_format())
    for _ in range(RANDOM):
        statement = statements[rng.integers(len(statements))]
        workload, right = work(statement, formats[rng.integers(len(formats))], rng)
        level = FUSION_LEVELS[rng.integers(len(FUSION_LEVELS))]
        compiled = compile_workload(
            Workload("zero", Schedule(fuse=level).apply(workload.program), workload.tensors),
            value=value_type(value),
            schedule=Schedule(iteration="factored" if rng.random() < 0.7 else "global"),
        )
        got = run(compiled, workload.tensors).outputs["y"].to_dense()
        np.testing.assert_array_equal(
            got, right, err_msg=f"{statement} {workload.program} {workload.tensors}"
        )


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize("value", ["f32", "bf16"])
def test_rtl(value: str) -> None:
    same_on("verilator", value)


@pytest.mark.slow
@pytest.mark.parametrize("value", ["f32", "bf16"])
def test_hls(value: str) -> None:
    same_on("hls", value)


def same_on(backend: str, value: str) -> None:
    rng = np.random.default_rng(1)
    dense = dict.fromkeys(FORMATS, "dense")
    for statement in ("y[i] = a[i] * (b[i] / c[i])", "y[i] = leaky_relu(a[i], 0) * b[i]"):
        for _ in range(3):
            workload, right = work(statement, dense, rng)
            compiled = compile_workload(workload, value=value_type(value))
            got = run(compiled, workload.tensors, backend).outputs["y"].to_dense()
            np.testing.assert_array_equal(got, right)
