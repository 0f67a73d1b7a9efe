"""The boards that designs can be put on: each a file here, a name below, and a line in `catalog.py`."""

__all__ = ["BOARDS"]

BOARDS = ("ulx3s", "ecpix5", "arty_a7")
"""Their names. `samhw.boards.catalog` has the boards, for which it needs Amaranth."""
