"""Regions side by side (docs/compiler.md, "Fabrics"): those of a level need nothing of each other."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from samhw.compiler.compiled import Compiled
from samhw.errors import InputError
from samhw.graph import Graph, MemoryRole, Parallel, Run, Steps

__all__ = ["apart", "in_levels", "levels_of", "side_by_side"]


def levels_of(graphs: Sequence[Graph]) -> list[int]:
    """How many regions, one after another, each region waits for."""
    level: dict[str, int] = {}
    found = []
    for graph in graphs:
        needed = [t.stored for t in graph.tensors if t.role is MemoryRole.INPUT]
        own = max((level[tensor] + 1 for tensor in needed if tensor in level), default=0)
        found.append(own)
        level |= {t.stored: own for t in graph.tensors if t.role is MemoryRole.OUTPUT}
    return found


def in_levels(compiled: Compiled) -> Compiled:
    """The same design with its regions in the order of their levels.

    Raises:
        InputError: for regions that do not run side by side.
    """
    if compiled.memory is not None:
        raise InputError(
            "'parallel' needs all tensors on chip, since a memory off the chip serves regions that run one "
            "after another; leave out --memory or 'parallel'."
        )
    if any(region.repeat for region in compiled.regions):
        raise InputError("'parallel' takes no scans, whose regions run step by step; leave it out.")
    levels = levels_of([region.graph for region in compiled.regions])
    order = sorted(range(len(levels)), key=levels.__getitem__)
    names = [region.graph.name for region in compiled.regions]
    regions = [compiled.regions[number] for number in order]
    return replace(
        compiled,
        regions=tuple(
            replace(region, graph=replace(region.graph, name=name))
            for region, name in zip(regions, names, strict=True)
        ),
    )


def apart(groups: Sequence[tuple[int, ...]], levels: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Groups of regions that may share a fabric, so that those of a level are in several."""
    found = []
    for group in groups:
        slots: dict[int, list[int]] = defaultdict(list)
        taken: dict[int, int] = defaultdict(int)
        for number in group:
            slots[taken[levels[number]]].append(number)
            taken[levels[number]] += 1
        found += [tuple(slot) for slot in slots.values() if len(slot) > 1]
    return tuple(sorted(found))


def side_by_side(levels: Sequence[int], groups: Sequence[tuple[int, ...]]) -> Steps:
    """The steps of regions in the order of their levels: level by level, those on one fabric one after
    another."""
    fabric = {number: group[0] for group in groups for number in group}
    bodies: dict[int, dict[int, list[Run]]] = defaultdict(lambda: defaultdict(list))
    for number, level in enumerate(levels):
        bodies[level][fabric.get(number, number)].append(Run(number))
    steps: list[Run | Parallel] = []
    for own in bodies.values():
        several = tuple(map(tuple, own.values()))
        steps += [Parallel(several)] if len(several) > 1 else several[0]
    return tuple(steps)
