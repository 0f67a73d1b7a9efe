"""Regions side by side (docs/compiler.md, "Fabrics"): which do, in which order, and on which fabrics.

A *unit* is a region, or all regions that are repeated together. Those of a *bundle* need nothing of each
other. Bundles run one after another, and the units of each side by side; and so do, in each step of a repeat,
the regions of its unit, level by level.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import NamedTuple

from samhw.compiler.compiled import Compiled, CompiledRegion
from samhw.errors import InputError
from samhw.graph import MemoryRole, Parallel, Repeat, Run, Step, Steps
from samhw.precedence import reached

__all__ = ["Bundles", "RegionUnit", "apart", "in_bundles", "levels_of", "side_by_side"]


class RegionUnit(NamedTuple):
    """The numbers of regions, level by level; those of a level run side by side."""

    levels: tuple[tuple[int, ...], ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """All of them."""
        return tuple(number for level in self.levels for number in level)


Bundles = tuple[tuple[RegionUnit, ...], ...]


def in_bundles(compiled: Compiled) -> tuple[Compiled, Bundles]:
    """The same design with its regions in the order of the bundles that its schedule asks for, and these.

    Raises:
        InputError: for regions that cannot run side by side, or that there are not.
    """
    regions, asked = compiled.regions, compiled.schedule.parallel
    units = units_of(regions)
    lists = None if isinstance(asked, str) else list(map(tuple, asked))
    inside = {unit: _inside(regions, unit, lists) for unit in units if len(unit.levels) > 1}
    bundles = [
        [inside.get(unit, unit) for unit in bundle]
        for bundle in _bundled(regions, units, _needs(regions, units), lists)
    ]
    order = [number for bundle in bundles for unit in bundle for number in unit.numbers]
    new = {number: place for place, number in enumerate(order)}
    names = [region.graph.name for region in regions]
    moved = tuple(
        replace(regions[number], graph=replace(regions[number].graph, name=name))
        for number, name in zip(order, names, strict=True)
    )
    renumbered = tuple(
        tuple(RegionUnit(tuple(tuple(new[n] for n in level) for level in unit.levels)) for unit in bundle)
        for bundle in bundles
    )
    return replace(compiled, regions=moved), renumbered


def _bundled(
    regions: Sequence[CompiledRegion],
    units: Sequence[RegionUnit],
    needs: Mapping[RegionUnit, set[RegionUnit]],
    lists: Sequence[Sequence[str]] | None,
) -> list[list[RegionUnit]]:
    """The bundles of units: those of the lists, or without lists as few as can be."""
    if lists is not None:
        return _in_order([_named(regions, units, needs, names) for names in lists], units, needs)
    by_level: dict[int, list[RegionUnit]] = defaultdict(list)
    for unit, level in _levels(units, needs).items():
        by_level[level].append(unit)
    return [by_level[level] for level in sorted(by_level)]


def _inside(
    regions: Sequence[CompiledRegion], unit: RegionUnit, lists: list[tuple[str, ...]] | None
) -> RegionUnit:
    """A repeated unit with levels of several regions. Of lists it takes those of its own regions away.

    In each step a region waits for those before it that write what it reads, and for those that read what it
    writes: they read earlier steps.
    """
    single = [RegionUnit(((number,),)) for number in unit.numbers]
    reads = {n: {t.stored for t in regions[n].graph.tensors} for n in unit.numbers}
    writes = {
        n: {t.stored for t in regions[n].graph.tensors if t.role is MemoryRole.OUTPUT} for n in unit.numbers
    }
    needs = {
        later: {
            earlier
            for earlier in single[:place]
            if reads[earlier.numbers[0]] & writes[later.numbers[0]]
            or writes[earlier.numbers[0]] & reads[later.numbers[0]]
        }
        for place, later in enumerate(single)
    }
    own = None
    if lists is not None:
        own = [
            names
            for names in lists
            if len(names) > 1 and all(any(regions[n].computes(name) for n in unit.numbers) for name in names)
        ]
        for names in own:
            lists.remove(names)
    bundles = _bundled(regions, single, needs, own)
    return RegionUnit(tuple(tuple(inner.numbers[0] for inner in bundle) for bundle in bundles))


def units_of(regions: Sequence[CompiledRegion]) -> list[RegionUnit]:
    """The units of regions, by the first region of each."""
    found: dict[object, list[int]] = {}
    for number, region in enumerate(regions):
        found.setdefault(number if region.repeat is None else region.repeat, []).append(number)
    return [RegionUnit(tuple((number,) for number in numbers)) for numbers in found.values()]


def levels_of(regions: Sequence[CompiledRegion]) -> list[int]:
    """For each region, for how many units, one after another, its own waits."""
    units = units_of(regions)
    levels = _levels(units, _needs(regions, units))
    by_region = {number: level for unit, level in levels.items() for number in unit.numbers}
    return [by_region[number] for number in range(len(regions))]


def _needs(
    regions: Sequence[CompiledRegion], units: Sequence[RegionUnit]
) -> dict[RegionUnit, set[RegionUnit]]:
    """For each unit the others that write what it reads."""
    writer = {
        tensor.stored: unit
        for unit in units
        for number in unit.numbers
        for tensor in regions[number].graph.tensors
        if tensor.role is MemoryRole.OUTPUT
    }
    read = {
        unit: {t.stored for number in unit.numbers for t in regions[number].graph.tensors} & writer.keys()
        for unit in units
    }
    return {unit: {writer[tensor] for tensor in read[unit]} - {unit} for unit in units}


def _levels(
    units: Sequence[RegionUnit], needs: Mapping[RegionUnit, set[RegionUnit]]
) -> dict[RegionUnit, int]:
    level: dict[RegionUnit, int] = {}
    for (unit,) in _in_order([], units, needs):
        level[unit] = max((level[other] + 1 for other in needs[unit]), default=0)
    return level


def _named(
    regions: Sequence[CompiledRegion],
    units: Sequence[RegionUnit],
    needs: Mapping[RegionUnit, set[RegionUnit]],
    names: Sequence[str],
) -> list[RegionUnit]:
    """The units of the regions that results name."""
    found: dict[RegionUnit, str] = {}
    for name in names:
        own = [unit for unit in units if any(regions[n].computes(name) for n in unit.numbers)]
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
    together: Sequence[Sequence[RegionUnit]],
    units: Sequence[RegionUnit],
    needs: Mapping[RegionUnit, set[RegionUnit]],
) -> list[list[RegionUnit]]:
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
    done: set[RegionUnit] = set()
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
    """Groups of regions that may share a fabric, so that those that run side by side are in several."""
    place = {
        number: (bundle, unit, level)
        for bundle, units in enumerate(bundles)
        for unit in units
        for level, numbers in enumerate(unit.levels)
        for number in numbers
    }

    def meet(one: int, other: int) -> bool:
        bundle, unit, level = place[one]
        return place[other][0] == bundle and (place[other][1] != unit or place[other][2] == level)

    found = []
    for group in groups:
        slots: list[list[int]] = []
        for number in group:
            slot = next((slot for slot in slots if not any(meet(number, n) for n in slot)), None)
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
        as_bodies: these follow each other in a body; else in several steps, whose bodies have one region
            each, and what is repeated stands by itself.
    """
    fabric = {number: group[0] for group in groups for number in group}

    def together(units: Iterable[RegionUnit], of: Callable[[RegionUnit], Iterable[Step]]) -> Iterator[Step]:
        bodies: list[tuple[set[int], list[RegionUnit]]] = []
        for unit in units:
            used = {fabric.get(number, number) for number in unit.numbers}
            met = [body for body in bodies if not used.isdisjoint(body[0])]
            bodies = [body for body in bodies if body not in met]
            joined = sorted([unit, *(other for _, others in met for other in others)])
            bodies.append((used.union(*(body for body, _ in met)), joined))
        bundle = [[tuple(of(unit)) for unit in body] for body in sorted(body for _, body in bodies)]
        turns = [[tuple(chain.from_iterable(body)) for body in bundle]]
        if not as_bodies:
            turns = [turn for steps in zip_longest(*bundle) for turn in _divided(filter(None, steps))]
        for turn in turns:
            yield from (Parallel(tuple(turn)),) if len(turn) > 1 else turn[0]

    def runs(unit: RegionUnit) -> Steps:
        return tuple(map(Run, unit.numbers))

    def whole(unit: RegionUnit) -> Steps:
        repeat = regions[unit.numbers[0]].repeat
        if repeat is None:
            return runs(unit)
        levels = ([RegionUnit(((number,),)) for number in level] for level in unit.levels)
        body = tuple(step for level in levels for step in together(level, runs))
        return (Repeat(repeat.index, repeat.extent, body),)

    return tuple(step for units in bundles for step in together(units, whole))


def _divided(units: Iterable[Steps]) -> Iterator[list[Steps]]:
    """The steps of units, those together that are one region each."""
    single: list[Steps] = []
    for steps in units:
        if isinstance(steps[0], Run):
            single.append(steps)
        else:
            yield [steps]
    if single:
        yield single
