"""Programs of other frameworks: PyTorch (`torch`), MLIR (`mlir`) and ONNX (`onnx`); what importers share
(`core`)."""
