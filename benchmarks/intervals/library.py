"""Every function of the HLS library in one unit of C++: a call of each, with streams from outside."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from samhw.graph import Arch, Channel, Endpoint, Graph, Memory, MemoryRole, Node, make
from samhw.graph.numerics import value_type
from samhw.hls import HlsProgram, HlsStream
from samhw.hls.cpp import payload_class
from samhw.hls.library import library
from samhw.hls.lower import lower_node
from samhw.hls.program import Process
from samhw.hls.region_builder import RegionBuilder
from tests.spec.examples import EXAMPLES

__all__ = ["VALUES", "Call", "Unit", "partitioned"]

VALUES = ("i32", "fixed<16,8>", "f8e4m3", "bf16", "f32")

_WORDS = 1000
"""Of each memory."""

_SINKS = {"root": 0, "array": 2}
"""How many inputs an output feeds, if not one: so one is discarded, and one is copied."""

_PLAIN = ("add", "mul", "max", "lt", "select", "relu")
_OF_NUMBERS = ("div", "sqrt", "reciprocal", "rsqrt", "exp", "log", "sigmoid", "tanh", "silu", "gelu", "sin")

_OF_INDICES = {
    *("root", "step_ref", "scan_dense", "scan_compressed", "scan_singleton", "scan_ell", "scan_ragged"),
    *("scan_dia", "repeat", "crd_hold", "locate", "pick", "shift", "scatter", "gather", "drop_crd"),
    *("write_compressed", "write_dense"),
}
"""Kinds that no value goes through, or to which a value is like a reference."""


@dataclass(frozen=True)
class Call:
    """A process that the unit has as the function `process_<n>`."""

    process: Process
    node: Node

    @property
    def variant(self) -> str:
        """What tells its node from others of the kind."""
        params = self.node.params
        telling = ("op", "inputs", "bits", "exclusive", "levels")
        shown = {key: params[key] for key in telling if params.get(key)}
        return ", ".join(f"{key} {value}" for key, value in shown.items())


class Unit:
    """The unit of one value type; the first one also has what works on coordinates and references alone."""

    def __init__(self, value: str, arch: Arch, kinds: Sequence[str] | None = None):
        chosen = [
            (kind, depth, params)
            for kind, depth, params in _nodes(value)
            if (kinds is None or kind in kinds) and (value == VALUES[0] or kind not in _OF_INDICES)
        ]
        self.nodes = [_node(n, kind, depth, params) for n, (kind, depth, params) in enumerate(chosen)]
        # Once more with its memories off the chip, which only the width of a word tells apart.
        again = [(k, d, p) for (k, d, p), node in zip(chosen, self.nodes, strict=True) if node.memories]
        behind = enumerate(again if value == VALUES[0] else [], len(self.nodes))
        lines = [_node(n, kind, depth, params) for n, (kind, depth, params) in behind]
        self.nodes += lines
        self.graph = Graph(
            "unit",
            value_type(value),
            tuple(self.nodes),
            tuple(
                Channel(Endpoint(node.name, port.name), Endpoint(node.name, f"{port.name}_{n}"), 1, 1)
                for node in self.nodes
                for port in node.outputs
                for n in range(_SINKS.get(node.kind, 1))
            ),
            tuple(chain.from_iterable(map(_memories, self.nodes))),
            (),
            {name: 9 for node in self.nodes for name in (*node.extents.values(), *node.repeats.values())},
        )
        uses = [(name, n.spec.memories[p]) for n in lines for p, name in n.memories.items()]
        off_chip = {name for name, use in uses if use.may_lie_off_chip}
        self.to = RegionBuilder(self.graph, arch, off_chip)
        self.calls: list[Call] = []
        self.fed: list[HlsStream] = []
        for node in self.nodes:
            for port in node.inputs:
                type = payload_class(self.graph.taken(node, port.name))
                stream = HlsStream(f"in_{node.name}_{port.name}", type, 1)
                self.to.feeds[Endpoint(node.name, port.name)] = stream
                self.fed.append(stream)
            before = len(self.to.processes)
            lower_node(self.to, node)
            self.calls += [Call(process, node) for process in self.to.processes[before:]]

    def sources(self) -> dict[str, str]:
        """The texts by name; the unit is `unit.cpp`."""
        to = self.to
        headers = library([HlsProgram("unit", to.arch.index_bits, (to.region(),))], [self.graph])
        for name in (
            "status.hpp",
            "csim.hpp",
            "pipelines_csim.hpp",
            "bursts_csim.hpp",
        ):  # For a whole design, and for simulation.
            headers.pop(name, None)
        lines = [f'#include "{name}"' for name in headers]
        lines += ["using namespace samhw;", "typedef traits<index_t>::memory index_word;"]
        lines += [f"const unsigned {name} = {k};" for k, name in enumerate(to.region().nodes)]
        ports = {p.words: p for p in (*to.inputs, *to.outputs)}
        lines += [f"const unsigned {words} = {p.memory.capacity};" for words, p in ports.items()]
        lines += [
            f"extern burst_port {p.name};" if p.off_chip else f"extern {p.word} {p.name}[{p.words}];"
            for p in (*to.inputs, *to.outputs)
        ]
        lines += [f"extern index_t {name};" for name in (*to.extents.values(), *to.steps.values())]
        lines += [f"extern stream<{s.type}> {s.name};" for s in (*self.fed, *to.streams)]
        lines += [f"extern error_code {name};" for name in to.errors]
        lines += [f"extern unsigned {name};" for name in (*to.begins.values(), *to.counts.values())]
        for n, call in enumerate(self.calls):
            process = call.process
            template = f"<{', '.join(process.template)}>" if process.template else ""
            arguments = ", ".join(a if isinstance(a, str) else a.name for a in process.arguments)
            lines.append(f'extern "C" void process_{n}() {{ {process.function}{template}({arguments}); }}')
        return {**headers, "unit.cpp": "\n".join([*lines, ""])}


def partitioned(headers: Mapping[str, str]) -> frozenset[str]:
    """The arrays that pragmas lay in registers, or in a memory for each index of their first dimension."""
    pattern = re.compile(r"#pragma HLS ARRAY_PARTITION variable=(\w+)")
    return frozenset(name for text in headers.values() for name in pattern.findall(text))


def _node(n: int, kind: str, depth: int, params: Mapping[str, Any]) -> Node:
    """A node with memories, extents and repeats of its own."""
    plain = make(kind, f"n{n}", depth, **params)
    own = plain.memories.keys() | plain.extents.keys() | plain.repeats.keys()
    named = {key: f"{given}_{n}" if key in own else given for key, given in params.items()}
    return make(kind, f"n{n}", depth, **named)


def _memories(node: Node) -> Iterator[Memory]:
    role = MemoryRole.INPUT if node.outputs else MemoryRole.OUTPUT
    for param, name in node.memories.items():
        yield Memory(name, "", node.spec.memories[param].array, role, _WORDS)


def _nodes(value: str) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """A node of each kind, and further ones where a parameter or the type makes other loops of it."""
    operations = [*_PLAIN, *(_OF_NUMBERS if value != "i32" else ())]
    for kind, example in EXAMPLES.items():
        for params in _variants(kind, dict(example.params), operations):
            inside = max(len(params.get("bits", ())), params.get("levels", 0))
            yield kind, max(example.depth, inside + 1), params


def _variants(kind: str, params: dict[str, Any], operations: Sequence[str]) -> Iterator[dict[str, Any]]:
    match kind:
        case "alu":
            yield from ({"op": op} for op in operations)
        case "intersect" | "union":
            yield from (params | {"inputs": n, "payloads": ["ref"] * n} for n in (2, 3))
        case "gather":
            yield from (params | {"levels": n} for n in (0, 1))
        case "reduce_scalar":
            yield from (params | {"op": op} for op in ("sum", "max", "prod"))
        case "running":
            yield from (params | {"op": op, "exclusive": op == "max"} for op in ("sum", "max", "prod"))
        case "reduce_vector":
            yield from (params | {"op": op, "bits": [10]} for op in ("sum", "max"))
            yield params | {"op": "sum", "bits": [3, 5]}
        case "recur_vector":
            yield params | {"bits": [10]}
        case _:
            yield params
