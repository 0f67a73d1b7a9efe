"""Draws docs/architecture.svg: the folders of samhw, each above all that it imports, with the first words of
its docstring. An arrow that others imply is left out.

Usage, from the repository's root: python docs/architecture_picture.py
"""

import ast
import textwrap
from collections.abc import Iterator
from html import escape
from itertools import pairwise
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "architecture.svg"

WIDTH, HEIGHT = 186, 94
"""Of a folder's box, pixels."""

GAP, RISE = 24, 56
"""Between boxes of a floor, and between floors."""

LETTERS, LINES = 28, 5
"""Of the text in a box."""


def imported(path: Path) -> Iterator[str]:
    """The modules of samhw that a file imports, wherever in the file the import stands; but for what finds a
    primitive by its name, which imports none."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module != "samhw.primitives":
            yield node.module or ""


def folders() -> "nx.DiGraph[str]":
    """The folders, with an edge from each to those that it imports from."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    rooms = {init.parent.name for init in (ROOT / "samhw").glob("*/__init__.py")}
    graph.add_nodes_from(sorted(rooms))
    for room in graph:
        for path in (ROOT / "samhw" / room).rglob("*.py"):
            if room == "choices" and path.stem == "candidates":
                continue  # A search asks for it by the name of its choice.
            parts = (name.split(".") for name in imported(path))
            others = {part[1] for part in parts if part[0] == "samhw" and len(part) > 1}
            graph.add_edges_from((room, other) for other in others & rooms - {room})
    return graph


def about(room: str) -> str:
    """What a folder is: the first sentence of its docstring."""
    text = (ROOT / "samhw" / room / "__init__.py").read_text(encoding="utf-8")
    first = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0]
    return " ".join(first.replace("`", "").split()).split(". ")[0].rstrip(".")


def layers(graph: "nx.DiGraph[str]") -> tuple[list[list[str]], list[list[str]]]:
    """The floors from the top down, and the ways of the arrows from box to box.

    A folder is one floor above the highest that it imports from. An arrow that passes floors has a place of
    its own on each, between their boxes, so that it runs beneath none.
    """
    height: dict[str, int] = {}
    for room in reversed(list(nx.lexicographical_topological_sort(graph))):
        height[room] = 1 + max((height[other] for other in graph[room]), default=-1)
    top = max(height.values())
    rows: list[list[str]] = [[] for _ in range(top + 1)]
    for room in sorted(graph):
        rows[top - height[room]].append(room)
    ways = []
    for user, used in sorted(nx.transitive_reduction(graph).edges):
        passed = [f"{user} {used} {n}" for n in range(height[user] - 1, height[used], -1)]
        for n, place in enumerate(passed, 1 + top - height[user]):
            rows[n].append(place)
        ways.append([user, *passed, used])
    _arrange(rows, ways)
    return rows, ways


def _arrange(rows: list[list[str]], ways: list[list[str]]) -> None:
    """Puts each place near those that it is joined to, above and below in turn (barycenters)."""
    joined: dict[str, set[str]] = {}
    for way in ways:
        for a, b in pairwise(way):
            joined.setdefault(a, set()).add(b)
            joined.setdefault(b, set()).add(a)
    where = {place: n - len(row) / 2 for row in rows for n, place in enumerate(row)}
    for turn in range(8):
        for before, row in pairwise(rows if turn % 2 == 0 else rows[::-1]):
            pull = {p: [where[q] for q in sorted(joined.get(p, ())) if q in before] for p in row}
            row.sort(key=lambda p: (sum(pull[p]) / len(pull[p]) if pull[p] else where[p], p))
            where |= {place: n - len(row) / 2 for n, place in enumerate(row)}


def draw(graph: "nx.DiGraph[str]") -> str:
    """The picture."""
    rows, ways = layers(graph)
    wide = {place: WIDTH if place in graph else 0 for row in rows for place in row}
    widths = [sum(wide[place] + GAP for place in row) for row in rows]
    width, height = max(widths) + GAP, len(rows) * (HEIGHT + RISE)
    middle: dict[str, tuple[float, int]] = {}
    for n, row in enumerate(rows):
        x = (width - widths[n] + GAP) / 2
        for place in row:
            middle[place] = x + wide[place] / 2, RISE // 2 + n * (HEIGHT + RISE)
            x += wide[place] + GAP
    shapes = []
    for way in ways:
        x, y = middle[way[0]]
        path = f"M{x:.0f},{y + HEIGHT}"
        for n, place in enumerate(way[1:], 2):
            u, v = middle[place]
            end = v - 6 if n == len(way) else v
            path += f" C{x:.0f},{v - RISE / 2:.0f} {u:.0f},{v - RISE / 2:.0f} {u:.0f},{end}"
            path += "" if n == len(way) else f" V{v + HEIGHT}"
            x = u
        shapes.append(f'<path d="{path}" fill="none" stroke="#888" marker-end="url(#tip)"/>')
    for room in sorted(graph):
        x, y = middle[room]
        box = f'x="{x - WIDTH / 2:.0f}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5"'
        shapes.append(f'<rect {box} fill="#eef3fa" stroke="#35507a"/>')
        shapes.append(f'<text x="{x:.0f}" y="{y + 18}" font-weight="bold">{room}</text>')
        for n, line in enumerate(textwrap.wrap(about(room), LETTERS)[:LINES]):
            shapes.append(f'<text x="{x:.0f}" y="{y + 34 + 13 * n}" font-size="11">{escape(line)}</text>')
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"',
            ' font-family="sans-serif" font-size="13" text-anchor="middle">',
            '<defs><marker id="tip" markerWidth="7" markerHeight="6" refX="1" refY="3" orient="auto">'
            '<path d="M0,0 L7,3 L0,6 z" fill="#888"/></marker></defs>',
            f'<rect width="{width}" height="{height}" fill="white"/>',
            *shapes,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    PICTURE.write_text(draw(folders()), encoding="utf-8")
