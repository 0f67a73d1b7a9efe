"""What intersect and union share: ports, comparisons of coordinates, and the lockstep of crd and ref."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from amaranth.hdl import Const, Elaboratable, Module, Signal, Value
from amaranth.lib import data, wiring

from samhw.graph import Arch
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.firing import FiringTable
from samhw.rtl.logic import all_of, any_of
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, is_payload, same_token, token_layout

__all__ = ["Coordinates", "Joiner", "Refs"]


Refs = Sequence[Output]


@dataclass(frozen=True)
class Coordinates:
    """What stands at the coordinate inputs.

    Attributes:
        heads: the tokens.
        is_val: for each, whether it is a coordinate.
        val_or_stop: all are coordinates or STOPs.
        less: `less[i][j]`: coordinate i is below coordinate j.
    """

    heads: Sequence[data.View]
    is_val: Sequence[Value]
    val_or_stop: Value
    less: Sequence[Sequence[Value]]

    @classmethod
    def of(cls, m: Module, heads: Sequence[data.View], bits: int) -> "Coordinates":
        """Every pair of coordinates is compared once, side by side, in this many bits."""
        is_val = [head.kind == TokenKind.VAL for head in heads]
        val_or_stop = all_of(v | (head.kind == TokenKind.STOP) for v, head in zip(is_val, heads, strict=True))
        return cls(heads, is_val, val_or_stop, _less(m, [head.payload[:bits] for head in heads]))


class Joiner(Primitive):
    """In `crd<i>`, `ref<i>`; out `crd`, `ref<i>`. The rows are those of a subclass.

    Args:
        payload_widths: bits of the payload of each `ref<i>`: references, values or coordinates.
        coordinate_bits: those of a coordinate that tell it from others; all of `arch.index_bits`, if not
            given.
    """

    def __init__(self, *, arch: Arch, payload_widths: Sequence[int], coordinate_bits: int | None = None):
        self.arch = arch
        self.coordinate_bits = arch.index_bits if coordinate_bits is None else coordinate_bits
        self.payload_widths = tuple(payload_widths)
        index = token_layout(arch.index_bits)
        refs = {f"ref{i}": token_layout(width) for i, width in enumerate(payload_widths)}
        super().__init__({f"crd{i}": index for i in range(len(refs))} | refs, {"crd": index} | refs)

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(arch=site.arch, payload_widths=site.widths(), coordinate_bits=site.coordinate_bits())

    @abstractmethod
    def _join(self, m: Module, table: FiringTable, crds: Coordinates, crd: Output, refs: Refs) -> None:
        """Adds the rows, and the coordinate of `crd`."""

    @property
    def _crds(self) -> list[wiring.PureInterface]:
        return [getattr(self.i, f"crd{i}") for i in range(len(self.payload_widths))]

    @property
    def _refs(self) -> list[wiring.PureInterface]:
        return [getattr(self.i, f"ref{i}") for i in range(len(self.payload_widths))]

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.crd = crd = Output(self.arch.index_bits, latency=self.arch.step)
        wiring.connect(m, crd.o, wiring.flipped(self.o.crd))
        refs = []
        for i, (width, head) in enumerate(zip(self.payload_widths, self._refs, strict=True)):
            m.submodules[f"ref{i}"] = ref = Output(width, latency=self.arch.step)
            wiring.connect(m, ref.o, wiring.flipped(getattr(self.o, f"ref{i}")))
            m.d.comb += ref.result.eq(head.payload.payload)
            refs.append(ref)

        table = FiringTable(m, self._crds)
        crds = Coordinates.of(m, [head.payload for head in self._crds], self.coordinate_bits)
        self._join(m, table, crds, crd, refs)
        astray = any_of(
            crd.valid & ref.valid & ~_in_lockstep(crd.payload, ref.payload)
            for crd, ref in zip(self._crds, self._refs, strict=True)
        )
        m.d.comb += [self.fired.eq(table.fired), self.error.eq(error_bits(protocol=table.protocol | astray))]
        return m


def _less(m: Module, coordinates: Sequence[Value]) -> list[list[Value]]:
    less: list[list[Value]] = [[Const(0)] * len(coordinates) for _ in coordinates]
    for j, b in enumerate(coordinates):
        for i, a in enumerate(coordinates[:j]):
            below = Signal(name=f"crd{i}_below_crd{j}")
            equal = Signal(name=f"crd{i}_equals_crd{j}")
            m.d.comb += [below.eq(a < b), equal.eq(a == b)]
            less[i][j] = below
            less[j][i] = ~(below | equal)
    return less


def _in_lockstep(crd: data.View, ref: data.View) -> Value:
    return (is_payload(crd) & is_payload(ref)) | (~is_payload(crd) & same_token(crd, ref))
