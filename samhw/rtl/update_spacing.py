"""The spacing of updates in place (docs/timing.md), known from a register."""

from collections.abc import Sequence

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.logic import all_of, any_of

__all__ = ["UpdateSpacing"]


class UpdateSpacing(wiring.Component):
    """Whether the place that the heads would update was updated less than L cycles ago.

    A place is a bank, and the heads' coordinates. Whether a coordinate is that of an earlier update is found
    in the cycle before it comes to its head, and is kept for as long as it stays there, while that update
    ages. So no comparison lies between the heads and their firing.

    Members:
        crd<s>, following<s> (In): the coordinate at a head, and the one behind it (`Fifo`).
        there (In): for each head, whether it is available.
        leave (In): all heads leave in this cycle.
        update (In): if they leave, they update their place.
        fresh (In): if they leave, the bank that is then in use has no update under way.
        bank (In): the bank in use.
        pending (Out): the place was updated less than L cycles ago.

    Args:
        bits: of each coordinate.
        banks: how many take turns.
        latency: L, 2 or more.
    """

    there: Signal
    leave: Signal
    update: Signal
    fresh: Signal
    bank: Signal
    pending: Signal

    def __init__(self, *, bits: Sequence[int], banks: int, latency: int):
        self.bits = tuple(bits)
        self.latency = latency
        coords = {f"{name}{s}": In(width) for name in ("crd", "following") for s, width in enumerate(bits)}
        flags = {"there": In(len(bits)), "leave": In(1), "update": In(1), "fresh": In(1)}
        super().__init__({**coords, **flags, "bank": In(range(banks)), "pending": Out(1)})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        # Of age 0 are the heads themselves, if they leave; of age b, what left b cycles ago.
        ages = range(1, self.latency - 1)
        updated = [self.update, *(Signal(name=f"updated{age}") for age in ages)]
        banks = [self.bank, *(Signal.like(self.bank, name=f"bank{age}", reset_less=True) for age in ages)]
        for age in ages:
            before = self.leave & self.update if age == 1 else updated[age - 1]
            m.d.sync += [updated[age].eq(before), banks[age].eq(banks[age - 1])]
        moving, staying = zip(*(self._same(m, s) for s in range(len(self.bits))), strict=True)
        here = [updated[age] & (banks[age] == self.bank) for age in ages]
        moved = [all_of(same) for same in zip(*moving, strict=True)]
        stayed = [all_of(same) for same in zip(*staying, strict=True)]
        m.d.sync += self.pending.eq(
            Mux(
                self.leave,
                ~self.fresh & any_of(u & same for u, same in zip([self.update, *here], moved, strict=True)),
                any_of(u & same for u, same in zip(here, stayed[1:], strict=True)),
            )
        )
        return m

    def _same(self, m: Module, s: int) -> tuple[list[Signal], list[Signal]]:
        """For the ages from 0 up, whether the coordinate that head s has in the next cycle is that of the
        update of that age: if the heads leave in this cycle, and if they stay."""
        crd, following = getattr(self, f"crd{s}"), getattr(self, f"following{s}")
        place, same = crd, Signal(name=f"same{s}_0")
        moving, staying = [], []
        for age in range(self.latency - 1):
            new, old = Signal(name=f"moving{s}_{age}"), Signal(name=f"staying{s}_{age}")
            m.d.comb += [new.eq(following == place), old.eq(Mux(self.there[s], same, new))]
            moving.append(new)
            staying.append(old)
            next_place = Signal.like(crd, name=f"crd{s}_{age + 1}", reset_less=True)
            same = Signal(name=f"same{s}_{age + 1}")
            m.d.sync += [next_place.eq(place), same.eq(Mux(self.leave, new, old))]
            place = next_place
        return moving, staying
