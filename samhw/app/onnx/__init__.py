"""Networks in ONNX in, results out (docs/onnx.md)."""

from samhw.app.onnx.network_design import NetworkCheck, NetworkDesign, NetworkResult, compile

__all__ = ["NetworkCheck", "NetworkDesign", "NetworkResult", "compile"]
