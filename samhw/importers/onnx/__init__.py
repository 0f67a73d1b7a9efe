"""Models in ONNX as programs (docs/onnx.md)."""

from samhw.importers.onnx import operators
from samhw.importers.onnx.imported import UNROLL, ImportedModel, ModelOutput, import_model
from samhw.importers.onnx.model import ModelPort, OnnxModel, read_model
from samhw.importers.onnx.registry import OPERATORS
from samhw.importers.onnx.values import Array, is_float, kind_name

__all__ = [
    "OPERATORS",
    "UNROLL",
    "Array",
    "ImportedModel",
    "ModelOutput",
    "ModelPort",
    "OnnxModel",
    "import_model",
    "is_float",
    "kind_name",
    "operators",
    "read_model",
]
