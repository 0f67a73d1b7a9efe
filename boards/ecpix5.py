"""LambdaConcept ECPIX-5 with an LFE5UM5G-45F: half the size, a faster grade, and another clock."""

from amaranth_boards.ecpix5 import ECPIX545Platform

from samhw.targets.boards.board import Board
from samhw.targets.boards.ecp5 import ECP5, LFE5UM5G_45F

BOARD = Board(
    name="ecpix5",
    title="LambdaConcept ECPIX-5 with an LFE5UM5G-45F",
    platform=ECPIX545Platform,
    family=ECP5,
    part=LFE5UM5G_45F,
    clock=50e6,
    baud=3_000_000,
    loader="ecpix5",
    serial="the second of its two (FT2232H; the first is JTAG)",
)
