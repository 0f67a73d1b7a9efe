"""Which regions of a compiled program run on one fabric (docs/compiler.md, "Fabrics")."""

from collections.abc import Hashable, Sequence
from dataclasses import replace

from samhw.choices.choice import AUTO
from samhw.choices.parallel import NONE as ONE_BY_ONE
from samhw.choices.share_hardware import ALL, NONE
from samhw.compiler.compiled import Compiled, CompiledRegion
from samhw.compiler.placement import interleaved
from samhw.compiler.side_by_side import Bundles, apart, in_bundles, side_by_side
from samhw.errors import InputError, ScheduleError
from samhw.graph import Graph, OffChipLayout
from samhw.graph.fabrics import alike, difference, equal_regions, form_of, pace_of
from samhw.graph.sequence import beside
from samhw.graph.shared_nodes import nodes_in_common, with_shared_nodes
from samhw.words import and_more

__all__ = ["fabric_lines", "fabrics_json", "nodes_in_common_json", "with_fabrics"]

_DEEPER = "as deep as in another region on the same fabric"
_DEEPER_NODE = "as deep as in another region with the same node"


def with_fabrics(compiled: Compiled) -> Compiled:
    """The same design with the fabrics that its schedule asks for: the channels of regions that share one are
    as deep as the deepest of them.

    Raises:
        InputError: for regions that cannot share one, or that there are not, and where none is left that runs
            beside another.
    """
    bundles: Bundles = ()
    if compiled.schedule.parallel != ONE_BY_ONE:
        compiled, bundles = in_bundles(compiled)
        # What regions side by side read lies in no banks.
        compiled = replace(compiled, sequence=side_by_side(compiled.regions, (), bundles))
    compiled = interleaved(compiled)
    asked = compiled.schedule.share_hardware
    graphs = [region.graph for region in compiled.regions]
    if isinstance(asked, str):
        groups = () if asked == NONE else _equal(compiled, graphs, is_free=asked == AUTO)
    else:
        groups = tuple(_named(compiled.regions, names) for names in asked)
        _check_once(compiled.regions, groups)
    if bundles and asked == AUTO:
        groups = apart(groups, bundles)
    regions = [*compiled.regions]
    for group in groups:
        for number, graph in zip(group, alike([graphs[n] for n in group]), strict=True):
            regions[number] = _with_graph(regions[number], graph, _DEEPER)
    steps = side_by_side(regions, groups, bundles, as_bodies=compiled.memory is None)
    if any(beside(compiled.sequence).values()) and not any(beside(steps).values()):
        raise ScheduleError(
            "No regions run side by side ('parallel'), since all that could be are on one fabric "
            "('share_hardware')",
            "leave out one of the two",
        )
    found = replace(compiled, regions=tuple(regions), fabrics=groups, sequence=steps)
    if asked == ALL and len(regions) > 1 + sum(len(group) - 1 for group in groups):
        found = _with_shared_nodes(found)
    if compiled.off_chip is not None:
        compiled.off_chip.check_fabrics(found.design)
    return found


def _with_shared_nodes(compiled: Compiled) -> Compiled:
    """The same with channels and accumulators as large as the nodes that its fabrics share need them."""
    off_chip = () if compiled.off_chip is None else compiled.off_chip.arrays
    found = replace(compiled, shared_nodes=nodes_in_common(compiled.design, off_chip))
    pairs = zip(found.regions, with_shared_nodes(found.design), strict=True)
    return replace(found, regions=tuple(_with_graph(region, graph, _DEEPER_NODE) for region, graph in pairs))


def _with_graph(region: CompiledRegion, graph: Graph, why: str) -> CompiledRegion:
    """A region with its graph made larger; `why` is the reason for each channel that is deeper."""
    if graph is region.graph:
        return region
    before = {channel.name: channel.depth for channel in region.graph.channels}
    deeper = {c.name: why for c in graph.channels if c.depth > before[c.name]}
    return replace(region, graph=graph, reasons={**region.reasons, **deeper})


def _equal(compiled: Compiled, graphs: Sequence[Graph], *, is_free: bool) -> tuple[tuple[int, ...], ...]:
    """The groups of equal regions, of which the arrays lie alike.

    Args:
        is_free: only those that take no cycle longer for it. Wider accumulators may have more bitmaps to go
            through; and beside a memory, channels have to be as deep too: what waits less asks the memory in
            another order.
    """
    apart = {number for number, graph in enumerate(graphs) if any(m.banks for m in graph.memories)}
    found: list[tuple[int, ...]] = []
    for group in equal_regions(graphs):
        together: dict[object, list[int]] = {}
        group = tuple(number for number in group if number not in apart)
        if not group:
            continue
        own = [graphs[number] for number in group]
        for number, place in zip(group, _in_memory(compiled.off_chip, own, is_free), strict=True):
            paces = _paces(graphs[number]) if is_free else ()
            together.setdefault((paces, place), []).append(number)
        found += [tuple(numbers) for numbers in together.values() if len(numbers) > 1]
    return tuple(sorted(found))


def _paces(graph: Graph) -> tuple[Hashable, ...]:
    return tuple(pace_of(graph.node[name]) for name in form_of(graph).names)


def _in_memory(layout: OffChipLayout | None, graphs: Sequence[Graph], is_free: bool) -> list[Hashable]:
    """Of equal regions beside a memory, what those on one fabric have to have in common: where their arrays
    lie, and the depths of channels."""
    if layout is None:
        return [None] * len(graphs)
    found: list[Hashable] = []
    for own, graph in zip(graphs, alike(graphs), strict=True):
        before = {channel.name: channel.depth for channel in own.channels}
        depths = tuple(before[channel.name] for channel in graph.channels) if is_free else ()
        found.append((layout.places_of(graph), depths))
    return found


def _named(regions: Sequence[CompiledRegion], names: Sequence[str]) -> tuple[int, ...]:
    """The numbers of the regions that results name."""
    found = set()
    for name in names:
        numbers = [number for number, region in enumerate(regions) if region.computes(name)]
        if not numbers:
            raise InputError(f"'share_hardware' names '{name}', which no region computes; name its results.")
        found.update(numbers)
    group = tuple(sorted(found))
    for number in group:
        if banked := [m.name for m in regions[number].graph.memories if m.banks]:
            raise InputError(
                f"The region of {regions[number].region.written[-1]} cannot share hardware, since "
                f"{banked[0]} lies in banks; leave it out of 'share_hardware' or of 'interleave'."
            )
    first, *others = group
    for other in others:
        why = difference(regions[first].graph, regions[other].graph)
        if why:
            a, b = (regions[number].region.written[-1] for number in (first, other))
            raise InputError(f"The regions of {a} and {b} cannot share hardware: {why}; leave one out.")
    return group


def _check_once(regions: Sequence[CompiledRegion], groups: Sequence[tuple[int, ...]]) -> None:
    """Raises `InputError` for a list of one region, and for a region in two."""
    for number, group in enumerate(groups):
        twice = {region for other in groups[:number] for region in other if region in group}
        if twice or len(group) < 2:
            name = regions[min(twice, default=group[0])].region.written[-1]
            what = "twice" if twice else "alone"
            raise InputError(
                f"'share_hardware' has the region of {name} {what}; give it to one list of several."
            )


def fabrics_json(compiled: Compiled) -> list[list[str]]:
    """The names of the regions that run on one fabric, where several do."""
    design = compiled.design
    return [[design.regions[number].name for number in group] for group in design.fabrics]


def fabric_lines(compiled: Compiled) -> list[str]:
    """The same in a line each, and one about nodes in common."""
    lines = [f"one fabric: {and_more(names)}" for names in fabrics_json(compiled)]
    design = compiled.design
    if spared := sum(len(users) - 1 for users in design.shared_nodes):
        whole = len(design.built_nodes)
        lines.append(
            f"nodes in common: {whole} of {len(design.groups)} fabrics are {whole - spared} in hardware"
        )
    return lines


def nodes_in_common_json(compiled: Compiled) -> list[list[str]]:
    """The nodes that are one in hardware, by region and name, of each fabric that has one."""
    design = compiled.design
    return [
        [design.built_label(fabric, name) for fabric, name in users.items()] for users in design.shared_nodes
    ]
