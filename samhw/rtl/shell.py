"""What a fabric is connected to: its tensors in memories on the chip, and a host at a port of AXI4-Lite or
AXI4."""

from collections.abc import Mapping
from functools import partial

from amaranth.hdl import Array, Cat, Const, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from samhw.graph import Arch, MemoryRole
from samhw.graph.address_map import REGION, AddressMap, Control, Register, Status, Window
from samhw.graph.pools import Pool
from samhw.rtl.burst_port import BurstPort
from samhw.rtl.host_port import FarSignature, HostPort
from samhw.rtl.interface import MemorySignature, RunSignature, extent_members, memory_members
from samhw.rtl.interleaved import InterleavedMemory
from samhw.rtl.logic import any_of, at_most
from samhw.rtl.memories import TensorMemory
from samhw.rtl.ping_pong import PingPongMemory
from samhw.rtl.units.unit import delayed

__all__ = ["Shell"]

Port = HostPort | BurstPort
Memory = TensorMemory | PingPongMemory

CLEARING = 2
"""Cycles that a reset takes (docs/host_port.md)."""


class Shell(wiring.Component):
    """The memories of a design, the registers with its extents, and the host's port to all of it
    (docs/host_port.md).

    Args:
        map: where the host finds everything.
        ports: the interface of each memory of the fabric.

    Members:
        axi: the host's port.
        irq: with `map.host.interrupt`, to the host.
        far: with `map.sdram`, the host's way there, which is open between runs.
        held: with `map.host.recovery`, a request waits until what was under way is cleared.
        clearing: with `drains`, memory off the chip has still to answer what was under way.
        run, extents, memories: as of `Fabric`, from the other side.

    Attributes:
        drains: a run can be ended while memory off the chip has still to answer.
    """

    axi: wiring.PureInterface
    far: wiring.PureInterface
    run: wiring.PureInterface
    extents: wiring.PureInterface
    memories: wiring.PureInterface

    def __init__(self, map: AddressMap, arch: Arch, ports: Mapping[str, MemorySignature]):
        self.map = map
        self.ports = ports
        design = map.design
        names = memory_members(ports)
        memories = {names[name]: Out(signature) for name, signature in ports.items()}
        extents = {name: Out(arch.index_bits) for name in extent_members(design).values()}
        host, bits = map.host, map.address_bits
        self.drains = host.recovery and map.layout is not None
        far = map.sdram is not None
        self._port: Port = BurstPort(bits, host.id_bits) if host.bursts else HostPort(bits, far)
        run = RunSignature(
            regions=len(design.regions),
            channels=len(design.built_channels),
            recovery=host.recovery,
            drains=self.drains,
            counted=len(map.counters),
        )
        super().__init__(
            {
                "axi": Out(self._port.axi.signature),
                "run": In(run),
                "extents": Out(wiring.Signature(extents)),
                "memories": In(wiring.Signature(memories)),
                **({"irq": Out(1)} if host.interrupt else {}),
                **({"held": Out(1)} if host.recovery else {}),
                **({"clearing": Out(1)} if self.drains else {}),
                **({"far": Out(FarSignature(bits - 1))} if far else {}),
            }
        )
        self._bank = Signal()  # the host's, with `map.host.pingpong`
        self._enabled = Signal(len(Status))
        self._pending = Signal(len(Status))

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.host_port = host = self._port
        wiring.connect(m, wiring.flipped(self.axi), host.axi)
        memories = self._memories(m)
        names = extent_members(self.map.design)
        extents: dict[str, Signal] = {index: getattr(self.extents, names[index]) for index in names}
        if self.map.host.pingpong:
            # The host's; those of the fabric stay as they are in a run.
            extents = {index: Signal.like(extent) for index, extent in extents.items()}
        self._host_writes(m, host, memories, extents)
        self._host_reads(m, host, memories, extents)
        if isinstance(host, HostPort) and host.has_far:
            wiring.connect(m, host.far, wiring.flipped(self.far))
            m.d.comb += host.open.eq(~self._running)
        return m

    def _memories(self, m: Module) -> dict[str, Memory]:
        memories: dict[str, Memory] = {}
        # From registers, since they choose among all who share a port. A region's first access comes two
        # cycles after its start, when its root has fired, and the host waits a cycle after the end.
        region, design = self.run.region, self.map.design
        number = {of: place for place, of in enumerate(design.turns)}
        beside = {
            number[of]: frozenset(number[other] for other in others) for of, others in design.beside.items()
        }
        turn = delayed(m, Cat(region, ~region.any()))
        members = memory_members(self.ports)
        for pool in self.map.pools:
            member, ports = members[pool.name], self.ports[pool.name]
            whole = self.map.whole(pool)
            make = partial(_memory, whole, ports, len(design.regions), beside)
            tensor: Memory
            if self._has_banks(pool):
                tensor = PingPongMemory(make)
                m.d.comb += tensor.bank.eq(self._bank)
            else:
                tensor = make()
            memories[pool.name] = tensor
            m.submodules[member] = tensor
            m.d.comb += tensor.turn.eq(turn)
            fabric = wiring.flipped(getattr(self.memories, member))
            if ports.banks:
                m.d.comb += tensor.cycle.eq(fabric.cycle)
            for port, read in zip(ports.reads, tensor.reads, strict=True):
                wiring.connect(m, getattr(fabric, port), read)
            if ports.writers:
                for port, write in zip(ports.writes, tensor.writes, strict=True):
                    wiring.connect(m, getattr(fabric, port), write)
        return memories

    def _has_banks(self, pool: Pool) -> bool:
        """The host reaches it in a run, too. What only passes between regions is in one bank."""
        roles = {self.map.design.memory[name].role for name in pool.bases}
        return self.map.host.pingpong and roles != {MemoryRole.BUFFER}

    def _host_writes(
        self, m: Module, host: Port, memories: dict[str, Memory], extents: dict[str, Signal]
    ) -> None:
        """CONTROL always; extents, up to the greatest, and input memories only between runs, unless there are
        two banks. Memories of indices take only words that fit. Who takes a word is known a cycle before it
        is written."""
        accepted = []

        def takes(name: str, here: Value) -> Signal:
            accepted.append(Signal(name=f"takes_{name}"))
            m.d.sync += accepted[-1].eq(here)
            return accepted[-1]

        is_control = takes("control", host.next_addr == Register.CONTROL)
        asked = host.write & is_control
        idle, taken = self._control(m, asked, host.write_data)
        if self.map.host.pingpong:
            swaps = asked & (host.write_data[:3] == Control.SWAP) & idle
            self._exchange(m, taken, swaps, extents)
            idle = Const(1)
        for enable, address in zip(self._interrupts(m, host.write_data), self.map.interrupts, strict=True):
            m.d.comb += enable.eq(host.write & takes(enable.name, host.next_addr == address))
        for index, register in extents.items():
            here = host.next_addr == self.map.extents[index]
            fits = at_most(host.next_data, self.map.design.extents[index])
            with m.If(host.write & takes(index, here & idle & fits)):
                m.d.sync += register.eq(host.write_data)
        for index in self.map.design.fixed:
            # A host that writes what it is anyway need not know that it is fixed.
            here = host.next_addr == self.map.extents[index]
            takes(index, here & idle & (host.next_data == self.map.design.extents[index]))
        for pool in self.map.pools:
            tensor = memories[pool.name]
            if not tensor.is_input:
                continue
            taken = []
            for name in pool.bases:
                window = self.map.windows[name]
                here, _ = _within(window, host.next_addr)
                # The bits of a value that are not stored do not count; those of an index would be missed.
                fits = Const(1) if window.memory.is_value else (host.next_data >> window.width) == 0
                taken.append(takes(name, here & idle & fits))
            _, word = self._in_pool(pool, host.store_addr)
            m.d.comb += [tensor.host.addr.eq(word), tensor.host.data.eq(host.store_data)]
            # From a register, since it has many words to reach: a cycle later.
            m.d.sync += tensor.host.en.eq(host.write & any_of(taken))
        m.d.comb += host.write_ok.eq(any_of(accepted))

    def _control(self, m: Module, asked: Value, word: Value) -> tuple[Value, Value]:
        """What `word` does if CONTROL is `asked` to take it. Gives whether extents and memories are the
        host's in the next cycle, and whether a start is taken, which begins a run."""
        run, host = self.run, self.map.host
        starts = asked & word[0]
        rests = ~(run.running | run.request | Cat(run.error).any())
        if not (host.recovery or host.bursts):
            # From a register, since a request starts the roots, and they fire, in the same cycle.
            m.d.sync += run.request.eq(starts)
            return ~run.running, starts & rests
        held, clears = Const(0), Const(0)
        waits = Const(0)
        if host.recovery:
            held, clears = self.held, asked & word[1]
            clearing = Signal(CLEARING)
            goes_on: Value = clearing >> 1
            if self.drains:
                goes_on = Mux(run.drained, goes_on, clearing)
                m.d.comb += self.clearing.eq(clearing[0])
            following = Mux(clears, (1 << CLEARING) - 1, goes_on)
            waits = following[0]
            m.d.comb += run.clear.eq(clearing[0])
            m.d.sync += [clearing.eq(following), held.eq((starts | held) & waits)]
        m.d.sync += run.request.eq((starts | held) & ~waits)
        # A start that an error holds back changes nothing.
        failed = Cat(run.error).any()
        begins = held | (starts & clears) | ((starts | run.request) & ~failed)
        return ~(run.running | begins), starts & ~held & (waits | rests)

    def _exchange(self, m: Module, taken: Value, swaps: Value, extents: Mapping[str, Signal]) -> None:
        """Exchanges the banks. A start that is `taken` gives the run its extents, too."""
        names = extent_members(self.map.design)
        with m.If(taken):
            m.d.sync += [getattr(self.extents, names[index]).eq(own) for index, own in extents.items()]
        with m.If(taken | swaps):
            m.d.sync += self._bank.eq(~self._bank)

    def _interrupts(self, m: Module, word: Value) -> list[Signal]:
        """The registers of interrupts, if there are any; gives the signals by which each takes `word`."""
        if not self.map.host.interrupt:
            return []
        takes_enable = Signal(name="interrupt_enable")
        takes_pending = Signal(name="interrupts")
        status = Signal(3)
        before = Signal(3)
        m.d.comb += [
            status.eq(self._status() & (Status.DONE | Status.ERROR)),
            self.irq.eq((self._enabled & self._pending).any()),
        ]
        cleared = Mux(takes_pending, word, 0)
        m.d.sync += [before.eq(status), self._pending.eq((self._pending & ~cleared) | (status & ~before))]
        with m.If(takes_enable):
            m.d.sync += self._enabled.eq(word & (Status.DONE | Status.ERROR))
        return [takes_enable, takes_pending]

    @property
    def _running(self) -> Value:
        """A run is under way, or the memory off the chip has still to answer what was asked in one."""
        running: Value = self.run.running
        return running | self.clearing if self.drains else running

    def _status(self) -> Value:
        """STATUS, in the bits of `Status`."""
        return Cat(self._running, self.run.done, Cat(self.run.error).any())

    def _host_reads(
        self, m: Module, host: Port, memories: dict[str, Memory], extents: dict[str, Signal]
    ) -> None:
        """In the first cycle, addresses are decoded and memories read; in the second, one of the registers is
        picked, and the word of each memory goes to a register of its own, since it comes late; in the third,
        one of these words is picked."""
        registers = self._registers(m, extents)
        number = host.read_addr[2:]
        width = max(1, (len(registers) - 1).bit_length())
        chosen = Signal(width)
        is_register = Signal()
        m.d.sync += [chosen.eq(number[:width]), is_register.eq(at_most(number, len(registers) - 1))]
        word = Signal(32)
        word_ok = Signal()
        m.d.sync += [word.eq(Mux(is_register, Array(registers)[chosen], 0)), word_ok.eq(is_register)]

        idle = ~delayed(m, self.run.running)  # the memories are the host's
        found = [word_ok]
        words = [word]
        if counters := self.map.counters:
            here = (host.read_addr >= counters.start) & (host.read_addr < counters.stop)
            counted = delayed(m, here, 2)
            # They begin at a multiple of their size.
            m.d.comb += self.run.counter.eq(host.read_addr[2:])
            words.append(Mux(counted, self.run.count, 0))
            found.append(counted)
        if len(cycles := self.map.region_cycles) > 1:
            here = (host.read_addr >= cycles.start) & (host.read_addr < cycles.stop)
            m.d.comb += self.run.spent_of.eq((host.read_addr - cycles.start) >> 2)
            words.append(Mux(delayed(m, here, 2), delayed(m, self.run.spent), 0))
        for pool in self.map.pools:
            name, tensor = pool.name, memories[pool.name]
            if not tensor.is_input:
                here, address = self._in_pool(pool, host.read_addr)
                hit = Signal(name=f"hit_{name}")
                fetched_ok = Signal(name=f"fetched_ok_{name}")
                # Enabled for as long as the address stays, since a block memory may stop the register at its
                # output with this enable.
                m.d.comb += [tensor.host.addr.eq(address), tensor.host.en.eq(here)]
                m.d.sync += [hit.eq(here if self._has_banks(pool) else here & idle), fetched_ok.eq(hit)]
                words.append(Mux(fetched_ok, delayed(m, tensor.host.data), 0))
                found.append(fetched_ok)
        m.d.sync += [host.read_data.eq(any_of(words)), host.read_ok.eq(any_of(found))]

    def _in_pool(self, pool: Pool, address: Value) -> tuple[Value, Value]:
        """Whether a byte address is that of a word of one of its arrays, and which word of the pool."""
        found = [_within(self.map.windows[name], address) for name in pool.bases]
        if len(found) == 1:
            return found[0]
        parts = self.map.whole(pool).words // max(pool.capacity, 1)
        words = (
            Mux(here, word + base * parts if parts > 1 else word | base, 0)
            for (here, word), base in zip(found, pool.bases.values(), strict=True)
        )
        return any_of(here for here, _ in found), any_of(words)

    def _registers(self, m: Module, extents: dict[str, Signal]) -> list[Value]:
        """What each register reads, from address 0 on."""
        run = self.run
        by_address: dict[int, Value] = {
            Register.CONTROL: Const(0, 32),
            Register.STATUS: self._status(),
            Register.ERROR: Cat(run.error, Const(0, REGION - len(Cat(run.error))), run.error_region),
            Register.ERROR_NODE: run.error_node,
            Register.CYCLES_LO: run.cycle[:32],
            Register.CYCLES_HI: run.cycle[32:],
            Register.IDENTITY: Const(self.map.identity, 32),
        }
        by_address |= {self.map.extents[index]: register for index, register in extents.items()}
        greatest = self.map.design.extents
        by_address |= {self.map.extents[index]: Const(greatest[index], 32) for index in self.map.design.fixed}
        cycles = self.map.region_cycles  # Those of one region alone are a register as others are.
        by_address |= dict.fromkeys(cycles, Const(0)) if len(cycles) > 1 else {cycles[0]: run.spent}
        # From registers, which may lie where the host reads them: the channels' own belong to the channels.
        states = delayed(m, Cat(Cat(empty, full) for empty, full in zip(run.empty, run.full, strict=True)))
        for n, address in enumerate(self.map.channel_states):
            by_address[address] = states[32 * n : 32 * (n + 1)]
        by_address |= dict(zip(self.map.interrupts, (self._enabled, self._pending), strict=False))
        registers = [by_address[4 * n] for n in range(len(by_address))]
        return [_word(register) for register in registers]


def _memory(
    window: Window, ports: MemorySignature, regions: int, beside: Mapping[int, frozenset[int]]
) -> TensorMemory:
    """The memory that all nodes reach by these ports."""
    if ports.banks:
        return InterleavedMemory(
            window,
            regions=regions,
            readers=ports.readers,
            writers=ports.writers,
            banks=ports.banks,
            ports=ports.ports,
        )
    return TensorMemory(window, regions=regions, readers=ports.readers, writers=ports.writers, beside=beside)


def _word(value: Value) -> Value:
    return Cat(value, Const(0, 32 - len(value))) if len(value) < 32 else value


def _within(window: Window, address: Value) -> tuple[Value, Value]:
    """Whether a byte address is that of a word of a memory, and which one."""
    bits = (window.size - 1).bit_length()
    word = address[2:bits]
    here = address[bits:] == window.base >> bits
    return (here & at_most(word, window.words - 1) if window.words << 2 < window.size else here), word
