"""The extended task dependence graph of a function: buffers, blocks, operations, and access maps between them
(the FractalTensor paper, section 4.4)."""

from collections.abc import Iterator
from dataclasses import dataclass

from samhw.graph.dot import draw_text
from samhw.lang.nested.dataflow import BlockNode, ElementRead, Equation, Item, Pieces, reads_of
from samhw.lang.nested.distances import sources_of
from samhw.lang.nested.function import NestedFunction, definition, read_text
from samhw.lang.nested.indices import Affine, matrix, text_of, variable

__all__ = ["AccessEdge", "TaskGraph", "task_graph"]


@dataclass(frozen=True)
class AccessEdge:
    """An access of a buffer.

    Attributes:
        buffer: what is read, or written.
        node: the block that does it, by its name in the graph, or an operation outside of all blocks.
        written: whether it is written.
        map: the access matrix and the offsets, over the loops around the access; None where a list of numbers
            gives places.
        text: the access itself.
    """

    buffer: str
    node: str
    written: bool
    map: tuple[tuple[tuple[int, ...], ...], tuple[int, ...]] | None
    text: str


@dataclass(frozen=True)
class TaskGraph:
    """Buffers, blocks with what they contain, and accesses. ``str()`` of it is a list of them.

    Attributes:
        function: what it is the graph of.
        blocks: by name, those in blocks included; the name of the inner ones begins with that of the outer.
        edges: each once.
    """

    function: NestedFunction
    blocks: dict[str, BlockNode]
    edges: tuple[AccessEdge, ...]

    @property
    def depth(self) -> int:
        """The most blocks in each other, the operation in the innermost one counted as one more."""
        return 1 + max((name.count(".") + 1 for name in self.blocks), default=0)

    @property
    def dimension(self) -> int:
        """The most loops in each other."""
        return max((len(loops) for loops in self.function.scope.values()), default=0)

    def __str__(self) -> str:
        lines = []
        for name, block in self.blocks.items():
            loops = ", ".join(f"{loop.operator} {loop.name} < {loop.extent}" for loop in block.loops)
            lines.append(f"{name}: {loops}")
            for edge in self.edges:
                if edge.node == name:
                    found = (
                        "" if edge.map is None else f"   M = {_matrix(edge.map[0])}, o = {list(edge.map[1])}"
                    )
                    lines.append(f"  {'writes' if edge.written else 'reads'} {edge.text}{found}")
        return "\n".join(lines) + "\n"

    @property
    def dot(self) -> str:
        """The graph in Graphviz's language: a frame for each block, a box for each operation, a cylinder for
        each parameter and each result."""
        function = self.function
        lines = [
            f'digraph "{function.name}" {{',
            "  node [shape=box, fontname=Helvetica, fontsize=10];",
            "  graph [fontname=Helvetica, fontsize=10];",
        ]
        for name in (*function.parameters, *function.results):
            label = f"{name}\\n{function.buffers[name].type}"
            lines.append(f'  "{name}" [shape=cylinder, label="{label}"];')
        used = {r.buffer for b in function.buffers.values() for r in reads_of(b)} - set(function.parameters)
        known = [n for n in function.buffers if n in used and n not in function.scope]
        lines += [f'  "{name}" [style=dashed];' for name in known]
        lines += _frames(function, function.body, 1, "block")
        for name, buffer in function.buffers.items():
            is_state = isinstance(buffer, Pieces) and buffer.role == "state"
            for number, read in enumerate(reads_of(buffer)):
                # What an earlier step has given.
                style = " [style=dashed]" if is_state and number else ""
                lines.append(f'  "{read.buffer}" -> "{name}"{style};')
        return "\n".join((*lines, "}")) + "\n"

    def draw(self, form: str) -> bytes:
        """The drawing in one of `samhw.graph.dot.DRAWINGS`. Raises InputError without a Graphviz."""
        return draw_text(self.dot, form)


def task_graph(function: NestedFunction) -> TaskGraph:
    """The graph of a function as it stands: trace it, and apply what passes you want before."""
    blocks: dict[str, BlockNode] = {}
    edges: dict[AccessEdge, None] = {}
    _collect(function, function.body, "block", blocks, edges)
    return TaskGraph(function, blocks, tuple(edges))


def _collect(
    function: NestedFunction,
    items: tuple[Item, ...],
    prefix: str,
    blocks: dict[str, BlockNode],
    edges: dict[AccessEdge, None],
) -> None:
    number = 0
    for item in items:
        if isinstance(item, BlockNode):
            name = f"{prefix}{number}" if prefix == "block" else f"{prefix}.{number}"
            number += 1
            blocks[name] = item
            for inner in item.body:
                if isinstance(inner, str):
                    edges.update(dict.fromkeys(_edges(function, inner, name)))
            _collect(function, item.body, name, blocks, edges)


def _edges(function: NestedFunction, name: str, node: str) -> Iterator[AccessEdge]:
    """The accesses of an operation: what lies beneath views, and beneath states in each piece."""
    buffer = function.buffers[name]
    if not isinstance(buffer, Equation):
        return
    loops = function.scope[name]
    variables = [loop.name for loop in loops]
    for source in sources_of(function, name):
        here = ElementRead(source.read.buffer, tuple(variable(loop) for loop in variables))
        # From one operation to another of the same iteration there is no access of a buffer.
        passed = source.read == here and function.scope.get(here.buffer) == loops
        if source.read.indices and not passed:
            conditions = [f"{start} <= {text_of(i)} < {stop}" for i, start, stop in source.guards]
            where = f" where {' and '.join(conditions)}" if conditions else ""
            yield AccessEdge(
                source.read.buffer, node, False, _map(source.read, variables), read_text(source.read) + where
            )
    here = ElementRead(name, tuple(variable(loop) for loop in variables))
    yield AccessEdge(name, node, True, _map(here, variables), read_text(here))


def _map(
    read: ElementRead, variables: list[str]
) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]] | None:
    affine = [index for index in read.indices if isinstance(index, Affine)]
    return None if len(affine) < len(read.indices) else matrix(affine, variables)


def _matrix(rows: tuple[tuple[int, ...], ...]) -> str:
    return "[" + "; ".join(" ".join(map(str, row)) for row in rows) + "]"


def _frames(function: NestedFunction, items: tuple[Item, ...], level: int, prefix: str) -> list[str]:
    lines = []
    margin = "  " * level
    for number, item in enumerate(items):
        if isinstance(item, BlockNode):
            loops = ", ".join(f"{loop.operator} {loop.name} < {loop.extent}" for loop in item.loops)
            lines.append(f'{margin}subgraph "cluster_{prefix}_{number}" {{')
            lines.append(f'{margin}  label="{loops}"; style=rounded;')
            lines += _frames(function, item.body, level + 1, f"{prefix}_{number}")
            lines.append(f"{margin}}}")
        elif item not in function.results:
            label = definition(function.buffers[item]).replace('"', "'")
            style = "" if isinstance(function.buffers[item], Equation) else ", style=dashed"
            lines.append(f'{margin}"{item}" [label="{label}"{style}];')
    return lines
