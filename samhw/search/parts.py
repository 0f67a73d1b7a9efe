"""What passes make of the inputs of a program before anything is decided: parts, and derived tensors."""

from collections.abc import Mapping

from samhw.frontend import Program
from samhw.passes import Lowerable, apply_program_passes, with_derived
from samhw.schedule import Schedule
from samhw.search.job import Job
from samhw.splits import SplitProgram, split_program
from samhw.tensors import Tensor

__all__ = ["derived_of", "lowered_split"]


def lowered_split(program: Program, schedule: Schedule) -> SplitProgram:
    """The program over the parts into which a schedule splits inputs, in its regions and with all that the
    passes before `split_formats` add: which results are computed part by part depends on both.

    Args:
        program: with all extents.
        schedule: without regions that are left open.

    Raises:
        InputError: for what cannot be split, or cannot be lowered at all.
    """
    placed = apply_program_passes(Job(program, schedule).lowerable(), "place_by_index").program
    return split_program(placed, schedule.split, stored=schedule.stored_terms)


def derived_of(program: Program, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What the host makes of a program's inputs, by name: for indices that are more than names, and for
    blocks at the edge.

    Args:
        tensors: at least its inputs.

    Raises:
        InputError: for numbers that are no places.
    """
    blocked = any(decl.format.block is not None for decl in program.tensors.values())
    if not blocked and all(statement.is_plain for statement in program.statements):
        return {}
    program = program.bind({name: tensor.shape for name, tensor in tensors.items()})
    recipes = apply_program_passes(Lowerable(program), "mask_edges").recipes
    return {name: tensor for name, tensor in with_derived(tensors, recipes).items() if name in recipes}
