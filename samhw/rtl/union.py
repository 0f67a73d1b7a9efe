"""union: the coordinates that any input has."""

from collections.abc import Sequence

from amaranth.hdl import Module, Mux, Value

from samhw.rtl.firing import FiringTable
from samhw.rtl.joiner import Joiner
from samhw.rtl.logic import all_of, any_of
from samhw.rtl.output import Output
from samhw.rtl.token import Kind, make_token

__all__ = ["Union"]


class Union(Joiner):
    """Passes on the least coordinate at the heads, with EMPTY for the inputs that do not have it."""

    def _join(
        self,
        m: Module,
        table: FiringTable,
        crd: Output,
        refs: Sequence[Output],
        less: Sequence[Sequence[Value]],
    ) -> None:
        heads = [head.payload for head in self._crds]
        is_val = [head.kind == Kind.VAL for head in heads]
        least = [
            is_val[i] & ~any_of(is_val[j] & less[j][i] for j in range(len(heads)) if j != i)
            for i in range(len(heads))
        ]
        coordinates = [Mux(here, head.payload, 0) for here, head in zip(least, heads, strict=True)]
        m.d.comb += crd.result.eq(any_of(coordinates))

        val_or_stop = [(head.kind == Kind.VAL) | (head.kind == Kind.STOP) for head in heads]
        with m.If(any_of(is_val) & all_of(val_or_stop)):
            pushes = {
                out.i: make_token(Mux(here, head.payload.kind, Kind.EMPTY))
                for out, head, here in zip(refs, self._refs, least, strict=True)
            }
            pushes[crd.i] = make_token(Kind.VAL)
            taken = dict(zip([*self._crds, *self._refs], least * 2, strict=True))
            table.row(needs=self._crds, takes_if=taken, pushes=pushes)
