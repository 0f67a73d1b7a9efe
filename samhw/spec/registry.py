"""From the name of a kind to its spec."""

from samhw.errors import InputError
from samhw.spec.alu import ALU
from samhw.spec.array import ARRAY
from samhw.spec.base import Spec
from samhw.spec.drop import DROP_CRD, DROP_VAL
from samhw.spec.fold import FOLD
from samhw.spec.hold import CRD_HOLD, LOCATE, REPEAT
from samhw.spec.join import INTERSECT, UNION
from samhw.spec.lanes import GATHER, SCATTER
from samhw.spec.matmul import MATMUL
from samhw.spec.pick import PICK
from samhw.spec.rank import TOP_K
from samhw.spec.recur import RECUR
from samhw.spec.reduce import ARG, LAST, RECUR_VECTOR, REDUCE_SCALAR, REDUCE_VECTOR
from samhw.spec.root import ROOT
from samhw.spec.running import RUNNING
from samhw.spec.scan import (
    SCAN_COMPRESSED,
    SCAN_DENSE,
    SCAN_DIA,
    SCAN_ELL,
    SCAN_RAGGED,
    SCAN_SINGLETON,
)
from samhw.spec.shift import SHIFT
from samhw.spec.step import STEP
from samhw.spec.write import WRITE_AT, WRITE_COMPRESSED, WRITE_DENSE, WRITE_VAL

__all__ = ["kinds", "spec_of"]

_SPECS: tuple[Spec, ...] = (
    ROOT,
    STEP,
    SCAN_DENSE,
    SCAN_COMPRESSED,
    SCAN_SINGLETON,
    SCAN_ELL,
    SCAN_RAGGED,
    SCAN_DIA,
    REPEAT,
    CRD_HOLD,
    LOCATE,
    PICK,
    SHIFT,
    SCATTER,
    GATHER,
    INTERSECT,
    UNION,
    ARRAY,
    ALU,
    MATMUL,
    FOLD,
    REDUCE_SCALAR,
    RUNNING,
    RECUR,
    LAST,
    ARG,
    TOP_K,
    REDUCE_VECTOR,
    RECUR_VECTOR,
    DROP_CRD,
    DROP_VAL,
    WRITE_COMPRESSED,
    WRITE_DENSE,
    WRITE_VAL,
    WRITE_AT,
)
_BY_KIND = {spec.kind: spec for spec in _SPECS}


def kinds() -> tuple[str, ...]:
    """The kinds of primitives, in the order of docs/primitives.md."""
    return tuple(_BY_KIND)


def spec_of(kind: str) -> Spec:
    """What a kind is; raises `InputError` if there is none of that name."""
    if kind not in _BY_KIND:
        raise InputError(f"There is no primitive {kind!r}; the kinds are {', '.join(_BY_KIND)}.")
    return _BY_KIND[kind]
