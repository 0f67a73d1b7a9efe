"""Drawn programs with their data, what they mean, and how they are to be compiled, each from one number."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from samhw.app.workload import Workload, compile_workload
from samhw.choices.fuse import FUSION_LEVELS
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.errors import InputError, ScheduleError
from samhw.graph.numerics import value_type
from samhw.lang import Program, parse
from samhw.tensors import Tensor
from tests.support.oracle import language, meaning
from tests.support.oracle.draw import draw_arrays, draw_program, stored

__all__ = ["Case", "compile_case", "draw_case"]

Draw = Callable[[random.Random, bool], language.Program]
"""Draws a program, with what only floating point has if that is so."""


@dataclass(frozen=True)
class Case:
    """A program with its data, and what it means."""

    program: language.Program
    parsed: Program
    tensors: dict[str, Tensor]
    expected: meaning.Results
    value: str
    schedule: Schedule

    @property
    def is_open(self) -> bool:
        """The rules leave open what an element is."""
        return any(value is None for array in self.expected.values() for value in array.values())

    def compare(self, name: str, actual: np.ndarray) -> None:
        """Fails at the first element that is not what it must be."""
        for point, value in self.expected[name].items():
            if value is not None and not _is(value, actual[point].item()):
                raise AssertionError(f"{name}{point} is {actual[point]}, not {value.number}, in\n{self}")

    def __str__(self) -> str:
        return f"{self.program}{self.value}, {self.schedule}"


def _is(value: meaning.Value, actual: float) -> bool:
    if math.isnan(value.number):
        return math.isnan(actual)
    if value.exact or math.isinf(value.number):
        return actual == value.number
    return abs(actual - value.number) <= 1e-3 * max(1, abs(value.number))


def draw_case(number: int, draw: Draw = draw_program) -> Case | None:
    """A case; None for a program that breaks a rule of the language.

    Args:
        draw: what draws its program.
    """
    rng = random.Random(number)
    floating = rng.random() < 0.5
    program = draw(rng, floating)
    try:
        parsed = parse(str(program))
    except InputError:
        return None
    arrays = draw_arrays(program, rng, floating=floating)
    fuse = rng.choice(FUSION_LEVELS)
    return Case(
        program,
        parsed,
        stored(program, arrays, rng),
        meaning.run(program, arrays),
        "f32" if floating else "i32",
        Schedule(
            fuse=fuse,
            iteration="factored" if rng.random() < 0.6 else "global",
            permute=rng.random() < 0.4,
        ),
    )


def compile_case(case: Case) -> Compiled | None:
    """The compiled case; None for a schedule that is refused."""
    try:
        return compile_workload(
            Workload("random", case.parsed, case.tensors),
            value=value_type(case.value),
            schedule=case.schedule,
        )
    except ScheduleError:
        return None
