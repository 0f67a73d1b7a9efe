"""Designs for boards: netlists and bitstreams, and what loads them."""

from samhw.targets.building.boards.bitstream import Bitstream, bitstream_tools, load_bitstream, make_bitstream
from samhw.targets.building.boards.netlist import BoardDesign

__all__ = ["Bitstream", "BoardDesign", "bitstream_tools", "load_bitstream", "make_bitstream"]
