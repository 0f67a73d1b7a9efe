"""What intersect and union share: the ports, the comparison of coordinates, and the ends of fibers."""

from abc import abstractmethod
from collections.abc import Sequence

from amaranth.hdl import Elaboratable, Module, Signal, Value
from amaranth.lib import wiring

from samhw.graph import Arch
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.firing import FiringTable
from samhw.rtl.logic import all_of, any_of
from samhw.rtl.output import Output
from samhw.rtl.token import is_payload, make_token, same_token, token_layout

__all__ = ["Joiner"]


class Joiner(Primitive):
    """In `crd<i>`, `ref<i>`; out `crd`, `ref<i>`. A subclass gives the rows in which some head is VAL.

    A ref head that is taken without being in lockstep with its crd head is a `protocol` error.

    Args:
        payload_widths: bits of the payload of each `ref<i>`, which may carry references, values or
            coordinates.
    """

    def __init__(self, *, arch: Arch, payload_widths: Sequence[int]):
        self.arch = arch
        self.payload_widths = tuple(payload_widths)
        index = token_layout(arch.index_bits)
        refs = {f"ref{i}": token_layout(width) for i, width in enumerate(payload_widths)}
        super().__init__({f"crd{i}": index for i in range(len(refs))} | refs, {"crd": index} | refs)

    @abstractmethod
    def _join(
        self,
        m: Module,
        table: FiringTable,
        crd: Output,
        refs: Sequence[Output],
        less: Sequence[Sequence[Value]],
    ) -> None:
        """Adds the rows in which some crd head is VAL; `less[i][j]` says that coordinate i is below
        coordinate j."""

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
        heads = [head.payload for head in self._crds]
        end = heads[0]
        with m.If(~is_payload(end) & all_of(same_token(end, head) for head in heads[1:])):
            token = make_token(end.kind, end.payload[:8])
            table.row(takes=[*self._crds, *self._refs], pushes={out.i: token for out in (crd, *refs)})
        with m.Else():
            self._join(m, table, crd, refs, self._less(m))

        astray = any_of(
            ref.valid & ref.ready & ~_in_lockstep(head, ref.payload)
            for head, ref in zip(heads, self._refs, strict=True)
        )
        m.d.comb += [self.fired.eq(table.fired), self.error.eq(error_bits(protocol=table.protocol | astray))]
        return m

    def _less(self, m: Module) -> list[list[Value]]:
        """Every pair of coordinates compared side by side."""
        coordinates = [head.payload.payload for head in self._crds]
        less = [
            [Signal(name=f"crd{i}_below_crd{j}") for j in range(len(coordinates))]
            for i in range(len(coordinates))
        ]
        for i, a in enumerate(coordinates):
            m.d.comb += [less[i][j].eq(a < b) for j, b in enumerate(coordinates)]
        return less


def _in_lockstep(crd: Value, ref: Value) -> Value:
    return (is_payload(crd) & is_payload(ref)) | (~is_payload(crd) & same_token(crd, ref))
