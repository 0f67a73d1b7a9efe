"""Programs of other frameworks: PyTorch (`torch`), MLIR (`mlir`), and what importers share (`core`)."""
