"""Designs on boards: netlists, bitstreams, and sessions through a cable or with an emulated board."""

from samhw.targets.boards.bitstream import Bitstream, make_bitstream
from samhw.targets.boards.emulator import EmulatedLine
from samhw.targets.boards.folder import BoardFolder, write_folder
from samhw.targets.boards.loader import load_bitstream
from samhw.targets.boards.netlist import BoardDesign
from samhw.targets.boards.session import BoardSession

__all__ = [
    "Bitstream",
    "BoardDesign",
    "BoardFolder",
    "BoardSession",
    "EmulatedLine",
    "load_bitstream",
    "make_bitstream",
    "write_folder",
]
