"""What is said of the streams of each primitive (docs/primitives.md), at small depths and widths."""

from collections.abc import Mapping, Sequence

from amaranth.hdl import Signal, Value, ValueLike

from samhw.graph import Arch
from samhw.graph.numerics import value_type
from samhw.primitives.alu.component import Alu
from samhw.primitives.arg.component import Arg
from samhw.primitives.array.component import Array
from samhw.primitives.crd_hold.component import CrdHold
from samhw.primitives.drop_crd.component import DropCrd
from samhw.primitives.drop_val.component import DropVal
from samhw.primitives.fold.component import Fold
from samhw.primitives.gather.component import Gather
from samhw.primitives.intersect.component import Intersect
from samhw.primitives.last.component import Last
from samhw.primitives.locate.component import Locate
from samhw.primitives.matmul.component import Matmul
from samhw.primitives.pick.component import Pick
from samhw.primitives.recur.component import Recur
from samhw.primitives.recur_vector.component import RecurVector
from samhw.primitives.reduce_scalar.component import ReduceScalar
from samhw.primitives.reduce_vector.component import ReduceVector
from samhw.primitives.repeat.component import Repeater
from samhw.primitives.running.component import Running
from samhw.primitives.scan_compressed.component import ScanCompressed
from samhw.primitives.scan_dense.component import ScanDense
from samhw.primitives.scan_dia.component import ScanDia
from samhw.primitives.scan_ell.component import ScanEll
from samhw.primitives.scan_ragged.component import ScanRagged
from samhw.primitives.scan_singleton.component import ScanSingleton
from samhw.primitives.scatter.component import Scatter
from samhw.primitives.shift.component import Shift
from samhw.primitives.top_k.component import TopK
from samhw.primitives.union.component import Union
from samhw.rtl.logic import all_of, any_of
from samhw.rtl.token import TokenKind
from tests.formal.cut import SHORT, with_cut_steps
from tests.formal.grammar import Grammar, Reader
from tests.formal.streams import Case, Invariant

__all__ = ["CASES"]

_ARCH = Arch(index_bits=8)
_I8 = value_type("i8")
_F8 = value_type("f8e4m3")
_CRD = Grammar(2, ascends=True)
_REF = Grammar(2)
_MAYBE = Grammar(2, empty=True)

Readers = Mapping[str, Reader]


def _held(inner: str, output: str, kinds: Sequence[ValueLike]) -> Invariant:
    """The output stands where the inner input does, and what is held is of one of these kinds."""

    def holds(inputs: Readers, outputs: Readers, state: Mapping[str, Signal]) -> Value:
        a, b = inputs[inner], outputs[output]
        alike = (a.reach == b.reach) & (a.over == b.over) & (a.inside == b.inside)
        return alike & (~state["hold.held"] | any_of(state["hold.h"][:2] == kind for kind in kinds))

    return holds


def _thinned(inputs: Readers, outputs: Readers, state: Mapping[str, Signal]) -> Value:
    """The outputs stand at the stop where the inputs do, and after the last coordinate or before it."""
    crd = outputs["crd"]
    return all_of(
        (out.over == head.over) & (out.reach >= head.reach)
        for out in outputs.values()
        for head in inputs.values()
    ) & all_of(
        ~crd.inside | (head.inside & (head.last >= crd.last))
        for name, head in inputs.items()
        if name.startswith("crd")
    )


def _stands_with(inputs: Readers, outputs: Readers, state: Mapping[str, Signal]) -> Value:
    """Each output stands at the stop where the input does, and may lack payloads after it."""
    return all_of(
        (out.over == head.over) & (out.reach >= head.reach)
        for out in outputs.values()
        for head in inputs.values()
    )


_REDUCED = {"crd0": Grammar(1, ascends=True), "val": Grammar(1)}
_JOIN = {"crd0": _CRD, "crd1": _CRD, "ref0": _REF, "ref1": _REF}

CASES = {
    case.name: case
    for case in (
        Case(
            "repeat",
            lambda: Repeater(arch=_ARCH, payload_width=8),
            {"ref": Grammar(1, empty=True), "crd": _CRD},
            {"ref": _MAYBE},
            invariant=_held("crd", "ref", [TokenKind.VAL, TokenKind.EMPTY]),
        ),
        Case(
            "crd_hold",
            lambda: CrdHold(arch=_ARCH),
            {"outer": Grammar(1), "inner": _CRD},
            {"crd": _REF},
            invariant=_held("inner", "crd", [TokenKind.VAL]),
        ),
        Case(
            "array",
            lambda: Array(arch=_ARCH, stored_width=8, vals_capacity=16),
            {"ref": _MAYBE},
            {"val": _REF},
        ),
        Case(
            "intersect",
            lambda: Intersect(arch=_ARCH, payload_widths=[8, 8]),
            _JOIN,
            {"crd": _CRD, "ref0": _REF, "ref1": _REF},
            lockstep=("crd", "ref0", "ref1"),
            invariant=_thinned,
        ),
        Case(
            "union",
            lambda: Union(arch=_ARCH, payload_widths=[8, 8]),
            _JOIN,
            {"crd": _CRD, "ref0": _MAYBE, "ref1": _MAYBE},
            lockstep=("crd", "ref0", "ref1"),
        ),
        Case(
            "drop_val",
            lambda: DropVal(arch=_ARCH, value_type=_I8),
            {"crd": _CRD, "val": _MAYBE},
            {"crd": _CRD, "val": _REF},
            lockstep=("crd", "val"),
            invariant=_thinned,
        ),
        Case(
            "drop_crd",
            lambda: DropCrd(arch=_ARCH),
            {"outer": Grammar(1, ascends=True), "inner": _CRD},
            {"outer": Grammar(1, ascends=True), "inner": _CRD},
        ),
        Case(
            "reduce_scalar",
            lambda: ReduceScalar(arch=_ARCH, value_type=_I8, op="max"),
            {"val": _MAYBE},
            {"val": Grammar(1)},
            quick=11,
            deep=14,
        ),
        Case(
            "reduce_scalar, a sum in blocks",
            with_cut_steps(lambda: ReduceScalar(arch=SHORT, value_type=_F8, op="sum")),
            {"val": _MAYBE},
            {"val": Grammar(1)},
            deep=13,
        ),
        Case(
            "scan_singleton",
            lambda: ScanSingleton(arch=_ARCH, crd_capacity=16),
            {"ref": Grammar(1, empty=True)},
            {"crd": _CRD, "ref": _REF},
        ),
        Case(
            "scan_dense",
            lambda: ScanDense(arch=_ARCH),
            {"ref": Grammar(1, empty=True)},
            {"crd": _CRD, "ref": _REF},
            quick=14,
            deep=16,
        ),
        Case(
            "scan_compressed",
            lambda: ScanCompressed(arch=_ARCH, pos_capacity=16, crd_capacity=16),
            {"ref": Grammar(1, empty=True)},
            {"crd": _CRD, "ref": _REF},
            quick=12,
            deep=14,
        ),
        Case(
            "scan_ell",
            lambda: ScanEll(arch=_ARCH, width=2, cnt_capacity=16, crd_capacity=16),
            {"ref": Grammar(1, empty=True)},
            {"crd": _CRD, "ref": _REF},
            quick=10,
            deep=14,
        ),
        Case(
            "scan_ragged",
            lambda: ScanRagged(arch=_ARCH, pos_capacity=16),
            {"ref": Grammar(1, empty=True)},
            {"crd": _CRD, "ref": _REF},
            lockstep=("crd", "ref"),
            quick=10,
            deep=14,
        ),
        Case(
            "scan_dia",
            lambda: ScanDia(arch=_ARCH, cnt_capacity=2, off_capacity=8),
            {"ref": Grammar(1, empty=True)},
            {"crd": _CRD, "ref": _REF},
            lockstep=("crd", "ref"),
            quick=10,
            deep=14,
        ),
        Case(
            "locate",
            lambda: Locate(arch=_ARCH),
            {"ref": Grammar(1, empty=True), "crd": _CRD},
            {"ref": _MAYBE},
            quick=12,
        ),
        Case(
            "pick",
            lambda: Pick(arch=_ARCH, crd_capacity=16),
            {"at": _MAYBE, "ref": _MAYBE},
            {"ref": _MAYBE},
            quick=12,
        ),
        Case("shift", lambda: Shift(arch=_ARCH), {"crd": _CRD}, {"crd": _REF}, invariant=_stands_with),
        Case(
            "scatter",
            lambda: Scatter(arch=_ARCH, lanes=2, payload_width=8),
            {"ref": _MAYBE},
            {"ref0": _MAYBE, "ref1": _MAYBE},
            invariant=_stands_with,
        ),
        Case(
            "gather of payloads",
            lambda: Gather(arch=_ARCH, lanes=2, levels=0, payload_width=8),
            {"ref0": _MAYBE, "ref1": _MAYBE},
            {"ref": _MAYBE},
        ),
        Case(
            "gather of rows",
            lambda: Gather(arch=_ARCH, lanes=2, levels=1, payload_width=8),
            {"ref0": Grammar(3), "ref1": Grammar(3)},
            {"ref": Grammar(3)},
        ),
        Case(
            "alu",
            lambda: Alu(arch=_ARCH, value_type=_I8, op="add"),
            {"a": _MAYBE, "b": _MAYBE},
            {"val": _REF},
        ),
        Case(
            "matmul",
            lambda: Matmul(arch=_ARCH, value_type=_I8, shape=[1, 1], over=[2], a=[0, 2], b=[2, 1]),
            {"a": _MAYBE, "b": _MAYBE},
            {"val": _REF},
            quick=12,
        ),
        Case(
            "fold",
            lambda: Fold(arch=_ARCH, value_type=_I8, op="max", shape=[2], over=[0]),
            {"block": _MAYBE},
            {"val": _REF},
        ),
        Case(
            "running",
            lambda: Running(arch=_ARCH, value_type=_I8, op="max"),
            {"val": _MAYBE},
            {"val": _REF},
        ),
        Case(
            "running, exclusive",
            lambda: Running(arch=_ARCH, value_type=_I8, op="max", exclusive=True),
            {"val": _MAYBE},
            {"val": _REF},
        ),
        Case(
            "running, a sum in blocks",
            with_cut_steps(lambda: Running(arch=SHORT, value_type=_F8, op="sum")),
            {"val": _MAYBE},
            {"val": _REF},
            quick=10,
            deep=14,
        ),
        Case(
            "recur",
            with_cut_steps(lambda: Recur(arch=SHORT, value_type=_F8)),
            {"factor": _MAYBE, "val": _MAYBE},
            {"val": _REF},
            quick=11,
            deep=15,
        ),
        Case("last", lambda: Last(arch=_ARCH, value_type=_I8), {"val": _MAYBE}, {"val": Grammar(1)}),
        Case(
            "arg",
            lambda: Arg(arch=_ARCH, value_type=_I8, op="max"),
            {"crd": _CRD, "val": _MAYBE},
            {"val": Grammar(1)},
        ),
        Case(
            "top_k",
            lambda: TopK(arch=_ARCH, value_type=_I8, op="max", gives="values", k=2),
            {"crd": _CRD, "val": _MAYBE, "rank": _CRD},
            {"val": _REF},
        ),
        Case(
            "reduce_vector",
            lambda: ReduceVector(arch=_ARCH, value_type=_I8, op="max", bits=[1]),
            {"crd0": _CRD, "val": _MAYBE},
            _REDUCED,
            quick=14,
        ),
        Case(
            "reduce_vector, two indices",
            lambda: ReduceVector(arch=_ARCH, value_type=_I8, op="max", bits=[1, 1]),
            {"crd0": Grammar(3, ascends=True), "crd1": Grammar(3), "val": Grammar(3, empty=True)},
            {"crd0": Grammar(2, ascends=True), "val": _REF, "crd1": Grammar(1, ascends=True)},
            quick=11,
            deep=15,
        ),
        Case(
            "recur_vector",
            lambda: RecurVector(arch=_ARCH, value_type=_I8, bits=[1]),
            {"crd0": _CRD, "factor": _MAYBE, "val": _MAYBE},
            _REDUCED,
            quick=14,
        ),
    )
}
