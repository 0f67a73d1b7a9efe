"""What a schedule asks for that counts for nothing in the design that came of it."""

from collections.abc import Iterator

from samhw.choices import interleave, parallel
from samhw.choices.choice import choice
from samhw.choices.schedule import DEFAULT
from samhw.compiler.compiled import Compiled

__all__ = ["idle_choices"]


def idle_choices(compiled: Compiled) -> Iterator[tuple[str, str]]:
    """By choice a sentence with the reason and a way out; none where all counts."""
    schedule, design = compiled.schedule, compiled.design
    if schedule.interleave != interleave.NONE and not any(memory.banks for memory in design.memories):
        yield _said("interleave", "no array has three readers", "add '--lanes i=4', or leave it out")
    if schedule.largest_copy != DEFAULT.largest_copy and not schedule.permute:
        yield _said("largest_copy", "nothing may be copied", "add '--permute', or leave it out")
    if schedule.parallel != parallel.NONE and not design.is_parallel:
        why = "there is one region" if len(design.runs) == 1 else "no two regions can run side by side"
        yield _said("parallel", why, "leave it out")


def _said(name: str, why: str, way: str) -> tuple[str, str]:
    return name, f"Nothing comes of {choice(name).option}, since {why}; {way}."
