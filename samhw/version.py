"""Which samhw this is. This module imports nothing, so that every folder may use it."""

__all__ = ["__version__"]

__version__ = "0.1.0"
