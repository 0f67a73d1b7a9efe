"""What boards are made of: families of FPGAs, and the tops that go onto them. The boards themselves are the
files of the folder `boards`."""

from samhw.targets.boards.files import board_file, board_names, is_board_file

__all__ = ["board_file", "board_names", "is_board_file"]
