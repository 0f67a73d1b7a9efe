"""What only Vitis has, in software."""

from pathlib import Path

__all__ = ["BURSTS"]

BURSTS = {"src/hls_burst_maxi.h": (Path(__file__).parent / "hls_burst_maxi.h").read_text(encoding="utf-8")}
"""The header of `hls::burst_maxi`, by its path among the sources of a design."""
