"""All ports of a design to memory off the chip, and their masters (docs/memory.md)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2, exact_log2

from samhw.errors import InputError
from samhw.graph.off_chip import OffChipLayout
from samhw.graph.off_chip_numbers import Ports as PortNumbers
from samhw.rtl.access import PutSignature
from samhw.rtl.axi4 import Axi4Signature
from samhw.rtl.counted import Counted, CountsSignature
from samhw.rtl.logic import all_of, any_of, chosen
from samhw.rtl.off_chip.geometry import Geometry
from samhw.rtl.off_chip.master import LEAST_OFFER, RequestArbiter, Sender, id_bits
from samhw.rtl.off_chip.needs import PortNeeds
from samhw.rtl.off_chip.read_port import ReadPort
from samhw.rtl.off_chip.write_port import WritePort
from samhw.rtl.shared import Shared

__all__ = ["OffChipPorts", "OffChipSignature"]

_ADDRESS_BITS = 32
"""Of a master, unless its arrays take more."""


class OffChipSignature(wiring.Signature):
    """What lies between a fabric and its ports, seen from the fabric.

    Members:
        port<k>: to each port.
        base<k>: the first line of its array in the present region.
        number<k>: that of the port at its master there.
        end<k>: of a port that reads, the number of the last line. Of these three there are those that regions
            differ in.
        start: a bit for each region: it starts.
        fired: an actor of a port fires, or a request is not answered.
        settled: all ports rest, and all their requests are answered; `apart`, those of each region.
        hold: with `recovery`, no request is passed on to a master any more.
        clear: with `recovery`, ports become as after a reset; only while `drained`.
        drained: with `recovery`, all masters have had all answers.
        counts<k>: with `counters`, those of each port.
    """

    def __init__(
        self,
        ports: Sequence[PortNeeds],
        regions: int,
        *,
        apart: bool = False,
        recovery: bool = False,
        counters: bool = False,
    ):
        self.ports = tuple(ports)
        super().__init__(
            {
                **{f"port{k}": Out(need.signature) for k, need in enumerate(ports)},
                **{
                    f"{name}{k}": Out(max(numbers.values()).bit_length())
                    for k, need in enumerate(ports)
                    for name, numbers in need.shared.by_region.items()
                },
                "start": Out(regions),
                "fired": In(1),
                "settled": In(regions if apart else 1),
                **({"hold": Out(1), "clear": Out(1), "drained": In(1)} if recovery else {}),
                **{f"counts{k}": In(CountsSignature()) for k in range(len(ports) * counters)},
            }
        )


@dataclass
class _Port:
    need: PortNeeds
    unit: ReadPort | WritePort | Counted
    base: Value | int
    """The first line of its array."""
    number: Value | int
    """Its own at its master. Between its regions it is of no meaning: then the port neither has a request nor
    waits for an answer."""

    @property
    def writes(self) -> bool:
        """It is a write port."""
        return self.need.shared.first.write

    @property
    def line(self) -> Value:
        """The line of its oldest request that no master has taken."""
        return self.unit.requests.line.payload + self.base

    @property
    def waits(self) -> Value:
        """There is such a request."""
        valid: Value = self.unit.requests.line.valid
        return valid

    def has(self, number: Value | int) -> Value:
        """It has this number in the present region."""
        return Value.cast(number == self.number)


class OffChipPorts(wiring.Component):
    """The ports of all fabrics, and for each master its arbiter. Ports that have one number in different
    regions share its place at the arbiter, since these regions never run at one time.

    Args:
        apart: some regions run side by side, and each has an end of its own.
        recovery: they can be cleared.
        counters: ports count what they spend a run on.

    Members:
        fabric: to the fabric.
        axi: the masters.

    Raises:
        InputError: for numbers of ports that hardware cannot have.
    """

    fabric: wiring.PureInterface
    axi: Sequence[wiring.PureInterface]

    def __init__(
        self,
        layout: OffChipLayout,
        needs: Sequence[PortNeeds],
        regions: int,
        *,
        apart: bool = False,
        recovery: bool = False,
        counters: bool = False,
    ):
        numbers = layout.ports
        if numbers.offer < LEAST_OFFER:
            raise InputError(
                f"Ports.offer is {numbers.offer}, but the RTL offers a request {LEAST_OFFER} cycles after it "
                f"is made, or later; give offer={LEAST_OFFER}."
            )
        self.layout = layout
        self.recovery = recovery
        self.counters = counters
        self._ports = [_port(numbers, need, counters) for need in needs]
        masters = {
            f"axi{n}": In(_signature(layout, n, max(_count(self._at(n)), 1))) for n in range(numbers.masters)
        }
        fabric = OffChipSignature(needs, regions, apart=apart, recovery=recovery, counters=counters)
        super().__init__({"fabric": In(fabric), **masters})
        self.axi = [getattr(self, f"axi{n}") for n in range(numbers.masters)]

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        for k, port in enumerate(self._ports):
            m.submodules[f"port{k}"] = port.unit
            wiring.connect(m, wiring.flipped(getattr(self.fabric, f"port{k}")), port.unit.node)
            if port.writes:
                shared = port.need.shared
                m.d.comb += [
                    port.unit.start.eq(self._starts(shared.ports)),
                    port.unit.begin.eq(self._starts(shared.begins)),
                ]
            elif "end" in port.need.shared.by_region:
                m.d.comb += port.unit.end.eq(getattr(self.fabric, f"end{k}"))
            if "base" in port.need.shared.by_region:
                port.base = getattr(self.fabric, f"base{k}")
            if "number" in port.need.shared.by_region:
                port.number = getattr(self.fabric, f"number{k}")
            if self.counters:
                wiring.connect(m, wiring.flipped(getattr(self.fabric, f"counts{k}")), port.unit.counts)
        busy = (port.unit.pending if port.writes else ~port.unit.settled for port in self._ports)
        m.d.comb += [
            self.fabric.fired.eq(any_of(port.unit.fired for port in self._ports) | any_of(busy)),
            self.fabric.settled.eq(Cat(self._settled(turns) for turns in self._ends())),
        ]
        masters = [self._master(m, n) for n in range(self.layout.ports.masters) if self._at(n)]
        if self.recovery:
            parts = [port.unit for port in self._ports] + [part for own, _ in masters for part in own]
            self._clear(m, parts, [drained for _, drained in masters])
        return m

    def _at(self, master: int) -> list[_Port]:
        """The ports of a master."""
        return [port for port in self._ports if port.need.shared.first.array.master == master]

    def _starts(self, turns: Collection[int]) -> Value:
        """One of some regions does."""
        return any_of(self.fabric.start[turn] for turn in sorted(turns))

    def _ends(self) -> list[Collection[int]]:
        """The regions of each bit of `settled`."""
        regions = range(self.fabric.signature.members["start"].shape)
        return [[turn] for turn in regions] if len(self.fabric.settled) > 1 else [regions]

    def _settled(self, turns: Collection[int]) -> Value:
        """The ports of some regions are."""
        own = (port for port in self._ports if not {*turns}.isdisjoint(port.need.shared.ports))
        return all_of(port.unit.settled for port in own)

    def _clear(self, m: Module, parts: Sequence[Shared], drained: Sequence[Value]) -> None:
        """Nothing is cleared before all masters have had their answers: AXI4 wants each burst ended."""
        for part in parts:
            part.clear = self.fabric.clear
        m.d.comb += self.fabric.drained.eq(all_of(drained))

    def _master(self, m: Module, master: int) -> tuple[Sequence[Shared], Value]:
        """A master with its ports; gives its parts, and whether it has had all answers."""
        numbers, axi, ports = self.layout.ports, self.axi[master], self._at(master)
        stages = numbers.offer - LEAST_OFFER
        count = _count(ports)
        arbiter = RequestArbiter(count, numbers.lines, early=max(stages - 1, 0))
        line_bits = axi.signature.address_bits - exact_log2(numbers.line)
        writers = [port for port in ports if port.writes]
        sender = Sender(axi.signature.flip(), count, numbers.line, line_bits, len(writers))
        m.submodules[f"arbiter{master}"] = arbiter
        m.submodules[f"sender{master}"] = sender
        m.d.comb += arbiter.made.eq(Cat(_made(ports, number) for number in range(count)))
        hold = self.fabric.hold if self.recovery else Const(0)
        _take(m, arbiter.o, sender.i, ports, hold, registered=stages > 0)
        wiring.connect(m, wiring.flipped(axi), sender.axi)
        _send(m, sender, writers)
        answers = _answer(m, axi, ports, numbers.answer - 1)
        drained = _drained(m, sender.i, answers, numbers, count) if self.recovery else Const(1)
        return (arbiter, sender), drained


def _count(ports: Sequence[_Port]) -> int:
    """How many numbers the ports of a master have."""
    return 1 + max((number for port in ports for number in port.need.shared.numbers), default=-1)


def _made(ports: Sequence[_Port], number: int) -> Value:
    """The port that has a number in the present region makes a request."""
    own = (port for port in ports if number in port.need.shared.numbers)
    return any_of(port.unit.requests.made & port.has(number) for port in own)


def _port(numbers: PortNumbers, need: PortNeeds, counters: bool) -> _Port:
    first, unit = need.shared.first, _unit(numbers, need)
    return _Port(
        need, Counted(unit.make) if counters else unit, first.array.base // numbers.line, first.number
    )


def _unit(numbers: PortNumbers, need: PortNeeds) -> ReadPort | WritePort:
    array, node = need.shared.first.array, need.signature
    geometry = Geometry(
        line=numbers.line,
        beat=numbers.beat,
        lines=numbers.lines,
        ahead=numbers.ahead,
        queue=numbers.queue,
        places=need.shared.places,
        place=array.place_bytes,
        words=array.words,
        word=array.word_bytes,
        width=node.width,
    )
    if isinstance(node, PutSignature):
        return WritePort(geometry, node.addr_width)
    return ReadPort(geometry, node.addr_width, node.note_width, varies="end" in need.shared.by_region)


def _signature(layout: OffChipLayout, master: int, ports: int) -> Axi4Signature:
    bits = max(_ADDRESS_BITS, ceil_log2(max(layout.sizes[master], 1)))
    return Axi4Signature(bits, id_bits(ports), layout.ports.beat)


def _take(
    m: Module,
    order: wiring.PureInterface,
    sender: wiring.PureInterface,
    ports: Sequence[_Port],
    hold: Value,
    *,
    registered: bool,
) -> None:
    """Takes the requests from the ports, in order.

    Args:
        hold: the sender gets none.
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
    for k, each in enumerate(ports):
        here = Signal(name=f"takes{k}")
        m.d.comb += [
            here.eq(each.has(port)),
            each.unit.requests.line.ready.eq(here & valid & sender.ready),
        ]
        lines.append((here & each.waits, each.line))
        if each.writes:
            writes.append(here & each.waits)
    m.d.comb += [
        sender.valid.eq(valid & ~hold),
        sender.port.eq(port),
        sender.source.eq(any_of(Mux(here, number, 0) for number, here in enumerate(writes))),
        sender.write.eq(any_of(writes)),
        sender.line.eq(chosen(lines)),
    ]


def _send(m: Module, sender: Sender, writers: Sequence[_Port]) -> None:
    """Joins the sender to the write ports. A burst keeps its port, whatever becomes of the region."""
    data, strobes = [], []
    for number, each in enumerate(writers):
        here = Signal(name=f"sends{number}")
        m.d.comb += [
            here.eq(sender.source == number),
            each.unit.beat.eq(sender.beat),
            each.unit.sent.eq(here & sender.sent),
        ]
        data.append((here & each.unit.sends, each.unit.data))
        strobes.append((here & each.unit.sends, each.unit.strobes))
    m.d.comb += [sender.data.eq(chosen(data)), sender.strobes.eq(chosen(strobes))]


def _answer(
    m: Module, axi: wiring.PureInterface, ports: Sequence[_Port], registers: int
) -> tuple[Value, Value]:
    """Takes answers to the ports, some cycles later; gives whether a beat and a response come."""
    beat = _late(m, {"valid": axi.rvalid, "id": axi.rid, "data": axi.rdata}, registers)
    done = _late(m, {"valid": axi.bvalid, "id": axi.bid}, registers)
    for each in ports:
        if each.writes:
            m.d.comb += each.unit.answered.eq(done["valid"] & each.has(done["id"]))
        else:
            m.d.comb += [
                each.unit.beat_valid.eq(beat["valid"] & each.has(beat["id"])),
                each.unit.beat_data.eq(beat["data"]),
            ]
    return beat["valid"], done["valid"]


def _drained(
    m: Module,
    taken: wiring.PureInterface,
    answers: tuple[Value, Value],
    numbers: PortNumbers,
    count: int,
) -> Value:
    """Whether a master, with that many numbers of ports, has had all answers: the beats of lines that it has
    read, and responses to what it has written."""
    outstanding = Signal(range(count * numbers.lines * numbers.beats + 1))
    asked = Mux(taken.valid & taken.ready, Mux(taken.write, 1, numbers.beats), 0)
    beat, response = answers
    m.d.sync += outstanding.eq(outstanding + asked - beat - response)
    return outstanding == 0


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
