"""Plain text, for what terminals and `str` show. This module imports nothing of samhw."""

from collections.abc import Sequence

__all__ = ["counted", "in_columns"]


def counted(number: int, noun: str) -> str:
    """A number with its noun, such as `1 region` or `1,200 regions`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def in_columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows as text, their columns two blanks apart."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(n) for cell, n in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
