"""All ports of a design to memory off the chip, and their masters (docs/memory.md)."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from amaranth.hdl import Cat, Elaboratable, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2, exact_log2

from samhw.errors import InputError
from samhw.graph.off_chip import OffChipLayout, OffChipPort, PlacedArray
from samhw.graph.off_chip import Ports as PortNumbers
from samhw.rtl.access import AskSignature, PutSignature
from samhw.rtl.axi4 import Axi4Signature
from samhw.rtl.logic import all_of, any_of
from samhw.rtl.off_chip.geometry import Geometry
from samhw.rtl.off_chip.master import (
    LEAST_OFFER,
    RequestArbiter,
    Sender,
    chosen,
    id_bits,
)
from samhw.rtl.off_chip.read_port import ReadPort
from samhw.rtl.off_chip.write_port import WritePort

__all__ = ["OffChipPorts", "OffChipSignature", "PortNeeds"]

_ADDRESS_BITS = 32
"""Of a master, unless its arrays take more."""


class PortNeeds(NamedTuple):
    """A port that a node of a fabric needs."""

    arrays: Mapping[int, PlacedArray]
    """The array that it reaches in each region that has it. Regions count as they run."""
    port: OffChipPort
    """In the first of these regions; all have the same number at the same master."""
    signature: AskSignature | PutSignature
    """Of the node."""

    @property
    def places(self) -> int:
        """Those of the largest array."""
        return max(array.places for array in self.arrays.values())

    @property
    def bases(self) -> Mapping[int, int]:
        """The first line of the array in each region."""
        return {turn: array.base // array.line_bytes for turn, array in self.arrays.items()}

    @property
    def ends(self) -> Mapping[int, int]:
        """The number of the last line of the array in each region, counted from its first one."""
        return {turn: max(array.lines - 1, 0) for turn, array in self.arrays.items()}


class OffChipSignature(wiring.Signature):
    """What lies between a fabric and its ports, seen from the fabric.

    Members:
        port<k>: to each port.
        base<k>: the first line of its array in the present region, if it has several.
        end<k>: of a port that reads, the number of the last line, if arrays differ in that.
        start: a bit for each region: it starts.
        fired: an actor of a port fires, or a request is not answered.
        settled: all ports rest, and all their requests are answered; `apart`, those of each region.
    """

    def __init__(self, ports: Sequence[PortNeeds], regions: int, *, apart: bool = False):
        self.ports = tuple(ports)
        super().__init__(
            {
                **{f"port{k}": Out(need.signature) for k, need in enumerate(ports)},
                **{f"base{k}": Out(bits) for k, need in enumerate(ports) if (bits := _varying(need.bases))},
                **{
                    f"end{k}": Out(bits)
                    for k, need in enumerate(ports)
                    if not need.port.write and (bits := _varying(need.ends))
                },
                "start": Out(regions),
                "fired": In(1),
                "settled": In(regions if apart else 1),
            }
        )


def _varying(numbers: Mapping[int, int]) -> int:
    """The bits of numbers that regions differ in; 0 if they do not."""
    return max(numbers.values()).bit_length() if len({*numbers.values()}) > 1 else 0


@dataclass
class _Port:
    need: PortNeeds
    unit: ReadPort | WritePort
    base: Value | int
    """The first line of its array."""

    @property
    def line(self) -> Value:
        """The line of its oldest request that no master has taken."""
        return self.unit.requests.line.payload + self.base

    @property
    def waits(self) -> Value:
        """There is such a request."""
        valid: Value = self.unit.requests.line.valid
        return valid


class OffChipPorts(wiring.Component):
    """The ports of all fabrics, and for each master its arbiter. Ports of different regions that have one
    number share its place at the arbiter, since these regions never run at one time.

    Args:
        apart: some regions run side by side, and each has an end of its own.

    Members:
        fabric: to the fabric.
        axi: the masters.

    Raises:
        InputError: for numbers of ports that hardware cannot have.
    """

    fabric: wiring.PureInterface
    axi: Sequence[wiring.PureInterface]

    def __init__(
        self, layout: OffChipLayout, needs: Sequence[PortNeeds], regions: int, *, apart: bool = False
    ):
        numbers = layout.ports
        if numbers.offer < LEAST_OFFER:
            raise InputError(
                f"Ports.offer is {numbers.offer}, but the RTL offers a request {LEAST_OFFER} cycles after it "
                f"is made, or later; give offer={LEAST_OFFER}."
            )
        self.layout = layout
        self._ports = [_Port(need, _unit(numbers, need), next(iter(need.bases.values()))) for need in needs]
        self._slots: list[dict[int, list[_Port]]] = [defaultdict(list) for _ in range(numbers.masters)]
        for port in self._ports:
            self._slots[port.need.port.array.master][port.need.port.number].append(port)
        masters = {
            f"axi{n}": In(_signature(layout, n, max(len(slots), 1))) for n, slots in enumerate(self._slots)
        }
        super().__init__({"fabric": In(OffChipSignature(needs, regions, apart=apart)), **masters})
        self.axi = [getattr(self, f"axi{n}") for n in range(numbers.masters)]

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        for k, port in enumerate(self._ports):
            m.submodules[f"port{k}"] = port.unit
            wiring.connect(m, wiring.flipped(getattr(self.fabric, f"port{k}")), port.unit.node)
            if isinstance(port.unit, WritePort):
                starts = (self.fabric.start[turn] for turn in sorted(port.need.arrays))
                m.d.comb += port.unit.start.eq(any_of(starts))
            if _varying(port.need.bases):
                port.base = getattr(self.fabric, f"base{k}")
            if isinstance(port.unit, ReadPort) and port.unit.varies:
                m.d.comb += port.unit.end.eq(getattr(self.fabric, f"end{k}"))
        units = [port.unit for port in self._ports]
        busy = (u.pending if isinstance(u, WritePort) else ~u.settled for u in units)
        m.d.comb += [
            self.fabric.fired.eq(any_of(unit.fired for unit in units) | any_of(busy)),
            self.fabric.settled.eq(Cat(self._settled(turns) for turns in self._ends())),
        ]
        for number, slots in enumerate(self._slots):
            if slots:
                self._master(m, number, [slots[n] for n in range(len(slots))])
        return m

    def _ends(self) -> list[Collection[int]]:
        """The regions of each bit of `settled`."""
        regions = range(self.fabric.signature.members["start"].shape)
        return [[turn] for turn in regions] if len(self.fabric.settled) > 1 else [regions]

    def _settled(self, turns: Collection[int]) -> Value:
        """The ports of some regions are."""
        own = (port for port in self._ports if not {*turns}.isdisjoint(port.need.arrays))
        return all_of(port.unit.settled for port in own)

    def _master(self, m: Module, number: int, slots: Sequence[Sequence[_Port]]) -> None:
        """A master with its ports, by their numbers."""
        numbers, axi = self.layout.ports, self.axi[number]
        stages = numbers.offer - LEAST_OFFER
        arbiter = RequestArbiter(len(slots), numbers.lines, early=max(stages - 1, 0))
        line_bits = axi.signature.address_bits - exact_log2(numbers.line)
        sender = Sender(axi.signature.flip(), len(slots), numbers.line, line_bits)
        m.submodules[f"arbiter{number}"] = arbiter
        m.submodules[f"sender{number}"] = sender
        m.d.comb += arbiter.made.eq(Cat(any_of(port.unit.requests.made for port in slot) for slot in slots))
        _take(m, arbiter.o, sender.i, slots, registered=stages > 0)
        wiring.connect(m, wiring.flipped(axi), sender.axi)
        _send(m, sender, slots)
        _answer(m, axi, slots, numbers.answer - 1)


def _unit(numbers: PortNumbers, need: PortNeeds) -> ReadPort | WritePort:
    array, node = need.port.array, need.signature
    geometry = Geometry(
        line=numbers.line,
        beat=numbers.beat,
        lines=numbers.lines,
        ahead=numbers.ahead,
        queue=numbers.queue,
        places=need.places,
        place=array.place_bytes,
        words=array.words,
        word=array.word_bytes,
        width=node.width,
    )
    if isinstance(node, PutSignature):
        return WritePort(geometry, node.addr_width, need.port.begins)
    return ReadPort(geometry, node.addr_width, node.note_width, varies=_varying(need.ends) > 0)


def _signature(layout: OffChipLayout, master: int, ports: int) -> Axi4Signature:
    bits = max(_ADDRESS_BITS, ceil_log2(max(layout.sizes[master], 1)))
    return Axi4Signature(bits, id_bits(ports), layout.ports.beat)


def _take(
    m: Module,
    order: wiring.PureInterface,
    sender: wiring.PureInterface,
    slots: Sequence[Sequence[_Port]],
    *,
    registered: bool,
) -> None:
    """Takes the requests from the ports, in order.

    Args:
        registered: the number of a port waits in a register until its line is looked up.
    """
    port: Value = order.payload
    valid: Value = order.valid
    if registered:
        waiting = Signal()
        number = Signal.like(order.payload)
        advance = ~waiting | sender.ready
        m.d.comb += order.ready.eq(advance)
        with m.If(advance):
            m.d.sync += [waiting.eq(order.valid), number.eq(order.payload)]
        port, valid = number, waiting
    else:
        m.d.comb += order.ready.eq(sender.ready)
    writes, lines = [], []
    for n, slot in enumerate(slots):
        here = Signal(name=f"takes{n}")
        m.d.comb += here.eq(port == n)
        for each in slot:
            m.d.comb += each.unit.requests.line.ready.eq(here & valid & sender.ready)
            lines.append((here & each.waits, each.line))
            if isinstance(each.unit, WritePort):
                writes.append(here & each.waits)
    m.d.comb += [
        sender.valid.eq(valid),
        sender.port.eq(port),
        sender.write.eq(any_of(writes)),
        sender.line.eq(chosen(lines)),
    ]


def _send(m: Module, sender: Sender, slots: Sequence[Sequence[_Port]]) -> None:
    """Joins the sender to the write ports."""
    data, strobes = [], []
    for n, slot in enumerate(slots):
        here = Signal(name=f"sends{n}")
        m.d.comb += here.eq(sender.port == n)
        for each in slot:
            if isinstance(each.unit, WritePort):
                m.d.comb += [each.unit.beat.eq(sender.beat), each.unit.sent.eq(here & sender.sent)]
                data.append((here & each.unit.sends, each.unit.data))
                strobes.append((here & each.unit.sends, each.unit.strobes))
    m.d.comb += [sender.data.eq(chosen(data)), sender.strobes.eq(chosen(strobes))]


def _answer(m: Module, axi: wiring.PureInterface, slots: Sequence[Sequence[_Port]], registers: int) -> None:
    """Takes answers to the ports, some cycles later."""
    beat = _late(m, {"valid": axi.rvalid, "id": axi.rid, "data": axi.rdata}, registers)
    done = _late(m, {"valid": axi.bvalid, "id": axi.bid}, registers)
    for n, slot in enumerate(slots):
        for each in slot:
            if isinstance(each.unit, WritePort):
                m.d.comb += each.unit.answered.eq(done["valid"] & (done["id"] == n))
            else:
                m.d.comb += [
                    each.unit.beat_valid.eq(beat["valid"] & (beat["id"] == n)),
                    each.unit.beat_data.eq(beat["data"]),
                ]


def _late(m: Module, values: Mapping[str, Value], registers: int) -> Mapping[str, Value]:
    """As they were some cycles ago. Only what is valid needs a reset."""
    for stage in range(registers):
        late = {
            name: Signal.like(value, name=f"{name}{stage}", reset_less=name != "valid")
            for name, value in values.items()
        }
        m.d.sync += [late[name].eq(value) for name, value in values.items()]
        values = late
    return values
