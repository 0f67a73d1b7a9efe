"""Cascades of reductions in one pass over their index, where the schedule asks for it."""

from dataclasses import replace

from samhw.compiler.passes.lowerable import Lowerable, Recipe

__all__ = ["cascade"]


def cascade(lowerable: Lowerable) -> Lowerable:
    """The program in which reductions that depend on earlier ones over the same index are computed in one
    pass (`samhw.lang.cascade`), by tiles where the schedule asks for them, and over segments where their
    index has lanes. The results are the same in real numbers, and rounded otherwise."""
    asked = lowerable.schedule
    if asked.cascade_form == "off":
        return lowerable
    # SymPy takes a while to import.
    from samhw.lang.cascade import cascaded

    found = cascaded(lowerable.program, asked.cascade_form, asked.lanes, asked.tile)
    if found.program is lowerable.program:
        return lowerable
    whole = lowerable.capacity
    derived = [view for view in found.views if view.is_derived]
    made = lowerable.with_program(
        found.program.bind({}),
        entries={view.name: whole.entries.get(view.name, whole.entries_of(view.of)) for view in derived},
        recipes={view.name: Recipe(str(view), (view.of,), view.made) for view in derived},
    )
    extents = dict(made.capacity.extents)
    for view in found.views:
        dimensions = made.program.dimensions.of_tensor(view.name)
        extents |= zip(dimensions, view.shape(lowerable.shape(view.of)), strict=True)
    capacity = replace(made.capacity, extents=extents)
    return replace(made, capacity=capacity, segmented=found.segmented)
