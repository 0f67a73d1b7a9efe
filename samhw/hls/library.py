"""The header library of HLS programs: the headers that they need, for the types and arities that they use."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from samhw.graph import Graph, Node
from samhw.hls.factors import Elementwise, Factors, FoldedParts
from samhw.hls.off_chip import BURST, OUTSTANDING
from samhw.hls.program import HlsProgram
from samhw.hls.tables import FUNCTIONS, format_tables, word_tables
from samhw.hls.templates import render
from samhw.numerics import NARROWINGS, OPERATIONS, Fixed, Float, ValueType
from samhw.numerics.float_format import F32

__all__ = ["Operator", "library", "operation_headers"]

_HEADERS = {
    **{f"line_{part}": "lines" for part in ("ask", "read", "word", "gather", "write")},
    **{f"scan_stored_{part}": "scan_stored" for part in ("refs", "check")},
    "scan_compressed_ends": "scan_compressed",
    "scan_singleton_refs": "scan_singleton",
    "scan_ell_ends": "scan_ell",
    "pick_found": "pick",
    **{f"write_{what}_places": f"write_{what}" for what in ("compressed", "val", "at")},
    "scan_dense_scale": "scan_dense",
    "scan_dense_walk": "scan_dense",
    "scan_compressed_fetch": "scan_compressed",
    "scan_compressed_walk": "scan_compressed",
    "scan_ell_fetch": "scan_ell",
    "scan_ragged_walk": "scan_ragged",
    **{f"scan_dia_{part}": "scan_dia" for part in ("fetch", "walk", "keep")},
    "unite": "union",
    "copy": "fanout",
    "discard": "fanout",
    **{f"reduce_scalar_{part}": "reduce_scalar" for part in ("accumulate", "mark", "pair", "chain", "emit")},
    **{
        f"running_{part}": "running"
        for part in ("accumulate", "spread", "spread_last", "chain", "add", "delay")
    },
    **{f"recur_{part}": "recur" for part in ("spread", "spread_last", "chain", "add")},
    **{f"reduce_vector_{part}": "reduce_vector" for part in ("accumulate", "emit")},
    "recur_vector_accumulate": "reduce_vector",
}
"""Where a function stands, if not in the header of its name."""

_SHARED = {
    "scan_dense": ["walk"],
    "scan_compressed": ["walk"],
    "scan_singleton": ["walk"],
    "scan_ell": ["scan_compressed"],
    "scan_ragged": ["scan_compressed"],
    "scan_dia": ["walk"],
    "scan_stored": ["scan_compressed", "walk"],
    "lines": ["bursts_csim"],
    "repeat": ["hold"],
    "crd_hold": ["hold"],
    "locate": ["hold"],
    "top_k": ["arg"],
}
"""What a header includes besides tokens and operations."""

_REDUCTIONS = ("max", "min")
"""The functors that the header of all operations has, for reducers and for the ALU alike."""


@dataclass(frozen=True)
class Operator:
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


def library(programs: Sequence[HlsProgram], graphs: Sequence[Graph], *, on_chip: bool) -> dict[str, str]:
    """The texts of the headers by file name; `<primitive>.hpp` for each primitive of the graphs.

    Args:
        programs: one, or several of one value type and index width that share a library.
        graphs: the graphs of all of their regions.
        on_chip: whether any of them copies its memories to the chip.
    """
    headers = {_HEADERS.get(p.function, p.function) for program in programs for p in program.processes}
    for header in tuple(headers):
        headers.update(_SHARED.get(header, ()))
    headers |= {"csim", "status", "token", "values"}
    if on_chip:
        headers.add("memory")
    context = _context(programs, graphs) | _line_context(programs)
    if context["blocks"]:
        headers.add("block")
    if headers & {
        "matmul",
        "fold",
        "alu",
        "arg",
        "drop_val",
        "reduce_scalar",
        "recur",
        "running",
        "reduce_vector",
    }:
        headers.add("operations")
        headers.update(context["operations_headers"])
    if context["alu"]["functions"]:
        headers.add("functions")
    if context["fixed"] or context["narrowings"]:
        headers |= {"convert", "fixed", "float"}
    return {f"{name}.hpp": render(f"library/{name}.hpp.j2", **context) for name in sorted(headers)}


def operation_headers(values: Iterable[ValueType], *, converts: bool) -> list[str]:
    """The headers with the operations of some value types."""
    kinds = list(values)
    if converts:
        return ["convert", "fixed", "float"]
    return ["fixed"] * any(not isinstance(k, Float) for k in kinds) + ["float"] * any(
        isinstance(k, Float) for k in kinds
    )


def _context(programs: Sequence[HlsProgram], graphs: Sequence[Graph]) -> dict[str, Any]:
    """What the templates are rendered for."""
    by_kind: dict[str, list[tuple[Graph, Node]]] = {}
    for graph in graphs:
        for node in graph.nodes:
            by_kind.setdefault(node.kind, []).append((graph, node))
    alus = by_kind.get("alu", [])
    used = {_operator(graph, node) for graph, node in alus if node.params["op"] in OPERATIONS}
    operators = {operator for operator in used if operator.functor not in _REDUCTIONS}
    converts = any(
        node.params["op"] in ("convert", "scale") or graph.operand_type(node) != graph.result_type(node)
        for graph, node in alus
    )
    functions = [name for name in FUNCTIONS if any(op.is_function(name) for op in operators)]
    through_f32 = any(
        isinstance(graph.operand_type(n), Fixed) and _home(graph, n) == "functions" for graph, n in alus
    )
    looked_up: dict[Float, set[str]] = {}
    formats = set()
    for graph, n in alus:
        kind, op = graph.operand_type(n), n.params["op"]
        if isinstance(kind, Float) and op in kind.tabulated:
            looked_up.setdefault(kind, set()).add(op)
        elif op in FUNCTIONS:
            formats.add(kind.format if isinstance(kind, Float) else F32)
    values = {
        value
        for graph in graphs
        for n in graph.nodes
        for value in (graph.value, graph.operand_type(n), graph.result_type(n))
    }
    blocked, running_blocked = (
        [graph.operand_type(n).block(n.params["op"]) > 1 for graph, n in by_kind.get(kind, [])]
        for kind in ("reduce_scalar", "running")
    )
    return {
        **_block_context(by_kind),
        "index_bits": programs[0].index_bits,
        "writers": sorted({len(region.errors) for program in programs for region in program.regions}),
        "fanouts": sorted(
            {len(p.writes) for program in programs for p in program.processes if p.function == "copy"}
        ),
        "arities": {
            **{
                kind: sorted({n.params["lanes"] for _, n in by_kind.get(kind, [])})
                for kind in ("scatter", "gather")
            },
            "intersect": sorted({n.params["inputs"] for _, n in by_kind.get("intersect", [])}),
            "union": sorted({n.params["inputs"] for _, n in by_kind.get("union", [])}),
            **{
                kind: sorted({len(n.params["bits"]) for _, n in by_kind.get(kind, [])})
                for kind in ("reduce_vector", "recur_vector")
            },
        },
        "reduce_scalar": {"blocked": any(blocked), "sequential": not all(blocked)},
        "running": {
            "blocked": any(running_blocked),
            "sequential": not all(running_blocked),
            "exclusive": any(n.params.get("exclusive") for _, n in by_kind.get("running", [])),
        },
        "operations_headers": operation_headers(values, converts=converts),
        "alu": {
            "operators": sorted(operators, key=lambda op: (op.name, op.immediates)),
            "arities": sorted({len(n.inputs) for _, n in alus}),
            **_element_context(alus),
            "functions": any(op.home == "functions" for op in operators),
            "widened": any(
                n.params["op"] in OPERATIONS and graph.operand_type(n) != graph.result_type(n)
                for graph, n in alus
            ),
            "converts": any(n.params["op"] == "convert" for _, n in alus),
            "scales": any(n.params["op"] == "scale" for _, n in alus),
        },
        "names": functions,
        "narrowings": [name for name in NARROWINGS if any(op.is_function(name) for op in operators)],
        "fixed": through_f32,
        "word_tables": [word_tables(kind, sorted(ops)) for kind, ops in sorted(looked_up.items(), key=str)],
        "tables": [format_tables(f, functions) for f in sorted(formats, key=attrgetter("width"))],
    }


def _line_context(programs: Sequence[HlsProgram]) -> dict[str, Any]:
    """The functions that are called, of which some are only for memories off the chip, and bursts."""
    functions = {process.function for program in programs for process in program.processes}
    return {"functions": functions, "burst": BURST, "outstanding": OUTSTANDING}


def _block_context(by_kind: Mapping[str, Sequence[tuple[Graph, Node]]]) -> dict[str, Any]:
    """Whether payloads are blocks, and what is multiplied and folded of them."""
    nodes = [node for found in by_kind.values() for _, node in found]
    payloads = (port.stream.payload for node in nodes for port in (*node.inputs, *node.outputs))
    matmuls = sorted({Factors.of(node) for _, node in by_kind.get("matmul", [])})
    folds = sorted({FoldedParts.of(node) for _, node in by_kind.get("fold", [])})
    some = bool(matmuls or folds) or any(p.words > 1 for p in payloads)
    return {"blocks": some, "matmuls": matmuls, "folds": folds}


def _element_context(alus: Sequence[tuple[Graph, Node]]) -> dict[str, Any]:
    """What ALUs compute of the elements of blocks."""
    blocked = [node for graph, node in alus if graph.given(node, "val").words > 1]
    return {
        "elements": sorted({Elementwise.of(node) for node in blocked}),
        "block_arities": sorted({len(node.inputs) for node in blocked}),
    }


def _operator(graph: Graph, node: Node) -> Operator:
    return Operator(node.params["op"], tuple(sorted(node.params.get("immediates", ()))), _home(graph, node))


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
