"""An output of an actor, from the decision to the token that its channel stores L cycles later."""

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.channel import PushSignature
from samhw.rtl.token import CONTROL, LEVEL_BITS, TokenKind, token_layout
from samhw.rtl.units.unit import delayed

__all__ = ["ControlSignature", "Output"]


class ControlSignature(wiring.Signature):
    """What an actor decides when it pushes: everything but the payload of a VAL."""

    def __init__(self) -> None:
        super().__init__({"push": Out(1), "ready": In(1), "token": Out(CONTROL)})


class Output(wiring.Component):
    """Joins the decision with the payload, which an operation may take `registers` cycles to make.

    Args:
        width: bits of the payload.
        latency: L of the output. What the operation does not use is spent in registers after it.
        registers: cycles from the push until `result` is there; at most `latency - 1`.
        zeros: an EMPTY may be pushed while `result` is not zero, as its payload has to be. Without them only
            the bits in which a stop has its levels are chosen, and the others are always those of `result`.

    Members:
        i: the decision.
        result: the payload of the VAL that was pushed `registers` cycles ago.
        used: `result` belongs to such a VAL in this cycle.
        o: to the channels.
    """

    def __init__(self, width: int, *, latency: int, registers: int = 0, zeros: bool = True):
        if registers > latency - 1:
            raise ValueError(f"{registers} registers do not fit a latency of {latency}")
        self.width = width
        self.latency = latency
        self.registers = registers
        self.chosen = width if zeros else LEVEL_BITS
        super().__init__(
            {
                "i": In(ControlSignature()),
                "result": In(width),
                "used": Out(1),
                "o": Out(PushSignature(token_layout(width))),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.d.comb += [self.i.ready.eq(self.o.ready), self.o.push.eq(self.i.push)]
        strobe, control = self.i.push, self.i.token
        before = control
        for stage in range(self.registers):
            before = control
            strobe, control = _register(m, strobe, control, f"operation{stage}")
        # Comes from a register, since `result` may come late in its cycle, straight from a memory.
        is_val = delayed(m, before.kind == TokenKind.VAL, min(self.registers, 1))
        result = self._only(is_val, self.result)
        levels = Mux(is_val, 0, control.payload)
        m.d.comb += self.used.eq(strobe & is_val)
        padding = self.latency - 1 - self.registers
        if padding and self.registers:
            # For the same reason it goes to the first register as it is: block memories and multipliers of
            # FPGAs have such a register of their own.
            padding -= 1
            late_result, late_levels = delayed(m, self.result), delayed(m, levels)
            result = self._only(delayed(m, is_val), late_result)
            strobe, control = _register(m, strobe, control, "late")
            levels = late_levels
        token = Signal(token_layout(self.width))
        m.d.comb += [token.kind.eq(control.kind), token.payload.eq(result | levels)]
        for stage in range(padding):
            strobe, token = _register(m, strobe, token, f"padding{stage}")
        m.d.comb += [self.o.strobe.eq(strobe), self.o.token.eq(token)]
        return m

    def _only(self, is_val: Value, result: Value) -> Value:
        """The result of a VAL, and zeros for other tokens, in the bits for which that matters."""
        return Cat(Mux(is_val, result[: self.chosen], 0), result[self.chosen :])


def _register(m: Module, strobe: Signal, token: Signal, name: str) -> tuple[Signal, Signal]:
    """Both, a cycle later. Only the strobe needs a reset."""
    late_strobe = Signal(name=f"{name}_strobe")
    late_token = Signal(token.shape(), name=f"{name}_token", reset_less=True)
    m.d.sync += [late_strobe.eq(strobe), late_token.eq(token)]
    return late_strobe, late_token
