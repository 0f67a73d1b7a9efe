"""Digilent Arty A7-35T, as a project for Vivado. Neither Vivado nor a board has seen it."""

from amaranth_boards.arty_a7 import ArtyA7_35Platform

from samhw.targets.boards.board import Board
from samhw.targets.boards.xilinx7 import XC7A35T, XILINX7

BOARD = Board(
    name="arty_a7",
    title="Digilent Arty A7-35T",
    platform=ArtyA7_35Platform,
    family=XILINX7,
    part=XC7A35T,
    clock=50e6,
    baud=2_000_000,
    loader="arty",
    serial="the second of its two (FT2232H; the first is JTAG)",
)
