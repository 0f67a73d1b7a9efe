"""Networks in ONNX in, results out (docs/onnx.md): what people import of `samhw.app.onnx`."""

from samhw.app.onnx import NetworkCheck, NetworkDesign, NetworkResult, compile

__all__ = ["NetworkCheck", "NetworkDesign", "NetworkResult", "compile"]
