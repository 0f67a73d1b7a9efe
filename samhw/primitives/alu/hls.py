"""alu, as a process of C++, and the functors of its operations."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from math import prod
from operator import attrgetter
from typing import Any, NamedTuple

from samhw.graph import Graph, Node
from samhw.graph.numerics import NARROWINGS, OPERATIONS, Fixed, Float
from samhw.graph.numerics.float_format import F32
from samhw.hls.cpp import by, element_index, payload_class, value_class
from samhw.hls.lower import plain
from samhw.hls.region_builder import RegionBuilder
from samhw.hls.tables import FUNCTIONS, format_tables, word_tables
from samhw.primitives.alu.spec import axes_of

__all__ = ["context", "lower"]


class Elementwise(NamedTuple):
    """What an ALU on blocks computes an element of its result of."""

    name: str
    shape: str
    elements: int
    places: tuple[tuple[str, str], ...]
    """Of each operand, which of its elements."""

    @classmethod
    def of(cls, node: Node) -> "Elementwise":
        """Those of a node. Equal nodes have equal names."""
        shape, ports = tuple(node.params["shape"]), [port.name for port in node.inputs]
        axes = [tuple(axes_of(node.params, port)) for port in ports]
        parts = ("_".join(map(str, numbers)) for numbers in (shape, *axes))
        places = ((port, element_index(shape, own)) for port, own in zip(ports, axes, strict=True))
        name = f"elements_{'_'.join(ports)}__{'__'.join(parts)}"
        return cls(name, by(shape), prod(shape), tuple(places))


_REDUCTIONS = ("max", "min")
"""The functors that the header of all operations has, for reducers and for the ALU alike."""


def lower(to: RegionBuilder, node: Node) -> None:
    """One process."""
    plain(to, node, _operator(to, node))


def _operator(to: RegionBuilder, node: Node) -> str:
    """The functor of an ALU, with its immediates as words."""
    functor, given = _element_operator(to, node), to.graph.given(node, "val")
    if given.words == 1:
        return functor
    return f"samhw::blockwise<samhw::{Elementwise.of(node).name}, {functor}, {payload_class(given)}>"


def _element_operator(to: RegionBuilder, node: Node) -> str:
    """The functor of an ALU on single values."""
    op, operand, result = node.params["op"], to.graph.operand_type(node), to.graph.result_type(node)
    immediates = node.params.get("immediates", {})
    if op == "convert":
        return f"samhw::convert_to<{value_class(result)}>"
    if op == "scale":
        numbers = [str(number) for _, number in sorted(immediates.items())]
        return f"samhw::{_scale_name(node)}<{', '.join([value_class(result), *numbers])}>"
    words = [operand.constant(number) for _, number in sorted(immediates.items())]
    functor = "_".join([op, *sorted(immediates)])
    if words:
        functor += f"<{', '.join(f'{word:#x}' for word in words)}>"
    if result != operand:
        return f"samhw::widened<{value_class(result)}, samhw::{functor}>"
    return f"samhw::{functor}"


def _scale_name(node: Node) -> str:
    """The functor of a `scale`, by the operands that come in streams."""
    return f"scale_{_streams(node)}"


def _streams(node: Node) -> str:
    """The names of the operands that come in streams."""
    return "".join(port.name for port in node.inputs)


@dataclass(frozen=True)
class _Functor:
    """A functor of the ALU: an operation some of whose operands are constants."""

    name: str
    immediates: tuple[str, ...]
    home: str
    """The class template that has the operation: `operations` or `functions`."""

    def is_function(self, name: str) -> bool:
        """Whether it is the one of that name in `functions`."""
        return self.home == "functions" and self.name == name

    @property
    def functor(self) -> str:
        """Its name in C++."""
        return "_".join([self.name, *self.immediates])

    @property
    def ports(self) -> tuple[str, ...]:
        """All operands."""
        return ("a", "b", "c")[: OPERATIONS[self.name]]

    @property
    def streams(self) -> tuple[str, ...]:
        """The operands that come in streams."""
        return tuple(p for p in self.ports if p not in self.immediates)


def context(uses: Sequence[tuple[Graph, Node]]) -> dict[str, Any]:
    """What the headers `alu` and `functions` are rendered for."""
    used = {_functor(graph, node) for graph, node in uses if node.params["op"] in OPERATIONS}
    functors = {functor for functor in used if functor.functor not in _REDUCTIONS}
    converts = any(
        node.params["op"] in ("convert", "scale") or graph.operand_type(node) != graph.result_type(node)
        for graph, node in uses
    )
    blocked = [node for graph, node in uses if graph.given(node, "val").words > 1]
    return {
        **({"converts": True} if converts else {}),
        "alu": {
            "operators": sorted(functors, key=lambda op: (op.name, op.immediates)),
            "arities": sorted({len(n.inputs) for _, n in uses}),
            "elements": sorted({Elementwise.of(node) for node in blocked}),
            "block_arities": sorted({len(node.inputs) for node in blocked}),
            "functions": any(op.home == "functions" for op in functors),
            "widened": any(
                n.params["op"] in OPERATIONS and graph.operand_type(n) != graph.result_type(n)
                for graph, n in uses
            ),
            "converts": any(n.params["op"] == "convert" for _, n in uses),
            "scales": sorted({_streams(n) for _, n in uses if n.params["op"] == "scale"}),
        },
        **_functions(uses, functors),
    }


def _functions(uses: Sequence[tuple[Graph, Node]], functors: Set[_Functor]) -> dict[str, Any]:
    """The functions that are looked up in tables, and these tables."""
    names = [name for name in FUNCTIONS if any(op.is_function(name) for op in functors)]
    looked_up: dict[Float, set[str]] = {}
    formats = set()
    for graph, n in uses:
        kind, op = graph.operand_type(n), n.params["op"]
        if isinstance(kind, Float) and op in kind.tabulated:
            looked_up.setdefault(kind, set()).add(op)
        elif op in FUNCTIONS:
            formats.add(kind.format if isinstance(kind, Float) and op not in kind.by_f32 else F32)
    return {
        "names": names,
        "narrowings": [name for name in NARROWINGS if any(op.is_function(name) for op in functors)],
        "fixed": any(
            isinstance(graph.operand_type(n), Fixed) and _home(graph, n) == "functions" for graph, n in uses
        ),
        "halves": any(
            isinstance(kind := graph.operand_type(n), Float)
            and kind.by_f32
            and not kind.tabulated
            and _home(graph, n) == "functions"
            for graph, n in uses
        ),
        "word_tables": [word_tables(kind, sorted(ops)) for kind, ops in sorted(looked_up.items(), key=str)],
        "tables": [format_tables(f, names) for f in sorted(formats, key=attrgetter("width"))],
    }


def _functor(graph: Graph, node: Node) -> _Functor:
    return _Functor(node.params["op"], tuple(sorted(node.params.get("immediates", ()))), _home(graph, node))


def _home(graph: Graph, node: Node) -> str:
    kind, op = graph.operand_type(node), node.params["op"]
    tabulated = isinstance(kind, Float) and op in kind.tabulated
    return (
        "functions"
        if op in (*FUNCTIONS, *NARROWINGS)
        or (isinstance(kind, Fixed) and op in ("sqrt", "rint"))
        or tabulated
        else "operations"
    )
