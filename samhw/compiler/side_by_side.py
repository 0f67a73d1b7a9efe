"""Regions side by side (docs/compiler.md, "Fabrics"): which do, in which order, and on which fabrics.

A *unit* is a region, or all regions that are repeated together. Those of a *bundle* need nothing of each
other. Bundles run one after another, and the units of each side by side.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from samhw.choices.parallel import ALL
from samhw.compiler.compiled import Compiled, CompiledRegion
from samhw.errors import InputError
from samhw.graph import MemoryRole, Parallel, Repeat, Run, Step, Steps
from samhw.precedence import reached

__all__ = ["Bundles", "apart", "in_bundles", "levels_of", "side_by_side"]

Unit = tuple[int, ...]
"""The numbers of its regions."""

Bundles = tuple[tuple[Unit, ...], ...]


def in_bundles(compiled: Compiled) -> tuple[Compiled, Bundles]:
    """The same design with its regions in the order of the bundles that its schedule asks for, and these.

    Raises:
        InputError: for regions that cannot run side by side, or that there are not.
    """
    if compiled.memory is not None and any(region.repeat for region in compiled.regions):
        raise InputError(
            "'parallel' takes no scans beside a memory off the chip; leave out --memory or 'parallel'."
        )
    regions, asked = compiled.regions, compiled.schedule.parallel
    units = units_of(regions)
    needs = _needs(regions, units)
    if asked == ALL:
        by_level: dict[int, list[Unit]] = defaultdict(list)
        for unit, level in _levels(units, needs).items():
            by_level[level].append(unit)
        bundles = [by_level[level] for level in sorted(by_level)]
    else:
        bundles = _in_order([_named(regions, units, needs, names) for names in asked], units, needs)
    order = [number for bundle in bundles for unit in bundle for number in unit]
    new = {number: place for place, number in enumerate(order)}
    names = [region.graph.name for region in regions]
    moved = tuple(
        replace(regions[number], graph=replace(regions[number].graph, name=name))
        for number, name in zip(order, names, strict=True)
    )
    renumbered = tuple(tuple(tuple(new[n] for n in unit) for unit in bundle) for bundle in bundles)
    return replace(compiled, regions=moved), renumbered


def units_of(regions: Sequence[CompiledRegion]) -> list[Unit]:
    """The units of regions, by the first region of each."""
    found: dict[object, list[int]] = {}
    for number, region in enumerate(regions):
        found.setdefault(number if region.repeat is None else region.repeat, []).append(number)
    return [tuple(numbers) for numbers in found.values()]


def levels_of(regions: Sequence[CompiledRegion]) -> list[int]:
    """For each region, for how many units, one after another, its own waits."""
    units = units_of(regions)
    levels = _levels(units, _needs(regions, units))
    by_region = {number: level for unit, level in levels.items() for number in unit}
    return [by_region[number] for number in range(len(regions))]


def _needs(regions: Sequence[CompiledRegion], units: Sequence[Unit]) -> dict[Unit, set[Unit]]:
    """For each unit the others that write what it reads."""
    writer = {
        tensor.stored: unit
        for unit in units
        for number in unit
        for tensor in regions[number].graph.tensors
        if tensor.role is MemoryRole.OUTPUT
    }
    read = {
        unit: {t.stored for number in unit for t in regions[number].graph.tensors} & writer.keys()
        for unit in units
    }
    return {unit: {writer[tensor] for tensor in read[unit]} - {unit} for unit in units}


def _levels(units: Sequence[Unit], needs: Mapping[Unit, set[Unit]]) -> dict[Unit, int]:
    level: dict[Unit, int] = {}
    for (unit,) in _in_order([], units, needs):
        level[unit] = max((level[other] + 1 for other in needs[unit]), default=0)
    return level


def _named(
    regions: Sequence[CompiledRegion],
    units: Sequence[Unit],
    needs: Mapping[Unit, set[Unit]],
    names: Sequence[str],
) -> list[Unit]:
    """The units of the regions that results name."""
    found: dict[Unit, str] = {}
    for name in names:
        own = [unit for unit in units if any(name in regions[number].region.written for number in unit)]
        if not own:
            raise InputError(f"'parallel' names '{name}', which no region computes; name its results.")
        found.setdefault(own[0], name)
    for unit, name in found.items():
        before = reached(needs[unit], needs.__getitem__)
        other = next((found[other] for other in found if other in before), None)
        if other is not None:
            raise InputError(
                f"'parallel' has '{name}' beside '{other}', for which it waits; leave one of them out."
            )
    return list(found)


def _in_order(
    together: Sequence[Sequence[Unit]], units: Sequence[Unit], needs: Mapping[Unit, set[Unit]]
) -> list[list[Unit]]:
    """Units that are to be a bundle, and all others each by itself, so that each comes after what it needs:
    otherwise in the order of their first regions.

    Raises:
        InputError: for a unit in two bundles, and for bundles that wait for each other.
    """
    taken = [unit for bundle in together for unit in bundle]
    if len({*taken}) < len(taken):
        raise InputError("'parallel' has a region in two lists; give it to one of them.")
    left = [*map(list, together), *([unit] for unit in units if unit not in taken)]
    left.sort(key=min)
    done: set[Unit] = set()
    found = []
    while left:
        ready = next((b for b in left if all(needs[unit] <= done for unit in b)), None)
        if ready is None:
            raise InputError(
                "Lists of 'parallel' wait for each other, so that none can come first; leave one out."
            )
        left.remove(ready)
        done.update(ready)
        found.append(sorted(ready))
    return found


def apart(groups: Sequence[tuple[int, ...]], bundles: Bundles) -> tuple[tuple[int, ...], ...]:
    """Groups of regions that may share a fabric, so that those of several units of a bundle are in
    several."""
    place = {
        number: (bundle, unit) for bundle, units in enumerate(bundles) for unit in units for number in unit
    }
    found = []
    for group in groups:
        slots: list[list[int]] = []
        for number in group:
            bundle, unit = place[number]
            free = (slot for slot in slots if all(place[n][1] == unit for n in slot if place[n][0] == bundle))
            slot = next(free, None)
            if slot is None:
                slots.append([number])
            else:
                slot.append(number)
        found += [tuple(slot) for slot in slots if len(slot) > 1]
    return tuple(sorted(found))


def side_by_side(
    regions: Sequence[CompiledRegion],
    groups: Sequence[tuple[int, ...]],
    bundles: Bundles,
    *,
    as_bodies: bool = True,
) -> Steps:
    """The steps of regions: bundle by bundle, units that share a fabric one after another.

    Args:
        as_bodies: these follow each other in a body; else in several steps, whose bodies have one each.
    """
    fabric = {number: group[0] for group in groups for number in group}
    steps: list[Step] = []
    for units in bundles:
        bodies: list[tuple[set[int], list[Unit]]] = []
        for unit in units:
            used = {fabric.get(number, number) for number in unit}
            met = [body for body in bodies if not used.isdisjoint(body[0])]
            bodies = [body for body in bodies if body not in met]
            joined = sorted([unit, *(other for _, others in met for other in others)])
            bodies.append((used.union(*(body for body, _ in met)), joined))
        bundle = sorted(body for _, body in bodies)
        if as_bodies:
            steps += _beside(regions, bundle)
        else:
            for turn in zip_longest(*bundle):
                steps += _beside(regions, [[unit] for unit in turn if unit is not None])
    return tuple(steps)


def _beside(regions: Sequence[CompiledRegion], bodies: Sequence[Sequence[Unit]]) -> Steps:
    """A step of these bodies; or its own, if there is but one."""
    steps = tuple(tuple(step for unit in body for step in _steps(regions, unit)) for body in bodies)
    return (Parallel(steps),) if len(steps) > 1 else steps[0]


def _steps(regions: Sequence[CompiledRegion], unit: Unit) -> Iterator[Step]:
    runs = tuple(map(Run, unit))
    repeat = regions[unit[0]].repeat
    return iter(runs if repeat is None else (Repeat(repeat.index, repeat.extent, runs),))
