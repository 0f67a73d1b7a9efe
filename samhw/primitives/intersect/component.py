"""intersect: the coordinates that all inputs have."""

from amaranth.hdl import Module

from samhw.primitives.joiner.component import Coordinates, Joiner, Refs
from samhw.rtl.firing import FiringTable
from samhw.rtl.logic import all_of, any_of
from samhw.rtl.output import Output
from samhw.rtl.token import all_end, make_token, same_token

__all__ = ["Intersect"]


class Intersect(Joiner):
    """Passes a coordinate on when it is at every head; else it drops those that are behind the greatest."""

    def _join(self, m: Module, table: FiringTable, crds: Coordinates, crd: Output, refs: Refs) -> None:
        heads, is_val = crds.heads, crds.is_val
        all_val = all_of(is_val)
        late = [any_of(crds.less[i][j] for j in range(len(heads)) if j != i) for i in range(len(heads))]
        # Against a STOP every coordinate is behind.
        behind = [v & (~all_val | below) for v, below in zip(is_val, late, strict=True)]
        m.d.comb += crd.result.eq(heads[0].payload)

        with m.If(all_end(*heads) | (all_val & ~any_of(late))):
            copied = zip([crd, *refs], [heads[0], *(head.payload for head in self._refs)], strict=True)
            table.row(
                agree=all_val | same_token(*heads),
                takes=[*self._crds, *self._refs],
                pushes={out.i: make_token(head.kind, head.payload[:8]) for out, head in copied},
            )
        with m.Elif(any_of(is_val) & crds.val_or_stop):
            taken = dict(zip([*self._crds, *self._refs], behind * 2, strict=True))
            table.row(needs=self._crds, takes_if=taken)
