"""What reduce_vector and recur_vector have in common: all but the step and its value streams."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from amaranth.hdl import Cat, Const, Elaboratable, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from samhw.graph import Arch
from samhw.primitives.bank_filler.component import BankFiller
from samhw.primitives.banked_memory.component import BankedMemory
from samhw.primitives.bitmap_walker.component import INDEX_BITS, BitmapWalker
from samhw.primitives.row_emitter.component import RowEmitter
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.channel import Fifo
from samhw.rtl.reduction_step import BlockStep, ReduceStep, RescaleStep
from samhw.rtl.token import CONTROL, token_layout, token_width

__all__ = ["VectorReducer"]


class VectorReducer(Primitive):
    """In `crd0` .. `crd<n-1>` and the value streams; out `crd0` .. `crd<n-1>` and `val`.

    The `BankFiller` fills one bank of the value memory and of the bitmaps, while a chain of `BitmapWalker`
    and the `RowEmitter` drain the others. The drain leaves a bank as it was. Since no reset reaches memories,
    which may hold anything then, each reset is followed by a sweep: one word of the value memory a cycle.

    Members beside those of `Primitive`:
        busy (Out): the memories are being swept; no run may start.

    Args:
        values: the names of the value streams.
        step: what combines a value with what is at its address.
        value_width: bits of a value, or of a block of values.
        stored_width: those that say all of it; the ones above are copies of the highest of them. All unless
            given.
        bits: the width of each kept coordinate, innermost first.
        banks: 2 or more.
    """

    busy: Signal

    def __init__(
        self,
        values: Sequence[str],
        step: ReduceStep | BlockStep | RescaleStep,
        *,
        arch: Arch,
        value_width: int,
        stored_width: int | None = None,
        bits: Sequence[int],
        banks: int,
    ):
        self.arch = arch
        self.values = tuple(values)
        self.step = step
        self.value_width = value_width
        self.stored_width = value_width if stored_width is None else stored_width
        self.val_width = token_width(value_width)
        self.bits = tuple(bits)
        self.banks = banks
        self.addr_width = max(sum(bits), 1)
        tokens = {f"crd{s}": token_layout(arch.index_bits) for s in range(len(self.bits))}
        value = token_layout(self.val_width)
        inputs = tokens | dict.fromkeys(self.values, value)
        super().__init__(inputs, tokens | {"val": value}, {"busy": Out(1)})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        arch, addr_width = self.arch, self.addr_width
        latency = self.step.latency
        levels = -(-addr_width // INDEX_BITS)
        banks = self.banks
        fill = BankFiller(
            arch=arch,
            values=self.values,
            val_width=self.val_width,
            bits=self.bits,
            addr_width=addr_width,
            banks=banks,
            latency=latency,
        )
        values = BankedMemory(
            banks=banks,
            addr_width=addr_width,
            width=self.stored_width + 1,
            operand_width=self.val_width * len(self.values),
            latency=latency,
            cleared=1,  # `present`, without which the value does not count
        )
        walkers = [
            BitmapWalker(
                level=k, levels=levels, addr_width=addr_width, kept=len(self.bits), banks=banks, arch=arch
            )
            for k in range(levels)
        ]
        emit = RowEmitter(
            arch=arch, value_width=self.value_width, bits=self.bits, addr_width=addr_width, banks=banks
        )
        m.submodules.fill = fill
        m.submodules.values = values
        for k, walker in enumerate(walkers):
            m.submodules[f"walk{k}"] = walker
        m.submodules.emit = emit
        for name in self.i.signature.members:
            wiring.connect(m, wiring.flipped(getattr(self.i, name)), getattr(fill.i, name))
        for name in self.o.signature.members:
            wiring.connect(m, getattr(emit.o, name), wiring.flipped(getattr(self.o, name)))
        self._chain(m, fill, walkers, emit)
        self._bank(m, emit.bank, fill.free)
        self._share(m, fill, values, walkers, emit)
        overflow = self._combine(m, values.combine)
        fired = Cat(fill.fired, *(walker.fired for walker in walkers), emit.fired)
        protocol = Cat(fill.protocol, *(walker.protocol for walker in walkers), emit.protocol)
        m.d.comb += [
            self.fired.eq(fired.any()),
            self.error.eq(error_bits(overflow=overflow, protocol=protocol.any(), range=fill.beyond)),
        ]
        return m

    def _share(
        self,
        m: Module,
        fill: BankFiller,
        values: BankedMemory,
        walkers: Sequence[BitmapWalker],
        emit: RowEmitter,
    ) -> None:
        """The memories are filled, drained and swept."""
        sweep, sweep_addr = self._sweep(m)
        for walker in walkers:
            m.d.comb += [
                walker.bank.eq(fill.bank),
                walker.mark.eq(fill.update),
                walker.mark_addr.eq(fill.addr),
                walker.sweep.eq(sweep),
                walker.sweep_addr.eq(sweep_addr),
            ]
        m.d.comb += [
            values.bank.eq(fill.bank),
            values.sweep.eq(sweep),
            values.sweep_addr.eq(sweep_addr),
            values.update.en.eq(fill.update),
            values.update.addr.eq(fill.addr),
            values.update.operand.eq(fill.operand),
            fill.pending.eq(values.pending),
            values.drain.en.eq(emit.drain.en),
            values.drain.addr.eq(emit.drain.addr),
            values.drain_bank.eq(emit.drain_bank),
            emit.drain.data.eq(self._value(values.drain.data)),
        ]

    def _chain(self, m: Module, fill: BankFiller, walkers: Sequence[BitmapWalker], emit: RowEmitter) -> None:
        """The stops of a flush pass the walkers from the top down, and then free the bank."""
        arch = self.arch
        m.submodules.flush = flush = Fifo(CONTROL, arch.internal_depth(self.step.latency + 1))
        wiring.connect(m, fill.flush, flush.i)
        upstream = flush
        for k, walker in reversed(list(enumerate(walkers))):
            m.submodules[f"addr{k}"] = below = Fifo(walker.o.token.shape(), arch.internal_depth(arch.step))
            wiring.connect(m, upstream.o, walker.i)
            wiring.connect(m, walker.o, below.i)
            upstream = below
        wiring.connect(m, upstream.o, emit.i)

    def _bank(self, m: Module, drained: wiring.PureInterface, free: wiring.PureInterface) -> None:
        """The internal channel `bank`. It has a token less than there are banks, and so is never full."""
        tokens = Signal(range(self.banks), init=self.banks - 1)
        taken = free.valid & free.ready
        m.d.comb += [drained.ready.eq(1), free.valid.eq(tokens != 0)]
        with m.If(drained.strobe & ~taken):
            m.d.sync += tokens.eq(tokens + 1)
        with m.Elif(~drained.strobe & taken):
            m.d.sync += tokens.eq(tokens - 1)

    def _combine(self, m: Module, combine: wiring.PureInterface) -> Value:
        """A word of the value memory is a value and, on top, its `present` flag. Returns `overflow`."""
        m.submodules.step = step = self.step
        operands = [combine.operand.word_select(n, self.val_width) for n in range(len(self.values))]
        ports = self._operands(self._value(combine.word), operands)
        m.d.comb += [
            *(getattr(step, port).eq(operand) for port, operand in ports.items()),
            step.alone.eq(~combine.word[-1]),
            combine.result.eq(Cat(step.result[: self.stored_width], Const(1, 1))),
        ]
        return combine.used & step.overflow

    def _value(self, word: Value) -> Value:
        """The value that a word of the value memory holds."""
        return word[: self.stored_width].as_signed()

    @abstractmethod
    def _operands(self, word: Value, operands: Sequence[Value]) -> Mapping[str, Value]:
        """The operands of the step by port, from what is at an address and the payloads of the value
        streams."""

    def _sweep(self, m: Module) -> tuple[Value, Value]:
        """Whether to clear a word in this cycle, and its address: all of them, once after a reset."""
        left = Signal(init=1)
        addr = Signal(self.addr_width)
        m.d.comb += self.busy.eq(left)
        with m.If(left):
            m.d.sync += [addr.eq(addr + 1), left.eq(~addr.all())]
        return left, addr
