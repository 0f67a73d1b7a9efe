"""Draws docs/wavefront.svg: the cells of a stacked recurrent network, each with its round, as
`samhw.lang.nested.hyperplane` finds them.

Usage, from the repository's root: PYTHONPATH=. python docs/wavefront_picture.py
"""

from pathlib import Path
from typing import Any

from samhw.lang import nested
from samhw.lang.nested import ListType, Wavefront

PICTURE = Path(__file__).with_name("wavefront.svg")

LAYERS, STEPS = 4, 7

CELL, GAP, MARGIN = 52, 22, 46
"""Of a cell, between cells, and around all, pixels."""

LIGHT, DARK = (214, 231, 245), (120, 170, 215)
"""The colours of even and odd rounds."""


def wavefront() -> Wavefront:
    """Of a network of one sequence."""

    def network(xs: Any, ws: Any) -> Any:
        return ws.scanl(lambda ss, w: ss.scanl(lambda s, x: x @ w + s, 0), xs)

    function = nested.coarsened(
        nested.trace(network, ListType((STEPS,), (4,)), ListType((LAYERS,), (4, 4)))
    ).function
    found = nested.hyperplane(function, function.blocks[0])
    assert found is not None
    return found


def draw(found: Wavefront) -> str:
    """The picture: steps to the right, layers upwards."""
    width, height = (
        2 * MARGIN + n * (CELL + GAP) - GAP for n in (found.loops[1].extent, found.loops[0].extent)
    )
    shapes = []
    for m in range(found.rounds):
        for layer, step in found.cells(m):
            x = MARGIN + step * (CELL + GAP)
            y = MARGIN + (found.loops[0].extent - 1 - layer) * (CELL + GAP)
            red, green, blue = DARK if m % 2 else LIGHT
            shapes.append(
                f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" rx="6" '
                f'fill="rgb({red},{green},{blue})" stroke="#567"/>'
            )
            shapes.append(f'<text x="{x + CELL // 2}" y="{y + CELL // 2 + 6}">{m}</text>')
            middle = y + CELL // 2
            if step:
                shapes.append(_arrow(x - GAP, middle, x - 4, middle))
            if layer:
                centre = x + CELL // 2
                shapes.append(_arrow(centre, y + CELL + GAP, centre, y + CELL + 4))
    shapes.append(f'<text x="{width // 2}" y="{height - 14}">steps</text>')
    shapes.append(f'<text transform="translate(26,{height // 2}) rotate(-90)">layers</text>')
    body = "\n".join(shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        'font-family="sans-serif" font-size="17" text-anchor="middle">\n'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0,0 L8,4 L0,8 Z" fill="#444"/></marker></defs>\n'
        f'<rect width="{width}" height="{height}" fill="white"/>\n{body}\n</svg>\n'
    )


def _arrow(x: int, y: int, to_x: int, to_y: int) -> str:
    return f'<path d="M{x},{y} L{to_x},{to_y}" stroke="#444" marker-end="url(#tip)"/>'


if __name__ == "__main__":
    PICTURE.write_text(draw(wavefront()), encoding="utf-8")
