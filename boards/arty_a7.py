"""Digilent Arty A7-35T, as a project for Vivado. Neither Vivado nor a board has seen it."""

from amaranth_boards.arty_a7 import ArtyA7_35Platform

from samhw.boards.board import Board
from samhw.boards.family import Device
from samhw.boards.xilinx7 import XILINX7

BOARD = Board(
    name="arty_a7",
    title="Digilent Arty A7-35T",
    platform=ArtyA7_35Platform,
    family=XILINX7,
    # DS180, table 4; a block RAM counts as two of 18 Kb.
    part=Device("XC7A35T", luts=20_800, registers=41_600, block_rams=100, multipliers=90),
    clock=50e6,
    baud=2_000_000,
    loader="arty",
    serial="the second of its two (FT2232H; the first is JTAG)",
)
