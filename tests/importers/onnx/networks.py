"""Networks of a few nodes, as ONNX's own text says them."""

from typing import Any

import numpy as np
import onnx
from onnx import parser

import samhw.onnx
from samhw.app.onnx import NetworkDesign, NetworkResult


def network(text: str, opset: int = 21) -> onnx.ModelProto:
    """A graph's text, such as `g (float[2] x) => (float[2] y) { y = Relu(x) }`."""
    model: onnx.ModelProto = parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]> {text}')
    onnx.checker.check_model(model)
    return model


def compiled(text: str, data: dict[str, Any] | None = None, opset: int = 21, **options: Any) -> NetworkDesign:
    return samhw.onnx.compile(network(text, opset), data, **options)


def run(text: str, data: dict[str, Any], opset: int = 21, **options: Any) -> NetworkResult:
    """A run whose check is good."""
    found = compiled(text, data, opset, **options).run()
    assert found.check().good
    return found


def output(text: str, opset: int = 21, **data: Any) -> np.ndarray[Any, Any]:
    """The only output of a run whose check is good."""
    (found,) = run(text, data, opset).outputs.values()
    return found
