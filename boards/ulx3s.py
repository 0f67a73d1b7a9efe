"""Radiona ULX3S with an LFE5U-85F."""

from amaranth_boards.ulx3s import ULX3S_85F_Platform

from samhw.targets.boards.board import MT48LC16M16, Board
from samhw.targets.boards.ecp5 import ECP5, LFE5U_85F

BOARD = Board(
    name="ulx3s",
    title="Radiona ULX3S with an LFE5U-85F",
    platform=ULX3S_85F_Platform,
    family=ECP5,
    part=LFE5U_85F,
    clock=50e6,
    baud=3_000_000,
    loader="ulx3s",
    serial="the only one (FT231X)",
    sdram=MT48LC16M16,
    # Else its other processor, which has this pin too, may reboot the board.
    high=(("esp32", "gpio0"),),
)
