"""What passes make of the inputs of a program before anything is decided."""

from collections.abc import Mapping

from samhw.compiler.passes import Lowerable, apply_program_passes, with_derived
from samhw.lang import Capacity, Program
from samhw.tensors import Tensor

__all__ = ["derived_of"]


def derived_of(
    program: Program, tensors: Mapping[str, Tensor], room: Capacity | None = None
) -> dict[str, Tensor]:
    """What the host makes of a program's inputs, by name: for indices that are more than names, and for
    blocks at the edge.

    Args:
        tensors: at least its inputs.
        room: of a design that takes data of other extents too, which needs more.

    Raises:
        InputError: for numbers that are not places.
    """
    blocked = any(decl.format.block is not None for decl in program.tensors.values())
    if not blocked and all(statement.is_plain for statement in program.statements):
        return {}
    if room is None:
        given = Lowerable(program.bind({name: tensor.shape for name, tensor in tensors.items()}))
    else:
        given = Lowerable(program.unbound, room)
    recipes = apply_program_passes(given, "mask_edges").recipes
    return {name: tensor for name, tensor in with_derived(tensors, recipes).items() if name in recipes}
