"""intersect and union, of two inputs."""

from amaranth.hdl import Assume, Mux, Value

from samhw.primitives.intersect.component import Intersect
from samhw.primitives.union.component import Union
from samhw.rtl.token import TokenKind, is_payload, same_token
from tests.formal.actors.words import DONE, EMPTY, push, take, value
from tests.formal.cut import SHORT
from tests.formal.firings import Actor, Bench, Does, Reading
from tests.formal.page import table

__all__ = ["ACTORS"]

_ALL = ("crd0", "crd1", "ref0", "ref1")
_WIDTHS = (8, 8)


def _read(at: Bench) -> Reading:
    """The words of both tables."""
    crds, refs = ([at.heads[f"{name}{i}"] for i in range(2)] for name in ("crd", "ref"))
    a, b = crds
    for crd, ref in zip(crds, refs, strict=True):
        lockstep = (is_payload(crd) & is_payload(ref)) | same_token(crd, ref)
        at.m.d.comb += [Assume(lockstep), Assume(crd.kind != TokenKind.EMPTY)]
    val = [crd.kind == TokenKind.VAL for crd in crds]
    stop = [crd.kind == TokenKind.STOP for crd in crds]
    all_val = val[0] & val[1]
    less = [val[0] & val[1] & (a.payload < b.payload), val[0] & val[1] & (b.payload < a.payload)]
    least = [val[0] & ~less[1], val[1] & ~less[0]]
    m = Mux(least[0], a.payload, b.payload)
    heads = {
        "all VAL, all equal (c)": all_val & (a.payload == b.payload),
        "all VAL, not all equal": all_val,
        "some VAL, the others STOP": (val[0] & stop[1]) | (val[1] & stop[0]),
        "some VAL, the others VAL or STOP": (val[0] | val[1]) & (val[0] | stop[0]) & (val[1] | stop[1]),
        "all STOP, all equal": stop[0] & (a.as_value() == b.as_value()),
        "all DONE": (a.kind == TokenKind.DONE) & (b.kind == TokenKind.DONE),
    }

    def where(conditions: list[Value]) -> Does:
        return Does(
            takes={f"{name}{i}": here for name in ("crd", "ref") for i, here in enumerate(conditions)}
        )

    taken = {f"ref{i}": Mux(least[i], ref.as_value(), EMPTY) for i, ref in enumerate(refs)}
    return Reading(
        columns=[(["crd0", "crd1"], heads)],
        firings={
            "take everything": take(*_ALL),
            "push nothing": Does(),
            "push crd VAL(c) and the ref payloads": push(
                crd=value(a.payload), ref0=refs[0].as_value(), ref1=refs[1].as_value()
            ),
            "with m the greatest: take crd<i> and ref<i> wherever crd<i> < m": where(less),
            "take crd<i>, ref<i> wherever crd<i> is VAL": where(val),
            "with m the least VAL: take crd<i> and ref<i> wherever crd<i> is VAL(m)": where(least),
            "push crd VAL(m), ref<i> the payload taken, or EMPTY": push(crd=value(m), **taken),
            "push the STOP on all outputs": push(crd=a.as_value(), ref0=a.as_value(), ref1=a.as_value()),
            "push DONE on all outputs": push(crd=DONE, ref0=DONE, ref1=DONE),
        },
    )


ACTORS = (
    Actor("intersect", table("intersect"), lambda: Intersect(arch=SHORT, payload_widths=_WIDTHS), _read),
    Actor("union", table("union"), lambda: Union(arch=SHORT, payload_widths=_WIDTHS), _read),
)
