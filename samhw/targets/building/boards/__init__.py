"""Designs for boards: netlists and bitstreams, and what loads them."""

from samhw.targets.building.boards.bitstream import Bitstream, make_bitstream
from samhw.targets.building.boards.board_tools import load_bitstream
from samhw.targets.building.boards.netlist import BoardDesign

__all__ = ["Bitstream", "BoardDesign", "load_bitstream", "make_bitstream"]
