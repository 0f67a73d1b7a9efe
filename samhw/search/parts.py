"""What a schedule splits, as the program that is lowered has it."""

from samhw.frontend import Program
from samhw.passes import apply_program_passes
from samhw.schedule import Schedule
from samhw.search.compile import make_lowerable
from samhw.splits import SplitProgram, split_program

__all__ = ["lowered_split"]


def lowered_split(program: Program, schedule: Schedule) -> SplitProgram:
    """The program over the parts into which a schedule splits inputs, in its regions and with all that the
    passes before `split_formats` add: which results are computed part by part depends on both.

    Args:
        program: with all extents.
        schedule: without regions that are left open.

    Raises:
        InputError: for what cannot be split, or cannot be lowered at all.
    """
    placed = apply_program_passes(make_lowerable(program, schedule), "place_by_index").program
    return split_program(placed, schedule.split, stored=schedule.stored_terms)
