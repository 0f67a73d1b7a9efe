"""Nodes on arrays, as ONNX's reference evaluator computes them: constants that are folded, and what the host
works out before a run."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

from samhw.importers.core import UnsupportedError
from samhw.importers.onnx.qonnx_evaluator import new_operators
from samhw.importers.onnx.values import Array

__all__ = ["evaluated"]


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
