"""Runs on infinities, NaN, and numbers too great or too small for their type: whatever a schedule makes of
them, the check takes for right, and a wrong element it does not.

A long run on demand: SAMHW_RANDOM_HOSTILE=2000 python -m pytest tests/running/test_hostile_numbers.py
"""

import math
import os
import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from samhw.app.checking import check
from samhw.app.workload import Workload, compile_workload
from samhw.choices.fuse import FUSION_LEVELS
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.errors import InputError, ScheduleError
from samhw.graph.numerics import value_type
from samhw.lang import parse
from samhw.targets.backends import run
from samhw.tensors import Tensor
from tests.support.oracle.case import Case, compile_case, draw_case
from tests.support.oracle.draw import draw_arrays, draw_program, stored

PROGRAMS = int(os.environ.get("SAMHW_RANDOM_HOSTILE", "40"))

NUMBERS = (math.inf, -math.inf, math.nan, 3e38, -3e38, 1e30, -1e30, 1e20, 1e-30, -1e-30, 1e-38, -0.0)
FRACTIONS = (1 / 3, -1 / 3, 0.1)


@dataclass(frozen=True)
class Drawn:
    text: str
    workload: Workload
    rng: random.Random

    def compiled(self, value: str) -> Compiled | None:
        schedule = Schedule(
            fuse=self.rng.choice(FUSION_LEVELS),
            iteration=self.rng.choice(("factored", "global")),
            permute=self.rng.random() < 0.6,
        )
        try:
            return compile_workload(self.workload, value=value_type(value), schedule=schedule)
        except (ScheduleError, InputError):
            return None


def draw(number: int) -> Drawn | None:
    """A program of the oracle, some of its data replaced by hostile numbers."""
    rng = random.Random(number)
    program = draw_program(rng, floating=True)
    try:
        parsed = parse(str(program))
    except InputError:
        return None
    arrays = draw_arrays(program, rng, floating=True)
    numbers, share = rng.sample(NUMBERS + FRACTIONS, rng.randint(1, 4)), rng.choice((0.05, 0.2, 0.5))
    for array in arrays.values():
        replaced = np.array([rng.random() < share for _ in range(array.size)]).reshape(array.shape)
        chosen = np.array([rng.choice(numbers) for _ in range(array.size)]).reshape(array.shape)
        array[...] = np.where(replaced & (array != 0), chosen, array)
    return Drawn(str(program), Workload("random", parsed, stored(program, arrays, rng)), rng)


def draw_products(number: int) -> Drawn:
    """Sums of products, some factors of which lack a summed index, one after another; of few numbers, so that
    they cancel."""
    rng = random.Random(number)
    numbers = [*rng.sample(NUMBERS, 2), 1.0, -1.0, 1.0, -1.0, 0.0]
    tensors: dict[str, Tensor] = {}
    declared, lines, reusable = [], [], list[str]()
    for step in range(rng.randint(1, 3)):
        factors = []
        for n in range(rng.randint(2, 4)):
            indices = rng.sample("ikl", rng.randint(1, 3))
            name = f"A{step}{n}"
            form = rng.choice(("dense", "csf"))
            array = np.array([rng.choice(numbers) for _ in range(2 ** len(indices))]).reshape(
                [2] * len(indices)
            )
            order = sorted(range(len(indices)), key=lambda m: indices[m])
            declared.append(f"tensor {name}[{', '.join(indices)}] : {form} @ ({', '.join(map(str, order))})")
            tensors[name] = Tensor.from_dense(array, declared[-1].partition(" : ")[2])
            factors.append(f"{name}[{', '.join(indices)}]")
        factors += reusable[-1:]
        used = sorted({i for factor in factors for i in factor.partition("[")[2] if i in "ikl"})
        kept = rng.sample(used, rng.randint(0, min(2, len(used))))
        target = f"T{step}[{', '.join(kept)}]" if kept else f"T{step}"
        lines.append(f"{target} = {' * '.join(rng.sample(factors, len(factors)))}")
        reusable.append(target)
    text = "\n".join([*declared, "fuse {", *lines, "}"])
    return Drawn(text, Workload("products", parse(text), tensors), rng)


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("value", ["f32", "bf16", "f8e4m3", "f8e5m2"])
@pytest.mark.parametrize("draw", [draw, draw_products])
def test_no_schedule_raises_an_alarm(value: str, draw: Callable[[int], Drawn | None]) -> None:
    for number in range(PROGRAMS):
        drawn = draw(number)
        for _ in range(2 if drawn else 0):
            assert drawn
            if compiled := drawn.compiled(value):
                found = check(drawn.workload, compiled, run(compiled, drawn.workload.tensors).outputs)
                assert found.good, f"{number}: {compiled.schedule}\n{drawn.text}"


def damaged(tensor: Tensor, point: tuple[int, ...], number: float) -> Tensor:
    array = tensor.to_dense().copy()
    array[point] = number
    return Tensor.from_dense(array, tensor.format if array.ndim else "scalar")


def wrong_elements(case: Case) -> list[tuple[str, tuple[int, ...], float]]:
    """Of elements that the rules determine exactly, others than are right."""
    rng = random.Random(0)
    wrong = []
    for name, values in case.expected.items():
        exact = [(point, value.number) for point, value in values.items() if value and value.exact]
        special = [(point, number) for point, number in exact if not math.isfinite(number)]
        for point, number in rng.sample(exact, min(2, len(exact))) + special[:2]:
            others = (math.nan, math.inf, -math.inf, 0.0, 7.0)
            wrong += [(name, point, other) for other in others if repr(other) != repr(number + 0.0)]
    return wrong


def test_a_wrong_element_is_seen() -> None:
    seen = missed = 0
    for number in range(PROGRAMS):
        case = draw_case(number)
        compiled = case and compile_case(case)
        if not case or not compiled or case.value != "f32":
            continue
        workload = Workload("random", case.parsed, case.tensors)
        outputs = run(compiled, case.tensors).outputs
        assert check(workload, compiled, outputs).good, case
        for name, point, wrong in wrong_elements(case):
            if name in outputs:
                bad = {**outputs, name: damaged(outputs[name], point, wrong)}
                if check(workload, compiled, bad).good:
                    missed += 1
                else:
                    seen += 1
    # Some condition of a select may be decided by a rounding, for all that the bounds know.
    assert seen > PROGRAMS
    assert missed < 0.05 * seen, (missed, seen)


@pytest.mark.parametrize(("value", "small"), [("f32", 1e-40), ("bf16", 1e-40), ("fixed<8,4>", 0.01)])
@pytest.mark.parametrize("assign", ["y[i] min= A[i, j]", "y[i] = A[i, j]", "Y[i, j] = A[i, j] + 1"])
def test_a_mask_is_zero_where_its_type_makes_it_zero(value: str, small: float, assign: str) -> None:
    mask = np.array([[small, 0], [1, 2]])
    program = parse(f"tensor A[i, j] : dense\ntensor M[i, j] : csr\n{assign} where M[i, j]")
    tensors = {"A": Tensor.from_dense(-np.ones((2, 2)), "dense"), "M": Tensor.from_dense(mask, "csr")}
    workload = Workload("small", program, tensors)
    compiled = compile_workload(workload, value=value_type(value))
    (result,) = (outputs := run(compiled, tensors).outputs).values()
    assert not result.to_dense()[0].any()
    assert check(workload, compiled, outputs).good
