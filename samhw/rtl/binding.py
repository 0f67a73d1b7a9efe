"""What the nodes of a fabric are bound to in the region that is under way (docs/timing.md, "Fabrics")."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring

from samhw.graph.pools import Pool
from samhw.rtl.interface import Turns
from samhw.rtl.logic import any_of, chosen

__all__ = ["Bindings", "PortPlaces", "PortUse"]


class Bindings:
    """Registers that follow the region under way.

    They have their values when the first root of a region fires: regions change a cycle before that, and
    between runs they stand for the regions that start with it.

    Args:
        region: a bit for each region, of which those of the ones under way are set.
        first: the regions that start with a run.
    """

    def __init__(self, m: Module, region: Value, first: Collection[int]):
        self._m = m
        self._region = Cat(region[0] | ~region.any(), region[1:])
        if len(first) > 1:
            self._region = Cat(bit | ~region.any() if n in first else bit for n, bit in enumerate(region))
        self._known: dict[tuple[object, ...], Value] = {}

    def value(self, by_turn: Mapping[int, Value | int], width: int) -> Value:
        """What a region has; where all have the same, that itself.

        Args:
            by_turn: a number or a signal for each region that there is one for.
        """
        turns: dict[object, list[int]] = defaultdict(list)
        values: dict[object, Value] = {}
        for turn, found in by_turn.items():
            key = found if isinstance(found, int) else id(found)
            turns[key].append(turn)
            values[key] = Const(found, width) if isinstance(found, int) else found
        if len(values) == 1:
            return next(iter(values.values()))
        known = (width, *((key, tuple(own)) for key, own in turns.items()))
        if known not in self._known:
            self._known[known] = register = Signal(width, name="bound", reset_less=True)
            by_turn_now = ((self._is(turns[key]), value) for key, value in values.items())
            self._m.d.sync += register.eq(chosen(by_turn_now))
        return self._known[known]

    def connect(self, unit: wiring.Component, member: str, by_turn: Mapping[int, Value | int]) -> None:
        """Drives a member of a component, if it has that, with what the regions have."""
        if member in unit.signature.members:
            signal = getattr(unit, member)
            self._m.d.comb += signal.eq(self.value(by_turn, len(signal)))

    def is_turn(self, turns: Turns) -> Value:
        """Whether one of some regions is under way."""
        known = ("turn", *sorted(turns))
        if known not in self._known:
            self._known[known] = register = Signal(name="turn", reset_less=True)
            self._m.d.sync += register.eq(self._is(sorted(turns)))
        return self._known[known]

    def _is(self, turns: list[int]) -> Value:
        return any_of(self._region[turn] for turn in turns)


class PortUse(NamedTuple):
    """How a port of a node reaches what it reads or writes.

    `sides` are the pools, each with the number of the port there, and with the base of the array in each
    region in which that lies there.
    """

    port: wiring.PureInterface
    written: bool
    sides: list[tuple[str, int, Mapping[int, int]]]


class PortPlaces:
    """Where arrays lie in pools, and the numbers that ports have there, one after the other.

    Args:
        turn: the number of each region in the order in which they run.
    """

    def __init__(self, pools: Iterable[Pool], turn: Mapping[int, int]):
        self._pool = {name: pool for pool in pools for name in pool.bases}
        self._turn = turn
        self._taken: dict[tuple[str, bool], int] = defaultdict(int)

    def use(self, port: wiring.PureInterface, written: bool, arrays: Mapping[int, str]) -> PortUse:
        """That of a port, which has an array in each region."""
        bases: dict[str, dict[int, int]] = defaultdict(dict)
        for region, name in arrays.items():
            pool = self._pool[name]
            bases[pool.name][self._turn[region]] = pool.bases[name]
        sides: list[tuple[str, int, Mapping[int, int]]] = []
        for name, own in bases.items():
            sides.append((name, self._taken[name, written], own))
            self._taken[name, written] += 1
        return PortUse(port, written, sides)
