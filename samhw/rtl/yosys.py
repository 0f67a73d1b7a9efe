"""The Yosys that Amaranth takes, for what its own script does not do."""

from typing import Any

from amaranth.back import verilog

__all__ = ["find_yosys"]

_OLDEST = (0, 40)
"""The oldest version that Amaranth takes."""


def find_yosys() -> Any:
    """Its class, with `run` and `data_dir`."""
    return verilog.find_yosys(lambda version: version >= _OLDEST)
