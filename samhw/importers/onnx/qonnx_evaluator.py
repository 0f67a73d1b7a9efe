"""Nodes on arrays, as ONNX's reference evaluator computes them; and the operators of QONNX for it, by the
pages of docs/qonnx-custom-ops in the repository of qonnx."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from samhw.importers.core import UnsupportedError
from samhw.importers.onnx.values import Array

__all__ = ["DOMAINS", "ends_of", "evaluated", "new_operators", "rounded"]

DOMAINS = ("qonnx.custom_op.general", "onnx.brevitas", "finn.custom_op.general")
"""How the domain of these operators is called."""


def ends_of(signed: bool, narrow: bool, bits: Array) -> tuple[Array, Array]:
    """The least and the greatest integer of a number of bits."""
    whole = 2.0 ** (np.asarray(bits, np.float64) - signed)
    least = -whole + narrow if signed else np.zeros_like(whole)
    return least, whole - 1 - (narrow and not signed)


def rounded(x: Array, mode: str) -> Array:
    """Whole numbers, in one of QONNX's ways."""
    mode = mode.upper()
    size: dict[str, Any] = {
        "UP": lambda e: np.ceil(e),
        "DOWN": lambda e: np.floor(e),
        "HALF_UP": lambda e: np.floor(e + 0.5),
        "HALF_DOWN": lambda e: np.ceil(e - 0.5),
    }
    if mode in size:
        found: Array = np.sign(x) * size[mode](np.abs(x))
        return found
    plain: dict[str, Any] = {"ROUND": np.rint, "HALF_EVEN": np.rint, "CEIL": np.ceil, "FLOOR": np.floor}
    done: Array = plain[mode](x)
    return done


def _quantised(given: Sequence[Array], signed: int, narrow: int, rounding_mode: str) -> Array:
    x, factor, zero, bits = given
    whole = x / factor + zero
    if signed and (np.asarray(bits) == 1).all():
        whole = np.where(whole >= 0, 1, -1)
    else:
        whole = rounded(np.clip(whole, *ends_of(bool(signed), bool(narrow), bits)), rounding_mode)
    return np.asarray((whole - zero) * factor, np.float32)


class _Quant(OpRun):
    def _run(self, *x: Array, **_: Any) -> tuple[Array]:
        narrow, mode = getattr(self, "narrow", 1), getattr(self, "rounding_mode", "ROUND")
        return (_quantised(x, getattr(self, "signed", 1), narrow, mode),)


class _BipolarQuant(OpRun):
    def _run(self, x: Array, factor: Array, **_: Any) -> tuple[Array]:
        return (np.asarray(np.where(x >= 0, 1, -1) * factor, np.float32),)


class _Trunc(OpRun):
    def _run(self, x: Array, factor: Array, zero: Array, bits: Array, *rest: Array, **_: Any) -> tuple[Array]:
        whole, mode = np.rint(x / factor + zero), getattr(self, "rounding_mode", "FLOOR")
        if len(rest) == 1:
            return (np.asarray((rounded(whole / 2.0 ** (bits - rest[0]), mode) - zero) * factor, np.float32),)
        out, width = rest
        share = 2.0 ** np.rint(np.log2(out / factor))
        ends = ends_of(bool(getattr(self, "signed", 1)), bool(getattr(self, "narrow", 0)), width)
        found = rounded(np.clip(whole / share, *ends), mode) - zero / share
        return (np.asarray(found * out, np.float32),)


class _FloatQuant(OpRun):
    def _run(
        self, x: Array, factor: Array, exponents: Array, mantissas: Array, bias: Array, most: Array, **_: Any
    ) -> tuple[Array]:
        scaled = x / factor
        with np.errstate(divide="ignore"):
            exponent = np.frexp(scaled)[1] - 1
        unit = np.exp2(np.maximum(exponent, 1 - bias) - mantissas)
        found = rounded(scaled / unit, getattr(self, "rounding_mode", "ROUND")) * unit
        limit = np.minimum(most, (2 - 2.0**-mantissas) * 2.0 ** (2.0**exponents - 1 - bias))
        return (np.asarray(np.clip(found, -limit, limit) * factor, np.float32),)


class _MultiThreshold(OpRun):
    def _run(self, x: Array, thresholds: Array, **_: Any) -> tuple[Array]:
        layout = getattr(self, "data_layout", None) or {2: "NC", 3: "NWC", 4: "NCHW"}.get(x.ndim, "")
        channel = layout.index("C") if "C" in layout else 1
        last = np.moveaxis(x, channel, -1)[..., None] >= thresholds
        count = np.moveaxis(last.sum(-1).astype(np.float32), -1, channel)
        found = count * np.float32(getattr(self, "out_scale", 1)) + np.float32(getattr(self, "out_bias", 0))
        return (np.asarray(found, np.float32),)


class BatchNormalization(OpRun):
    """Before set 14, where ONNX's evaluator takes the statistics of the data as in training."""

    op_domain = ""

    def _run(
        self,
        x: Array,
        scale: Array,
        bias: Array,
        mean: Array,
        variance: Array,
        epsilon: float = 1e-5,
        **_: Any,
    ) -> tuple[Array]:
        rows = [each.reshape(-1, *[1] * (x.ndim - 2)) for each in (scale, bias, mean, variance)]
        found = rows[0] * (x - rows[2]) / np.sqrt(rows[3] + np.float32(epsilon)) + rows[1]
        return (np.asarray(found, x.dtype),)


_QONNX: list[type[OpRun]] = [
    type(name, (kind,), {"op_domain": domain})
    for domain in DOMAINS
    for name, kind in (
        ("Quant", _Quant),
        ("IntQuant", _Quant),
        ("BipolarQuant", _BipolarQuant),
        ("Trunc", _Trunc),
        ("FloatQuant", _FloatQuant),
        ("MultiThreshold", _MultiThreshold),
    )
]
"""For `ReferenceEvaluator(new_ops=...)`."""


def new_operators(version: int) -> list[type[OpRun]]:
    """What the evaluator has not, or not right, in a version of ONNX's operators."""
    return [*_QONNX, BatchNormalization] if version < 14 else _QONNX


# Nodes on arrays, as ONNX's reference evaluator computes them: constants that are folded, and what the host
# works out before a run.


def evaluated(
    node: onnx.NodeProto, arrays: Sequence[Array | None], opsets: Mapping[str, int]
) -> list[Array | None]:
    """The results of a node.

    Raises:
        UnsupportedError: where the evaluator has no such node.
    """
    alone = onnx.NodeProto()
    alone.CopyFrom(node)
    del alone.input[:], alone.output[:]
    given: dict[str, Any] = {}
    for place, array in enumerate(arrays):
        alone.input.append("" if array is None else f"i{place}")
        if array is not None:
            given[f"i{place}"] = array
    names = [f"o{place}" if name else "" for place, name in enumerate(node.output)]
    alone.output.extend(names)
    wanted = [name for name in names if name]
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    function = helper.make_function("samhw", "node", list(given), wanted, [alone], imports)
    try:
        with np.errstate(all="ignore"):
            found = ReferenceEvaluator(function, new_ops=new_operators(opsets.get("", 14))).run(
                None, given, attributes={}
            )
    except Exception as error:
        said = (str(error) or type(error).__name__).strip().splitlines()[0][:120]
        raise UnsupportedError(f"cannot be computed before the run ({said})", "mend the model") from None
    results = dict(zip(wanted, found, strict=True))
    for name, result in results.items():
        if not isinstance(result, np.ndarray | np.generic):
            raise UnsupportedError("gives a sequence or an optional value", "use tensors alone")
        results[name] = np.asarray(result)
    return [results.get(name) for name in names]
