"""Programs of other frameworks: what all importers share (`core`), and PyTorch (`torch`)."""
