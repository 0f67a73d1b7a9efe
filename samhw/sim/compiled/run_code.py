"""Calls from Python to compiled functions by their address."""

import ctypes

__all__ = ["run_code"]

_Function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


def run_code(code: int, first: int, second: int) -> int:
    """What the function at an address gives for two words."""
    result: int = _Function(code)(first, second)
    return result
