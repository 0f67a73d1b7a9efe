"""intersect and union, of two inputs."""

from amaranth.hdl import Assume, Mux, Value
from amaranth.lib import data

from docs.rules import rows
from samhw.primitives.intersect.component import Intersect
from samhw.primitives.union.component import Union
from samhw.rtl.token import TokenKind, is_payload, same_token
from tests.formal.actors.words import always
from tests.formal.cut import SHORT
from tests.formal.firings import Actor, Bench
from tests.formal.rules import Head, Meaning

__all__ = ["ACTORS"]

_WIDTHS = (8, 8)


def _read(at: Bench) -> Meaning:
    """Of both rules."""
    crds, refs = ([at.heads[f"{name}{i}"] for i in range(2)] for name in ("crd", "ref"))
    a, b = crds
    for crd, ref in zip(crds, refs, strict=True):
        lockstep = (is_payload(crd) & is_payload(ref)) | same_token(crd, ref)
        at.m.d.comb += [Assume(lockstep), Assume(crd.kind != TokenKind.EMPTY)]
    val = [crd.kind == TokenKind.VAL for crd in crds]
    stop = [crd.kind == TokenKind.STOP for crd in crds]
    b_is_less = b.payload < a.payload
    least = Mux(val[0] & ~(val[1] & b_is_less), a.payload, b.payload)

    def is_least(crd: data.View) -> Value:
        return (crd.kind == TokenKind.VAL) & (crd.payload == least)

    names = {
        "all_val": val[0] & val[1],
        "some_val": val[0] | val[1],
        "others_stop": (val[0] & stop[1]) | (val[1] & stop[0]),
        "others_val_or_stop": (val[0] | stop[0]) & (val[1] | stop[1]),
        "all_stop": stop[0] & stop[1],
        "all_done": (a.kind == TokenKind.DONE) & (b.kind == TokenKind.DONE),
        "equal": a.as_value() == b.as_value(),
        "greatest": Mux(b_is_less, a.payload, b.payload),
        "least": least,
        "is_val": lambda crd: crd.kind == TokenKind.VAL,
        "is_least": is_least,
    }
    return Meaning(at, names, columns={"crds": Head(a, always(["crd0", "crd1"]))}, every=2)


ACTORS = (
    Actor("intersect", rows("intersect"), lambda: Intersect(arch=SHORT, payload_widths=_WIDTHS), _read),
    Actor("union", rows("union"), lambda: Union(arch=SHORT, payload_widths=_WIDTHS), _read),
)
