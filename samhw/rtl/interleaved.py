"""Memories in banks, and the ports to them (docs/timing.md, "Interleaved memories")."""

from collections.abc import Callable, Collection, Mapping, Sequence

from amaranth.hdl import Array, Const, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from samhw.graph import Design
from samhw.graph.address_map import Window
from samhw.graph.banks import BankPort, bank_users
from samhw.rtl.access import AskSignature, MemoryReadSignature
from samhw.rtl.channel import Fifo
from samhw.rtl.counted import Counted
from samhw.rtl.firing import Watched, watch
from samhw.rtl.interface import Turns
from samhw.rtl.logic import any_of, in_turn
from samhw.rtl.memories import TENSOR, Sharer, TensorMemory, Writing
from samhw.rtl.shared import Shared
from samhw.rtl.token import KIND_BITS
from samhw.rtl.units.unit import delayed

__all__ = ["BankPorts", "InterleavedMemory"]

_ASK, _WAIT = 2, 6
"""The depths of the channels."""

_ANSWER = 3
"""Cycles from the address to the word: L of `wait`, less that of its channel."""


class _Port(Shared):
    """A port to a memory in banks: the actors *take* and *deliver*.

    Args:
        addr_width, width, note_width: as of `AskSignature`.
        bank_bits: those of the number of a bank.

    Members:
        node: to the node.
        memory: to the memory, which answers in _ANSWER cycles.
        due: the bank whose turn it is.
    """

    node: wiring.PureInterface
    memory: wiring.PureInterface
    due: Signal

    def __init__(self, addr_width: int, width: int, note_width: int, bank_bits: int):
        self.width = width
        super().__init__(
            {
                "node": In(AskSignature(addr_width, width, note_width)),
                "memory": Out(MemoryReadSignature(addr_width, width)),
                "due": In(bank_bits),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        asked, told = self.node.ask.token.shape(), self.node.told.payload.shape()
        reads = 1 << asked["reads"].offset
        waiting = data.StructLayout({"token": told, "word": self.width})
        m.submodules.asks = asks = Fifo(asked, _ASK, early=reads | (1 << KIND_BITS + len(self.due)) - 1)
        m.submodules.waits = waits = Fifo(waiting, _WAIT)
        wiring.connect(m, wiring.flipped(self.node.ask), asks.i)

        head = asks.o.payload
        is_due = ~head.reads | (head.payload[: len(self.due)] == self.due)
        takes = Signal()
        passed = Signal(told)
        strobes = Signal(_ANSWER)
        m.d.sync += strobes.eq((strobes << 1) | takes)
        m.d.comb += [
            takes.eq(asks.o.valid & is_due & waits.i.ready),
            asks.o.ready.eq(is_due & waits.i.ready),
            passed.kind.eq(head.kind),
            passed.payload.eq(Mux(head.reads, 0, head.payload)),
            passed.reads.eq(head.reads),
            passed.note.eq(head.note),
            self.memory.addr.eq(head.payload),
            self.memory.en.eq(takes & head.reads),
            waits.i.push.eq(takes),
            waits.i.strobe.eq(strobes[-1]),
            waits.i.token.token.eq(delayed(m, passed, _ANSWER)),
            waits.i.token.word.eq(self.memory.data),
        ]
        m.d.comb += [
            self.node.told.valid.eq(waits.o.valid),
            self.node.told.payload.eq(waits.o.payload.token),
            waits.o.ready.eq(self.node.told.ready),
        ]
        delivers = waits.o.valid & waits.o.ready
        watch(m, Watched(takes, asks.o.valid, waits.i.ready))
        watch(m, Watched(delivers, waits.o.valid, waits.o.ready))
        with m.If(delivers):
            m.d.sync += self.node.data.eq(waits.o.payload.word)
        return m


class BankPorts:
    """The ports of all fabrics to memories in banks.

    Args:
        off_chip: the memories that do not lie on the chip.
        counters: ports count what they spend a run on.

    Attributes:
        uses: each port with the number of its fabric.
        parts: its hardware, by fabric, node, parameter and word.
    """

    def __init__(self, design: Design, off_chip: Collection[str], *, counters: bool = False):
        self.uses = bank_users(design, off_chip)
        self.parts: dict[tuple[int, str, str, int], _Port | Counted] = {}
        self._counters = counters
        self._banks = {memory.name: memory.banks for memory in design.memories}

    def make(self, port_of: Callable[[int, BankPort], wiring.PureInterface]) -> None:
        """Makes the parts; `port_of` gives the port of a node that one stands at."""
        for fabric, port in self.uses:
            asked = port_of(fabric, port).signature
            bits = (self._banks[port.memory] - 1).bit_length()
            made = _Port(asked.addr_width, asked.width, asked.note_width, bits)
            part = Counted(made.make) if self._counters else made
            self.parts[fabric, port.node, port.param, port.word] = part

    def connect(
        self,
        m: Module,
        start: Value,
        memories: Collection[str],
        port_of: Callable[[int, BankPort], wiring.PureInterface],
        names: Mapping[tuple[int, str], str],
    ) -> Value:
        """Joins those of some memories to their nodes; gives the cycle of the region, modulo the most banks.

        Args:
            start: of some region that reads the memories: its cycle 0.
            names: of the submodules of nodes.
        """
        most = max(self._banks[name] for name in memories)
        cycle = Signal((most - 1).bit_length())
        m.d.sync += cycle.eq(Mux(start, 1, cycle + 1))
        due = [Signal(len(cycle), name=f"due{phase}") for phase in range(most)]
        m.d.comb += [signal.eq(cycle + phase) for phase, signal in enumerate(due)]
        for fabric, port in self.uses:
            if port.memory not in memories:
                continue
            part = self.parts[fabric, port.node, port.param, port.word]
            suffix = "_next" if port.word else ""
            m.submodules[f"bank_{names[fabric, port.node]}_{port.param}{suffix}"] = part
            wiring.connect(m, port_of(fabric, port), part.node)
            m.d.comb += part.due.eq(due[port.number >> 1])
        return cycle


class InterleavedMemory(TensorMemory):
    """A memory in banks. Its read ports answer in _ANSWER cycles: a register stands after the way of an
    address to its bank, one in the bank, and one after the way of the word to its port.

    Args beside those of `TensorMemory`:
        banks: how many there are.
        ports: the number of each read port in its region.

    Members:
        cycle: that of the region, modulo `banks`.
    """

    cycle: Signal

    def __init__(
        self,
        window: Window,
        *,
        regions: int,
        readers: Sequence[Turns],
        writers: Sequence[Turns] = (),
        banks: int,
        ports: Sequence[int],
    ):
        self.banks = banks
        self.ports = tuple(ports)
        self.bank_bits = (banks - 1).bit_length()
        more: dict[str, object] = {"cycle": In(self.bank_bits)}
        super().__init__(window, regions=regions, readers=readers, writers=writers, more=more)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        self._addresses = [self._at_banks(m, plane) for plane in range(2)]
        self._late_cycle = delayed(m, self.cycle, _ANSWER - 1)
        self.connect_host(m)
        return m

    def part(self, m: Module, number: int, place: Value, enable: Value) -> Value:
        width = self.window.width // self.parts
        writing = self.writing(number, place, enable)
        depth = -(-self.window.memory.capacity // self.banks)
        words: list[list[Value]] = [[], []]
        for bank in range(self.banks):
            stored = memory.Memory(shape=width, depth=depth, init=[], attrs={TENSOR: 1})
            m.submodules[f"bank{number}_{bank}"] = stored
            for plane, word in enumerate(self._bank(m, stored, bank, writing, place)):
                words[plane].append(word)
        for plane, own in enumerate(words):
            found = _rotated(m, own, self._late_cycle, f"word{number}_{plane}")
            for phase, word in enumerate(found):
                late = delayed(m, word)
                m.d.comb += [
                    sink.data.word_select(number, width).eq(late)
                    for _, _, sink in self._slot(2 * phase + plane)
                ]
        if self.is_input:
            return Const(0)
        return Array(words[0])[delayed(m, place[: self.bank_bits])]

    def _bank(
        self, m: Module, stored: memory.Memory, bank: int, writing: Writing, place: Value
    ) -> tuple[Value, Value]:
        """What the two read ports of a bank find. The first has the address of what writes, or of the host,
        in their turns, so that both ports of a block memory serve."""
        write, first, second = stored.write_port(), stored.read_port(), stored.read_port()
        one, other = (addresses[bank] for addresses in self._addresses)
        own = writing.addr[: self.bank_bits] == bank
        if not self.is_input:
            one = Mux(self.turn[-1], place >> self.bank_bits, one)
        at = Mux(writing.turn, writing.addr >> self.bank_bits, one)
        m.d.comb += [
            write.addr.eq(at),
            write.data.eq(writing.data),
            write.en.eq(writing.en & writing.turn & own),
            first.addr.eq(at),
            first.en.eq(~writing.turn),
            second.addr.eq(other),
            second.en.eq(~writing.turn),
        ]
        return first.data, second.data

    def _at_banks(self, m: Module, plane: int) -> list[Value]:
        """The addresses that come to the banks, a cycle after the ports have given them."""
        places: list[Value] = []
        for phase in range(self.banks):
            sharers = self._slot(2 * phase + plane)
            places.append(in_turn((turn, at) for turn, at, _ in sharers) if sharers else Const(0))
        back = (-self.cycle)[: self.bank_bits]
        found = _rotated(m, [at >> self.bank_bits for at in places], back, f"place{plane}")
        return [delayed(m, at) for at in found]

    def _slot(self, port: int) -> list[Sharer]:
        """Who has the port of that number, each in its regions."""
        return [
            (any_of(self.turn[region] for region in sorted(regions)), read.addr, read)
            for own, regions, read in zip(self.ports, self.readers, self.reads, strict=True)
            if own == port
        ]


def _rotated(m: Module, words: list[Value], by: Value, name: str) -> list[Value]:
    """The words, of which number k + `by` comes to place k; their number is a power of two."""
    for bit, chosen_bit in enumerate(by):
        width = max(len(word) for word in words)
        stage = [Signal(width, name=f"{name}_{bit}_{k}") for k in range(len(words))]
        for k, signal in enumerate(stage):
            m.d.comb += signal.eq(Mux(chosen_bit, words[(k + (1 << bit)) % len(words)], words[k]))
        words = list(stage)
    return words
