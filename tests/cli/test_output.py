"""What commands print: tables of every width, on terminals and in pipes."""

from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from samhw.app.cli.printed import print_table

ROWS = [
    ["schedule", "cycles", "waited for a token"],
    ["partial, factored", "24,513", "206,666: scan_A_k.crd"],
    ["full, global", "1.5", ""],
]


def printed(rows: list[list[str]], width: int, terminal: bool = True, title: str = "a title") -> list[str]:
    """The lines of a table."""
    output = StringIO()
    console = Console(file=output, width=width, force_terminal=terminal, color_system=None)
    print_table(console, rows, title)
    assert console.width == width
    first, *lines = output.getvalue().splitlines()
    assert first.strip() == title
    return lines


def cells(lines: list[str], count: int) -> list[list[list[str]]]:
    """The words of each cell."""
    found: list[list[list[str]]] = []
    for line in lines:
        if line[0] in "┏┡└├":
            found.append([[] for _ in range(count)])
            continue
        for cell, words in zip(line[1:-1].replace("┃", "│").split("│"), found[-1], strict=True):
            words += cell.split()
    return found[:-1]


def test_in_a_pipe_nothing_folds() -> None:
    assert printed(ROWS, 20, terminal=False, title="a title that is longer than that") == [
        "┏━━━━━━━━━━━━━━━━━━━┳━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━━┓",
        "┃ schedule          ┃ cycles ┃ waited for a token    ┃",
        "┡━━━━━━━━━━━━━━━━━━━╇━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━┩",
        "│ partial, factored │ 24,513 │ 206,666: scan_A_k.crd │",
        "│ full, global      │ 1.5    │                       │",
        "└───────────────────┴────────┴───────────────────────┘",
    ]


def test_on_a_terminal_cells_fold_between_words() -> None:
    assert printed(ROWS, 40)[-4:-1] == [
        "│ partial,     │ 24,513 │ 206,666:     │",
        "│ factored     │        │ scan_A_k.crd │",
        "│ full, global │ 1.5    │              │",
    ]


def test_a_table_may_be_wider_than_the_terminal() -> None:
    assert [line for line in printed(ROWS, 10) if "24,513" in line] == [
        "│ partial, │ 24,513 │ 206,666:     │"
    ]


words = st.from_regex(r"[a-z]{1,12}|-?[0-9]{1,3}(,[0-9]{3}){0,6}|0\.[0-9]{1,17}|⟨[A-Z]_[ij]⟩", fullmatch=True)
cell = st.lists(words, max_size=4).map(" ".join)
tables = st.integers(1, 8).flatmap(
    lambda count: st.lists(st.lists(cell, min_size=count, max_size=count), min_size=2, max_size=4)
)


@given(tables, st.integers(1, 160))
def test_words_are_whole_at_every_width(rows: list[list[str]], width: int) -> None:
    lines = printed(rows, width)
    # Rows of one line each follow each other without a rule, so all of the body's are read as one.
    heading, body = cells(lines, len(rows[0]))
    assert heading == [cell.split() for cell in rows[0]]
    assert body == [[word for row in rows[1:] for word in row[k].split()] for k in range(len(rows[0]))]


@pytest.mark.slow
@given(tables, st.integers(1, 160))
def test_no_wider_than_it_needs_to_be(rows: list[list[str]], width: int) -> None:
    least, size, most = (len(printed(rows, *how)[0]) for how in ((1,), (width,), (1, False)))
    assert least <= size <= most
    assert size <= max(width, least)
    if width >= most:
        assert size == most
