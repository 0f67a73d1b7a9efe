"""Networks in ONNX in, results out (docs/onnx.md)."""

from samhw.app.onnx.network_design import NetworkDesign, compile
from samhw.app.onnx.network_result import NetworkCheck, NetworkResult

__all__ = ["NetworkCheck", "NetworkDesign", "NetworkResult", "compile"]
