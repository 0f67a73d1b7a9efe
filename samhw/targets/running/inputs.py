"""What a design is given for a run of a program: its inputs, as they are stored, and its extents."""

from collections.abc import Mapping
from math import prod
from typing import NamedTuple

from samhw.compiler import Compiled, block_counts, check_divided
from samhw.compiler.passes import Recipe, with_derived
from samhw.errors import InputError
from samhw.graph import Design, MemoryRole, TensorBinding
from samhw.graph.numerics import Words
from samhw.lang import Program
from samhw.lang.typed import types_of
from samhw.limits import WORD, check_memory
from samhw.targets.running.images import load
from samhw.tensors import Format, Tensor

__all__ = ["Inputs", "inputs_of", "load_inputs"]


class Inputs(NamedTuple):
    """What a design is given for a run."""

    memories: dict[str, Words]
    """The words of the input memories."""
    extents: dict[str, int]
    """The extent of each index."""


def inputs_of(compiled: Compiled, tensors: Mapping[str, Tensor]) -> Inputs:
    """What the design of a compiled program is given for a run on those tensors, with their rows in the order
    that it asks for; raises as `load_inputs` and `RowOrders.drawn`."""
    stored = compiled.row_orders.drawn(tensors).there(tensors)
    return load_inputs(compiled.program, compiled.design, stored, compiled.recipes)


def load_inputs(
    program: Program,
    design: Design,
    tensors: Mapping[str, Tensor],
    recipes: Mapping[str, Recipe] | None = None,
) -> Inputs:
    """What a design is given for a run on those tensors.

    What no input has an extent for, as the result of a reshape or a concatenation, gets the one that the
    program makes of the inputs' shapes.

    Args:
        program: that the design has been compiled from.
        tensors: at least the inputs of the program and of the design, in any formats.
        recipes: of the inputs that are made from those tensors (`Compiled.recipes`).

    Raises:
        InputError: as `load` and `with_derived` do; for shapes of which the program makes no extents, or too
            great ones; and for a result that is too large for this machine.
    """
    tensors = with_derived(tensors, recipes or {})
    memories, extents = load(design, _stored(program, design, tensors))
    extents |= _inferred(program, design, tensors)
    extents |= block_counts(design.tensors, extents)
    check_divided(program, extents)
    for binding in design.tensors:
        if binding.role is MemoryRole.OUTPUT and not binding.alias_of:
            _check_fits(binding, extents)
    return Inputs(memories, extents)


def _stored(program: Program, design: Design, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Those of the tensors that the design takes, in the formats that it takes them in.

    Coordinate lists become compressed levels, and masks lose the zeros that they store, since what a mask
    stores is taken for nonzero; so they lose what is zero in their type.
    """
    masks = {s.mask.tensor for s in program.statements if s.mask}
    types = types_of(program, design.value)
    stored = {}
    for binding in design.tensors:
        tensor = tensors.get(binding.name)
        if tensor is None or binding.role is not MemoryRole.INPUT:
            continue
        if binding.name in masks:
            coords, vals = tensor.to_coo()
            kept = types[binding.name].decode(types[binding.name].encode(vals)) != 0
            tensor = Tensor.from_coo(coords[:, kept], vals[kept], tensor.shape, tensor.format)
        if binding.name in program.tensors and program.tensors[binding.name].format.one_each:
            # Refuses what stores none or several points somewhere.
            tensor = tensor.convert(program.tensors[binding.name].format)
        stored[binding.name] = tensor.convert(binding.format)
    return stored


def _check_fits(result: TensorBinding, extents: Mapping[str, int]) -> None:
    """Refuses a result whose outer dense levels alone are too large: these are written, whatever it holds."""
    fmt = Format.parse(result.format, len(result.indices))
    dense = fmt.mode_order[: fmt.of_blocks.outer_dense]
    count = prod(extents[result.indices[mode]] for mode in dense)
    check_memory(
        WORD * count,
        f"The result '{result.name}', which has {count:,} places in its dense levels,",
        "store it in compressed levels, or give smaller data",
    )


def _inferred(program: Program, design: Design, tensors: Mapping[str, Tensor]) -> dict[str, int]:
    """The extents of the indices that no input of the design has, as far as the program gives them: all of
    those that tensors have, and those of what streams alone carry."""
    given = {i for b in design.tensors if b.role is MemoryRole.INPUT and not b.alias_of for i in b.indices}
    named = {i: b.name for b in design.tensors for i in b.indices}
    left = design.extents.keys() - given
    if not left:
        return {}
    shapes = {decl.name: tensors[decl.name].shape for decl in program.inputs if decl.name in tensors}
    extents = program.unbound.bind(shapes).dimensions.extents
    inferred = {}
    for index in left:
        extent = extents.get(index)
        whose = f"index {index} in tensor {named[index]!r}" if index in named else f"index {index}"
        if extent is None:
            if index in named:
                raise InputError(f"Nothing gives the extent of {whose}; declare it, as in {index}=16.")
            continue
        if extent > design.extents[index]:
            raise InputError(
                f"The extent of {whose} is {extent:,}, but this build takes {design.extents[index]:,}; "
                "rebuild with a larger shape."
            )
        inferred[index] = extent
    return inferred
