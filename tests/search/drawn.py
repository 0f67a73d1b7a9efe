"""Programs of every generator that knows what its programs mean, and random schedules for them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random

import numpy as np
from numpy.typing import NDArray

from samhw.choices.fuse import FUSION_LEVELS, FusionLevel, FusionRule
from samhw.choices.iteration import ITERATIONS
from samhw.choices.schedule import Schedule
from samhw.lang import Program, parse
from samhw.tensors import Tensor
from tests.support.oracle import concats, residuals
from tests.support.oracle.case import Case, draw_case
from tests.support.oracle.masks import draw_masked_program
from tests.support.oracle.mixture import draw_mixture
from tests.support.oracle.running import draw_running_program
from tests.support.oracle.written import Written

__all__ = ["VALUES", "Drawn", "draw", "draw_schedule"]

VALUES = {
    "i32": ("i32", "i32", "f32", "bf16", "fixed<32,8>", "fixed<24,4>"),
    "f32": ("f32", "f32", "bf16"),
}
"""The types that programs are compiled for, by the one that their generator has a meaning in."""

FORMATS: dict[int, tuple[str, ...]] = {
    1: ("dense", "csf"),
    2: ("dense", "csr", "csc", "dcsr", "dcsc", "dense @ (1, 0)"),
    3: ("dense", "csf", "(dense, compressed, dense)"),
}

LEVELS: tuple[FusionLevel | FusionRule, ...] = (*FUSION_LEVELS, "kinds")

CLOSE = 1e-3
"""Of the greatest value, in f32."""


@dataclass(frozen=True)
class Drawn:
    """A program with its data.

    Attributes:
        compare: given a result's name and its elements, fails if they are not what the generator says.
        value: the type that it says so in.
    """

    program: Program
    tensors: Mapping[str, Tensor]
    compare: Callable[[str, NDArray[np.float64]], None]
    value: str


def draw(number: int) -> Drawn | None:
    """The program of a number; None for one that breaks a rule of the language."""
    value = ("i32", "f32")[number // 6 % 2]
    match number % 6:
        case 0:
            return _of_case(draw_case(number))
        case 1:
            return _of_case(draw_case(number, draw_masked_program))
        case 2:
            return _of_case(draw_case(number, draw_running_program))
        case 3:
            return _of_case(draw_case(number, draw_mixture))
        case 4:
            return _of_written(*concats.draw(number, value))
        case _:
            return _of_written(*residuals.draw(number, value))


def _of_case(case: Case | None) -> Drawn | None:
    if case is None:
        return None

    def compare(name: str, actual: NDArray[np.float64]) -> None:
        if name in case.expected:
            case.compare(name, actual)

    return Drawn(case.parsed, case.tensors, compare, case.value)


def _of_written(case: Written, text: str) -> Drawn:
    program = parse(text)
    given = {decl.name: Tensor.from_dense(case.inputs[decl.name], decl.format) for decl in program.inputs}

    def compare(name: str, actual: NDArray[np.float64]) -> None:
        if name in case.expected:
            most = np.abs(case.expected[name]).max(initial=1.0)
            within = 0.0 if case.value == "i32" else CLOSE * float(most)
            np.testing.assert_allclose(actual, case.expected[name], rtol=0, atol=within, err_msg=text)

    return Drawn(program, given, compare, case.value)


def draw_schedule(program: Program, rng: Random) -> Schedule:
    """A schedule that the language lets the program have, whether or not streams do."""
    results = [statement.lhs.tensor for statement in program.statements]
    schedule = Schedule(
        fuse=rng.choice(LEVELS) if rng.random() < 0.7 else _lists(results, rng),
        iteration=rng.choice(ITERATIONS),
        permute=rng.random() < 0.7,
        share=rng.choice(("auto", "auto", "auto", "all")),
    )
    names = [decl.name for decl in program.tensors.values() if decl.rank in FORMATS]
    if not names or rng.random() < 0.5:
        return schedule
    chosen = rng.sample(names, rng.randint(1, min(2, len(names))))
    formats = {name: rng.choice(FORMATS[program.tensors[name].rank]) for name in chosen}
    return replace(schedule, formats=formats)


def _lists(results: list[str], rng: Random) -> list[list[str]]:
    """Results that follow each other, in regions of random lengths."""
    lists: list[list[str]] = []
    for result in results:
        if not lists or rng.random() < 0.3:
            lists.append([])
        lists[-1].append(result)
    return lists
