"""union: the coordinates that any input has."""

from amaranth.hdl import Module, Mux

from samhw.primitives.joiner.component import Coordinates, Joiner, Refs
from samhw.rtl.firing import FiringTable
from samhw.rtl.logic import any_of
from samhw.rtl.output import Output
from samhw.rtl.token import TokenKind, all_end, make_token, same_token

__all__ = ["Union"]


class Union(Joiner):
    """Passes on the least coordinate at the heads, with EMPTY for the inputs that do not have it."""

    def _join(self, m: Module, table: FiringTable, crds: Coordinates, crd: Output, refs: Refs) -> None:
        heads, is_val = crds.heads, crds.is_val
        any_val = any_of(is_val)
        least = [
            is_val[i] & ~any_of(is_val[j] & crds.less[j][i] for j in range(len(heads)) if j != i)
            for i in range(len(heads))
        ]
        ends = all_end(*heads)
        m.d.comb += crd.result.eq(
            any_of(Mux(here, head.payload, 0) for here, head in zip(least, heads, strict=True))
        )

        tokens = {crd.i: make_token(Mux(any_val, TokenKind.VAL, heads[0].kind), heads[0].payload[:8])}
        for out, head, here in zip(refs, self._refs, least, strict=True):
            missing = any_val & ~here
            tokens[out.i] = make_token(
                Mux(missing, TokenKind.EMPTY, head.payload.kind), Mux(any_val, 0, head.payload.payload[:8])
            )
        with m.If(ends | (any_val & crds.val_or_stop)):
            taken = dict(zip([*self._crds, *self._refs], [ends | here for here in least] * 2, strict=True))
            agree = any_val | same_token(*heads)
            table.row(agree=agree, needs=self._crds, takes_if=taken, pushes=tokens)
