"""What a schedule asks for that counts for nothing in the design that came of it."""

from collections.abc import Iterator

from samhw.choices import interleave, parallel
from samhw.choices.schedule import DEFAULT
from samhw.compiler.compiled import Compiled

__all__ = ["idle_choices"]


def idle_choices(compiled: Compiled) -> Iterator[str]:
    """Sentences, each with the reason and a way out; none where all counts."""
    schedule, design = compiled.schedule, compiled.design
    if compiled.why:  # It was chosen.
        return
    if schedule.interleave != interleave.NONE and not any(memory.banks for memory in design.memories):
        yield _sentence("--interleave", "no array has three readers", "add '--lanes i=4', or leave it out")
    if schedule.largest_copy != DEFAULT.largest_copy and not schedule.permute:
        yield _sentence("--largest-copy", "nothing may be copied", "add '--permute', or leave it out")
    if schedule.parallel != parallel.NONE and not design.is_parallel:
        why = "there is one region" if len(design.runs) == 1 else "no two regions can run side by side"
        yield _sentence("--parallel", why, "leave it out")


def _sentence(option: str, why: str, way: str) -> str:
    return f"Nothing comes of {option}, since {why}; {way}."
