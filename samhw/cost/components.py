"""What a design consists of as hardware, and what such components were measured to take of an FPGA.

A component is told by its kind, a *variant* (what it computes, and of what type) and its sizes. What was
measured lies in `samhw/cost/measured`, a file for each family of FPGAs; `python -m benchmarks.components`
makes it. Between the sizes that were measured, and beyond them, areas are taken to be linear in each size.

All components were measured for the ECP5 (`BASE`), a sample of them for the other families, each of which is
like another one (`LIKE`). There, a size of which the sample has one value makes the difference that it makes
in the family that it is like, as a ratio. What the sample lacks has the ratio to that family that its kind
has, or all kinds together.
"""

import csv
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from functools import cache, lru_cache
from math import ceil
from pathlib import Path

from samhw.graph import Endpoint, Graph, Memory, MemoryRole, Node
from samhw.graph.numerics import WIDENING, ValueType
from samhw.graph.shared_ports import SharedPort

__all__ = [
    "BASE",
    "DEPTH",
    "FAMILIES",
    "MEASURED",
    "Component",
    "Use",
    "are_widths_measured",
    "binding_component",
    "channel_component",
    "control_component",
    "memory_component",
    "node_component",
    "off_chip_component",
    "shell_component",
    "unit_component",
    "use_of_component",
]

MEASURED = Path(__file__).parent / "measured"
"""Where the files with what was measured are."""

BASE = "ecp5"
"""The family for which all components were measured."""

LIKE = {"ice40": BASE, "xc7": BASE, "xcup": "xc7"}
"""By a family of which a sample was measured, the one to which it is compared."""

FAMILIES = tuple(sorted(path.stem for path in MEASURED.glob("*.csv")))
"""The families of FPGAs for which components were measured."""

BY_A_NUMBER = "by a number"
"""Said of an operation one of whose operands is an immediate."""

DEPTH = 4
"""Tokens of the channels with which nodes were measured."""


@dataclass(frozen=True)
class Use:
    """What something takes of an FPGA, as its tools count it.

    Attributes:
        luts: of four inputs, or of six where the FPGA has those.
        block_rams: block memories; halves where the FPGA has them.
    """

    luts: float = 0
    registers: float = 0
    block_rams: float = 0
    multipliers: float = 0

    def __add__(self, other: "Use") -> "Use":
        return Use(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: "Use") -> "Use":
        return Use(*(a - b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def times(self, factor: float) -> "Use":
        """This many of them."""
        return Use(*(factor * figure for figure in astuple(self)))

    def scaled(self, over: "Use", under: "Use") -> "Use":
        """Times a ratio, figure by figure; where there is nothing to divide by, the figure above, and where
        that is nothing too, as it is."""
        figures = zip(astuple(self), astuple(over), astuple(under), strict=True)
        return Use(*(own * a / b if b else a or own for own, a, b in figures))

    @property
    def whole(self) -> "Use":
        """In whole LUTs, blocks and so on, of which an FPGA has no parts: rounded up, but for what is left of
        binary fractions."""
        return Use(*(ceil(round(figure, 6)) for figure in astuple(self)))

    def at_least_none(self) -> "Use":
        """Without figures below zero, as a line beyond what was measured may have them."""
        return Use(*(max(0.0, figure) for figure in astuple(self)))


FIGURES = tuple(field.name for field in fields(Use))

Sizes = Mapping[str, float]


@dataclass(frozen=True)
class Component:
    """A component of a design.

    Attributes:
        kind: of a node, or `bound_numbers`, `bound_signals`, `channel`, `control`, `shell`, `input`
            and `result` (memories), `off_chip`.
        variant: what it computes, and of what type; empty where that does not matter.
        sizes: what its area grows with, by name.
    """

    kind: str
    variant: str
    sizes: Sizes


def node_component(graph: Graph, node: Node, index_bits: int) -> Component:
    """A node, with the channels at its inputs at a depth of `DEPTH`."""
    taken = [graph.taken(node, port.name) for port in node.inputs]
    given = [graph.given(node, port.name) for port in node.outputs]
    widths = [payload.width(index_bits) for payload in (*taken, *given)]
    sizes: dict[str, float] = {"width": sum(widths) / len(widths)}
    words = []
    work = node.spec.work(node.params)
    if work is not None:
        unit = unit_component(work.operation, graph.operand_type(node), graph.result_type(node))
        words = [unit.variant]
    for name, given_value in node.params.items():
        if isinstance(given_value, bool):
            words += [name] if given_value else []
        elif isinstance(given_value, int):
            sizes[name] = given_value
        elif isinstance(given_value, list) and all(isinstance(part, int) for part in given_value):
            sizes[name] = sum(given_value)
            sizes[f"{name} of"] = len(given_value)
        elif isinstance(given_value, Mapping) and len(taken) == 1:
            words.append(BY_A_NUMBER)
    sources = [graph.fanin.get(Endpoint(node.name, port.name)) for port in node.inputs]
    if any(channel and not graph.node[channel.source.node].inputs for channel in sources):
        # What comes from a root is always 0, and synthesis leaves out what would treat other references.
        sizes["roots"] = 1
    stored = [_address(graph.memory[name].capacity) for name in node.memories.values()]
    if stored:
        sizes["address"] = sum(stored) / len(stored)
    return Component(node.kind, " ".join(words), sizes)


def unit_component(operation: str, operand: ValueType, result: ValueType) -> Component:
    """A node that computes one operation of two streams."""
    words = [operation, operand.family]
    if result != operand:
        words = [operation, operand.name, "to", result.name]
    return Component("alu", " ".join(words), {"width": float(operand.width)})


def channel_component(width: int, depth: int) -> Component:
    """A channel for payloads of this many bits, of this many tokens; `words` are those after the front."""
    return Component("channel", "", {"width": width, "words": float(1 << _address(depth - 1))})


def memory_component(memory: Memory, width: int, copies: int) -> Component:
    """A memory of a tensor, with the host's way to it.

    Args:
        copies: how many words are read from it at a time (`Design.copies`).
    """
    kind = "input" if memory.role is MemoryRole.INPUT else "result"
    sizes = {"width": width, "words": float(memory.capacity), "copies": copies}
    return Component(kind, "", sizes)


def control_component(nodes: int, writers: int, regions: int) -> Component:
    """What starts and ends the runs of a design. Each region has a writer at least; only further ones count,
    so that no size grows with another one."""
    return Component("control", "", {"nodes": nodes, "regions": regions, "more writers": writers - regions})


def binding_component(of: str, width: int, values: int) -> Component:
    """A register that follows the region under way.

    Args:
        of: `numbers`, such as bases, or `signals`, such as extents.
        values: from which it takes its own.
    """
    return Component(f"bound_{of}", "", {"width": width, "values": values})


def shell_component(extents: int, channels: int, regions: int) -> Component:
    """The host's port with its registers."""
    return Component("shell", "", {"extents": extents, "channels": channels, "regions": regions})


def off_chip_component(ports: Sequence[SharedPort]) -> Component:
    """The ports of a master, with its arbiter. Their numbers are those of `Ports` by default."""
    writes = sum(port.first.write for port in ports)
    sizes = {
        "reads": len(ports) - writes,
        "writes": writes,
        "width": sum(8 * port.first.array.place_bytes for port in ports) / len(ports),
        "address": sum(_address(port.places) for port in ports) / len(ports),
    }
    return Component("off_chip", "", sizes)


def _address(places: int) -> int:
    """The bits of an address."""
    return max(places - 1, 0).bit_length()


# What was measured

Sample = tuple[Sizes, Use]


def use_of_component(component: Component, family: str) -> Use | None:
    """What a component is expected to take; None for one that was not measured.

    Args:
        family: one of `FAMILIES`.
    """
    return _use(component.kind, component.variant, tuple(component.sizes.items()), family)


def are_widths_measured(component: Component) -> bool:
    """Whether what computes or stores is as wide as something that was measured, or between two of those, and
    no other type stands for its own.

    Otherwise its area is a guess: that of the only width, or on the line through the last two.
    """
    width = component.sizes.get("width")
    if width is None or not (component.variant or component.kind in ("input", "result")):
        return True
    known = _known_as(component.kind, component.variant, BASE)
    if known is not None and not component.variant.startswith(known):
        return False
    samples = [] if known is None else _measured(BASE)[component.kind, known]
    widths = [sizes["width"] for sizes, _ in samples]
    return not widths or min(widths) <= width <= max(widths)


@lru_cache(maxsize=1 << 16)
def _use(kind: str, variant: str, sizes: tuple[tuple[str, float], ...], family: str) -> Use | None:
    known = _known_as(kind, variant, family)
    base = _use(kind, variant, sizes, LIKE[family]) if family in LIKE else None
    if known is None:
        return base and base.scaled(*_mean(kind, family)).at_least_none()
    if family not in LIKE:
        return _between(_measured(family)[kind, known], dict(sizes)).at_least_none()
    if base is None:
        return None
    samples = _measured(family)[kind, known]
    near = _nearest(samples, dict(sizes))
    measured = _use(kind, known, tuple(near.items()), LIKE[family])
    assert measured is not None, f"{kind} {known} was measured of {family} alone"
    return base.scaled(_between(samples, near), measured).at_least_none()


def _known_as(kind: str, variant: str, family: str) -> str | None:
    """The variant by which a kind and variant were measured, if they were. A number in the place of a stream
    takes no more than the stream. bf16 stands for shorter floating point that was not measured, and what
    computes in the wider type for what widens floating point."""
    operation = variant.removesuffix(f" {BY_A_NUMBER}")
    names = (variant, operation, _stand_in(operation))
    return next((name for name in names if (kind, name) in _measured(family)), None)


def _stand_in(variant: str) -> str:
    operation, _, types = variant.partition(" ")
    source, _, target = types.partition(" to ")
    if operation in WIDENING and target:
        is_whole = source[0] in "iu"
        types = "integer" if is_whole else target
    return f"{operation} {'bf16' if types.startswith(('f8', 'f16')) else types}"


def _nearest(samples: Sequence[Sample], sizes: Sizes) -> Sizes:
    """Those sizes, but where samples have one value of a size, or none, as they have it."""
    values: dict[str, set[float]] = defaultdict(set)
    for given, _ in samples:
        for name, size in given.items():
            values[name].add(size)
    return {
        name: sizes.get(name, 0.0) if len(found) > 1 else next(iter(found)) for name, found in values.items()
    }


@cache
def _mean(kind: str, family: str) -> tuple[Use, Use]:
    """What those of a kind that were measured take of a family and of that which it is like; of all kinds,
    where this one was not measured."""
    table = _measured(family)
    own, base = [], []
    for (other, variant), samples in table.items():
        if other == kind or all(kind != measured for measured, _ in table):
            for sizes, use in samples:
                own.append(use)
                base.append(_use(other, variant, tuple(sizes.items()), LIKE[family]) or Use())
    share = 1 / len(own)
    return sum(own, Use()).times(share), sum(base, Use()).times(share)


def _between(samples: Sequence[Sample], sizes: Sizes) -> Use:
    """Linear in each size: between the two nearest values that were measured, or beyond the last two."""
    names = dict.fromkeys(name for given, _ in samples for name in given)
    axis = next((name for name in names if len({given.get(name, 0.0) for given, _ in samples}) > 1), None)
    if axis is None:
        return samples[0][1]
    asked = sizes.get(axis, 0.0)
    values = sorted({given.get(axis, 0.0) for given, _ in samples})
    place = min(max(sum(value < asked for value in values), 1), len(values) - 1)
    low, high = values[place - 1 : place + 1]
    ends = [
        _between([sample for sample in samples if sample[0].get(axis, 0.0) == value], sizes)
        for value in (low, high)
    ]
    share = (asked - low) / (high - low)
    return ends[0].times(1 - share) + ends[1].times(share)


@cache
def _measured(family: str) -> Mapping[tuple[str, str], Sequence[Sample]]:
    path = MEASURED / f"{family}.csv"
    found: dict[tuple[str, str], list[Sample]] = defaultdict(list)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            sizes = dict(_size(text) for text in row["sizes"].split(";") if text)
            found[row["kind"], row["variant"]].append((sizes, Use(*(float(row[name]) for name in FIGURES))))
    return found


def _size(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    return name.strip(), float(number)
