"""Where the arrays of a compiled program lie: what its schedule says of tensors (`place`), of the room on the
chip (`on_chip`), and of banks (`interleave`), as what a design has."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from samhw.choices import interleave
from samhw.choices.choice import AUTO
from samhw.choices.on_chip import ALL, NONE, bytes_of
from samhw.choices.place import CHIP, Location
from samhw.choices.schedule import Schedule
from samhw.compiler.compiled import Compiled, CompiledRegion
from samhw.compiler.graph_passes.depths import with_delays
from samhw.cost import estimate
from samhw.errors import InputError
from samhw.graph import (
    Arch,
    Design,
    Dram,
    Graph,
    OffChipLayout,
    OffChipMemory,
    Placement,
    chip_bytes,
    held_on_chip,
    layout_of,
    spread,
)
from samhw.graph.banks import bank_delays, banks_of, is_worth, unbanked
from samhw.words import and_more, counted

__all__ = [
    "arrays_off_chip",
    "channels_said",
    "check_all_on_chip",
    "check_kinds",
    "interleaved",
    "interleaved_lines",
    "layout_beside",
    "off_chip_words",
    "place_lines",
    "placement_of",
    "used_places",
]


def placement_of(compiled: Compiled, auto: int | None) -> Placement:
    """What a schedule says of each array.

    Args:
        auto: the room, in bytes, where the schedule leaves it open; None if there is no end of it.

    Raises:
        InputError: for a name that neither program nor design has.
    """
    places, word = _places(compiled), compiled.schedule.on_chip
    size = bytes_of(word)
    room = {AUTO: auto, ALL: None, NONE: 0}.get(word, size)
    return Placement(
        frozenset(name for name, place in places.items() if not place.is_off),
        frozenset(name for name, place in places.items() if place.is_off),
        room,
        is_limit=size is not None,
    )


def arrays_off_chip(compiled: Compiled, memory: OffChipMemory) -> dict[str, int]:
    """The arrays that lie in a memory, with its masters, in the order of the design.

    Without a word about the room on the chip, nothing lies there that is not placed there; or all that is not
    placed off it, if something is.

    Raises:
        InputError: for places that the design or the memory does not have.
    """
    kind = memory.name[:3] if isinstance(memory, Dram) else ""
    check_kinds(compiled, kind if kind in ("ddr", "hbm") else "", memory.name, memory.ports.masters)
    off = _beside_memory(compiled, chip_bytes(compiled.design, compiled.arch))
    if compiled.off_chip is not None and compiled.memory == memory:
        # What was compiled beside this memory lies where its fabrics reach it.
        return compiled.off_chip.masters
    said = channels_said(compiled)
    arrays = {name: said.get(name) for name in compiled.design.memory if name in off}
    if memory.ports.masters == 1:
        return dict.fromkeys(arrays, 0)
    loads = [_uses(region, compiled.arch) for region in compiled.regions]
    return spread(arrays, loads, memory.ports.masters)


def layout_beside(compiled: Compiled, memory: OffChipMemory | None) -> OffChipLayout | None:
    """Where arrays lie in a memory, if there is one; raises `InputError` as `OffChipLayout` does."""
    if memory is None:
        return None
    return layout_of(compiled.design, compiled.arch, memory, arrays_off_chip(compiled, memory))


def check_kinds(compiled: Compiled, kind: str, name: str, channels: int) -> None:
    """Raises `InputError` for places that a memory does not have.

    Args:
        kind: `ddr` or `hbm`; empty for a memory that may be either.
        name: of the memory.
        channels: that it has.
    """
    for what, place in _table(compiled).items():
        if place.is_off and kind and place.kind != kind:
            raise InputError(f"'{what}' is to lie in {place}, but the memory is {name}; write {what}={kind}.")
        if place.channel is not None and place.channel >= channels:
            raise InputError(
                f"'{what}' is to lie in {place}, but {name} has {counted(channels, 'channel')}, which count "
                "from 0; name another one, or leave the number out."
            )


def channels_said(compiled: Compiled) -> dict[str, int]:
    """By array, the channel that the schedule names."""
    places = _places(compiled).items()
    return {name: place.channel for name, place in places if place.channel is not None}


def check_all_on_chip(compiled: Compiled, where: str, way_out: str) -> None:
    """Raises `InputError` if something is to lie off the chip, where it cannot.

    Args:
        where: what has all on the chip.
        way_out: what to do.
    """
    for name, place in _table(compiled).items():
        if place.is_off:
            raise InputError(f"'{name}' is to lie in {place} (place), but {where}; {way_out}.")
    design, sizes = compiled.design, chip_bytes(compiled.design, compiled.arch)
    off = placement_of(compiled, None).off_chip(design, sizes)
    if off:
        whole = sum(sizes.values())
        largest = ", ".join(sorted(off, key=lambda name: (-sizes[name], name))[:3])
        raise InputError(
            f"The tensors of {compiled.program.name} take {whole:,} bytes on the chip, and '--on-chip "
            f"{compiled.schedule.on_chip}' has no room for {largest}, but {where}; {way_out}."
        )


def interleaved(compiled: Compiled) -> Compiled:
    """The same design with the arrays in banks that its schedule asks for, and with room in its channels for
    what waits for their ports. An array that two ports read, or fewer, stays one copy; one that lies off the
    chip has no banks. A design that has its banks already, and that a memory is now beside, keeps its room.

    Raises:
        InputError: for an array that there is not, or that cannot lie in banks.
    """
    asked = compiled.schedule.interleave
    if asked == interleave.NONE:
        return compiled
    design = replace(compiled, fabrics=()).design
    names: Collection[str] = design.memory
    off = {} if compiled.off_chip is None else compiled.off_chip.arrays
    if not isinstance(asked, str):
        names = _by_array(compiled, dict.fromkeys(asked, Location(CHIP)), "interleave")
        for name in names:
            why = "it lies off the chip" if name in off else unbanked(design, name)
            if why and is_worth(design, name):
                raise InputError(f"{name} cannot be interleaved: {why}; leave it out of 'interleave'.")
    banks = {n: banks_of(design, n) for n in names if is_worth(design, n) and not unbanked(design, n)}
    has_room = any(memory.banks for region in compiled.regions for memory in region.graph.memories)
    on_chip = {name: count for name, count in banks.items() if name not in off}
    regions = []
    for region in compiled.regions:
        graph, reasons = _in_banks(region.graph, banks), region.reasons
        if not has_room:
            tokens = estimate(graph, compiled.arch, region.extent).tokens
            graph, reasons = with_delays(
                graph, compiled.arch, bank_delays(graph), tokens, reasons, "reads of banks"
            )
        regions.append(replace(region, graph=_in_banks(graph, on_chip), reasons=reasons))
    return replace(compiled, regions=tuple(regions))


def _in_banks(graph: Graph, banks: Mapping[str, int]) -> Graph:
    memories = tuple(replace(memory, banks=banks.get(memory.name, 0)) for memory in graph.memories)
    return replace(graph, memories=memories)


def interleaved_lines(compiled: Compiled) -> list[str]:
    """What lies in banks, in a line; none if nothing is asked for."""
    if compiled.schedule.interleave == interleave.NONE:
        return []
    said = [f"{m.name} in {m.banks}" for m in compiled.design.memories if m.banks]
    return [f"banks that all readers share: {', '.join(said) or 'none, since no array has three readers'}"]


def place_lines(compiled: Compiled) -> list[str]:
    """What the schedule says of places, in lines; none if it says nothing."""
    if not compiled.schedule.place and compiled.schedule.on_chip == AUTO:
        return []
    design, sizes = compiled.design, chip_bytes(compiled.design, compiled.arch)
    off = _beside_memory(compiled, sizes)
    on = [name for name in design.memory if name not in off]
    taken = sum(sizes[name] for name in on)
    return [
        f"on chip {taken:,} bytes of {sum(sizes.values()):,}: {', '.join(on) or 'nothing'}",
        f"off chip beside --memory: {', '.join(name for name in design.memory if name in off) or 'nothing'}",
    ]


def used_places(compiled: Compiled, memory: OffChipMemory) -> dict[str, str]:
    """Where everything lies, as `place` says it: by tensor where its arrays lie in one place, else by
    array."""
    kind = "hbm" if memory.name.startswith("hbm") else "ddr"
    arrays, several = arrays_off_chip(compiled, memory), memory.ports.masters > 1
    by_tensor: dict[str, dict[str, str]] = {}
    for stored in compiled.design.memories:
        channel = arrays.get(stored.name)
        place = Location(CHIP) if channel is None else Location(kind, channel if several else None)
        by_tensor.setdefault(stored.tensor, {})[stored.name] = str(place)
    found: dict[str, str] = {}
    for tensor, places in by_tensor.items():
        found |= {tensor: next(iter(places.values()))} if len({*places.values()}) == 1 else places
    return found


def off_chip_words(design: Design, schedule: Schedule) -> str:
    """Which arrays lay off the chip in a run under a schedule with all places, and how many did not; a tensor
    of which all did by its own name."""
    places = schedule.place
    on = sum(places.get(one.name, places.get(one.tensor)) == CHIP for one in design.memories)
    off = [name for name, place in places.items() if place != CHIP]
    return f"{and_more(off) or 'nothing'}; {counted(on, 'array')} on chip"


def _beside_memory(compiled: Compiled, sizes: Mapping[str, int]) -> frozenset[str]:
    """The arrays off the chip of a run with a memory there; `sizes` as for `Placement.off_chip`."""
    auto = None if any(place.is_off for place in _table(compiled).values()) else 0
    return placement_of(compiled, auto).off_chip(compiled.design, sizes)


def _table(compiled: Compiled) -> dict[str, Location]:
    """The schedule's, whose words have been checked."""
    words = compiled.schedule.place.items()
    return {name: place for name, word in words if (place := Location.of(word)) is not None}


def _places(compiled: Compiled) -> dict[str, Location]:
    """By array, where the schedule says that it lies: as the array itself; as its tensor, or as one that lies
    in the same memories; or as what passes have made that tensor of, or put together of it."""
    return _by_array(compiled, _table(compiled), "place")


def _by_array(compiled: Compiled, table: Mapping[str, Location], what: str) -> dict[str, Location]:
    """By array, what a table says of it, as of `_places`; `what` is to be done with what it names."""
    design = compiled.design
    _check_names(compiled, table, what)
    wholes = {part: [name] for name, parts in compiled.joined.items() for part in parts}
    made = {name: recipe.sources for name, recipe in compiled.recipes.items()}
    for statement in compiled.program.statements:
        if (name := statement.lhs.tensor) not in compiled.placed.written:
            made[name] = tuple(access.tensor for access in statement.reads)
    alike: dict[str, list[str]] = {}
    for binding in design.tensors:
        if binding.stored != binding.name:
            alike.setdefault(binding.stored, []).append(binding.name)

    def said(name: str, after: frozenset[str] = frozenset()) -> Location | None:
        if name in table or name in after:
            return table.get(name)
        of = wholes.get(name) or made.get(name, ())
        return _common(said(source, after | {name}) for source in of)

    found = {}
    for memory in design.memories:
        others = alike.get(memory.tensor, ())
        # What is named itself comes before what a tensor is made of.
        named = next((table[name] for name in (memory.name, memory.tensor, *others) if name in table), None)
        place = named or said(memory.tensor) or _common(map(said, others))
        if place is not None:
            found[memory.name] = place
        for other in others:
            if table.get(other, place) != place:
                raise InputError(
                    f"'{other}' is to lie in {table[other]}, and {memory.name} in {place}, but that is "
                    f"{other} in another shape, in the same memory; place them alike."
                )
    return found


def _check_names(compiled: Compiled, table: Mapping[str, Location], what: str) -> None:
    """Raises `InputError` for a name that neither the program nor the design has, or an array that cannot lie
    off the chip."""
    design, held = compiled.design, held_on_chip(compiled.design)
    known = {*compiled.placed.written, *compiled.program.tensors, *compiled.aliases, *design.memory}
    known |= {binding.name for binding in design.tensors}
    for name, place in table.items():
        if place.is_off and name in held:
            raise InputError(f"{name} is a few words, which lie on the chip; place the other arrays.")
        if name not in known:
            stored = [m for m in design.memory if m.startswith(f"{name.partition('.')[0]}.")]
            raise InputError(
                f"There is no '{name}' to {what}; {compiled.program.name} stores "
                f"{', '.join(stored or dict.fromkeys(m.tensor for m in design.memories))}."
            )


def _common(places: Iterable[Location | None]) -> Location | None:
    """The place of what is made of things in these places: the chip, if one of them lies there."""
    known = list(dict.fromkeys(place for place in places if place is not None))
    if len(known) < 2:
        return known[0] if known else None
    return next((place for place in known if not place.is_off), Location(known[0].kind))


def _uses(region: CompiledRegion, arch: Arch) -> dict[str, float]:
    """How often a region is expected to read or write each array."""
    busy = estimate(region.graph, arch, region.extent).busy
    found: dict[str, float] = {}
    for node in region.graph.nodes:
        for name in node.memories.values():
            found[name] = found.get(name, 0.0) + busy[node.name]
    return found
