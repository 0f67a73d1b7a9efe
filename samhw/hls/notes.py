"""The comment above a node's calls: the cell of the fusion table from which it comes."""

import re

from samhw.graph import Node
from samhw.hls.lowering import Lowering

__all__ = ["note"]

_CELLS = {
    "scan_dense": "LS",
    "scan_compressed": "LS",
    "scan_singleton": "LS",
    "locate": "Locate",
    "repeat": "Rep",
    "write_dense": "LW",
    "write_compressed": "LW",
    "write_val": "LW",
    "union": "Union",
    "intersect": "Intersect",
}
"""What the fusion table calls a primitive."""

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}

_LEVEL = re.compile(r"(.+)_([A-Za-z][A-Za-z0-9]*)(?:_\d+)?")
"""A tensor and one of its indices, perhaps with a number to tell it from others."""


def note(to: Lowering, node: Node) -> str:
    """The row, the column and the text of the node's cell; one like it, if the node has none in the table."""
    if node.note:
        return node.note
    name = to.base(node)
    if node.kind == "alu":
        return f"val: {_formula(to, node)}"
    if node.kind == "write_val":
        return f"val, {name}: LW({name}_val)"
    cell = _CELLS.get(node.kind)
    if cell and (level := _LEVEL.fullmatch(name)):
        return f"{level[2]}, {level[1]}: {cell}({name})"
    return f"{cell} {name}" if cell else name


def _formula(to: Lowering, node: Node) -> str:
    """What an ALU computes, in terms of the streams that it reads."""
    op = str(node.params["op"])
    numbers = {port: f"{number:g}" for port, number in node.params.get("immediates", {}).items()}
    operands = numbers | {port.name: to.input(node, port.name).name for port in node.inputs}
    texts = [operands[port] for port in sorted(operands)]
    if op in _INFIX and len(texts) == 2:
        return f"{texts[0]} {_INFIX[op]} {texts[1]}"
    return f"{op}({', '.join(texts)})"
