"""From a node of the graph to its component."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from samhw.errors import InputError
from samhw.graph import Arch, Endpoint, Graph, Node
from samhw.graph.widths import greatest_indices
from samhw.numerics import ValueType
from samhw.rtl.actor import Primitive
from samhw.rtl.alu import Alu
from samhw.rtl.arg import Arg
from samhw.rtl.array import Array
from samhw.rtl.crd_hold import CrdHold
from samhw.rtl.drop_crd import DropCrd
from samhw.rtl.drop_val import DropVal
from samhw.rtl.fold import Fold
from samhw.rtl.gather import Gather
from samhw.rtl.intersect import Intersect
from samhw.rtl.last import Last
from samhw.rtl.locate import Locate
from samhw.rtl.matmul import Matmul
from samhw.rtl.pick import Pick
from samhw.rtl.recur import Recur
from samhw.rtl.recur_vector import RecurVector
from samhw.rtl.reduce_scalar import ReduceScalar
from samhw.rtl.reduce_vector import ReduceVector
from samhw.rtl.repeat import Repeater
from samhw.rtl.root import Root
from samhw.rtl.running import Running
from samhw.rtl.scan_compressed import ScanCompressed
from samhw.rtl.scan_dense import ScanDense
from samhw.rtl.scan_dia import ScanDia
from samhw.rtl.scan_ell import ScanEll
from samhw.rtl.scan_ragged import ScanRagged
from samhw.rtl.scan_singleton import ScanSingleton
from samhw.rtl.scatter import Scatter
from samhw.rtl.shift import Shift
from samhw.rtl.step_ref import StepRef
from samhw.rtl.token import token_width
from samhw.rtl.top_k import TopK
from samhw.rtl.union import Union
from samhw.rtl.write_at import WriteAt
from samhw.rtl.write_compressed import WriteCompressed
from samhw.rtl.write_dense import WriteDense
from samhw.rtl.write_val import WriteVal

__all__ = ["COMPONENTS", "Site", "component"]


@dataclass(frozen=True)
class Site:
    """Where a component is to stand: a node of a graph, and what the component has to be made for."""

    node: Node
    graph: Graph
    arch: Arch
    stall_port: bool

    @property
    def params(self) -> Mapping[str, Any]:
        """The node's parameters."""
        return self.node.params

    @property
    def value(self) -> ValueType:
        """The type of the values that come in."""
        return self.graph.operand_type(self.node)

    @property
    def result(self) -> ValueType:
        """The type of the values that go out."""
        return self.graph.result_type(self.node)

    def capacity(self, param: str) -> int:
        """The places of the memory that a parameter names."""
        return self.graph.memory[self.node.memories[param]].capacity

    def stored_width(self, param: str) -> int:
        """The width of a place of the memory that a parameter names."""
        memory = self.graph.memory[self.node.memories[param]]
        return self.graph.stored(memory).width(self.arch.index_bits)

    def width(self, port: str) -> int:
        """The width of an input's payloads."""
        return token_width(self.graph.taken(self.node, port).width(self.arch.index_bits))

    def coordinate_bits(self) -> int:
        """The bits that the coordinates at the inputs of a joiner have."""
        greatest = greatest_indices(self.graph)
        ports = [Endpoint(self.node.name, f"crd{i}") for i in range(self.params["inputs"])]
        if not all(port in self.graph.fanin for port in ports):
            return self.arch.index_bits
        most = max(greatest[self.graph.fanin[port].source] for port in ports)
        return min(self.arch.index_bits, max(most.bit_length(), 1))

    def widths(self) -> list[int]:
        """The widths of the payloads that a joiner joins."""
        return [self.width(f"ref{i}") for i in range(self.params["inputs"])]


COMPONENTS: Mapping[str, Callable[[Site], Primitive]] = {
    "root": lambda at: Root(arch=at.arch, stall_port=at.stall_port),
    "step_ref": lambda at: StepRef(
        arch=at.arch,
        offset=at.params["offset"],
        bounded="extent" in at.params,
        down="down" in at.params,
        stall_port=at.stall_port,
    ),
    "scan_dense": lambda at: ScanDense(arch=at.arch),
    "scan_compressed": lambda at: ScanCompressed(
        arch=at.arch, pos_capacity=at.capacity("pos"), crd_capacity=at.capacity("crd")
    ),
    "scan_singleton": lambda at: ScanSingleton(arch=at.arch, crd_capacity=at.capacity("crd")),
    "scan_ell": lambda at: ScanEll(
        arch=at.arch,
        width=at.params["width"],
        cnt_capacity=at.capacity("cnt"),
        crd_capacity=at.capacity("crd"),
    ),
    "scan_ragged": lambda at: ScanRagged(arch=at.arch, pos_capacity=at.capacity("pos")),
    "scan_dia": lambda at: ScanDia(
        arch=at.arch, cnt_capacity=at.capacity("cnt"), off_capacity=at.capacity("off")
    ),
    "repeat": lambda at: Repeater(arch=at.arch, payload_width=at.width("ref")),
    "crd_hold": lambda at: CrdHold(arch=at.arch),
    "locate": lambda at: Locate(arch=at.arch),
    "pick": lambda at: Pick(arch=at.arch, crd_capacity=at.capacity("crd")),
    "shift": lambda at: Shift(arch=at.arch),
    "scatter": lambda at: Scatter(arch=at.arch, lanes=at.params["lanes"], payload_width=at.width("ref")),
    "gather": lambda at: Gather(
        arch=at.arch,
        lanes=at.params["lanes"],
        levels=at.params["levels"],
        payload_width=at.width("ref0"),
    ),
    "intersect": lambda at: Intersect(
        arch=at.arch, payload_widths=at.widths(), coordinate_bits=at.coordinate_bits()
    ),
    "union": lambda at: Union(arch=at.arch, payload_widths=at.widths(), coordinate_bits=at.coordinate_bits()),
    "array": lambda at: Array(
        arch=at.arch, stored_width=at.stored_width("vals"), vals_capacity=at.capacity("vals")
    ),
    "alu": lambda at: Alu(
        arch=at.arch,
        value_type=at.value,
        op=at.params["op"],
        to=at.result,
        immediates=at.params.get("immediates"),
        shape=at.params.get("shape", ()),
        axes=at.params.get("axes", {}),
    ),
    "matmul": lambda at: Matmul(
        arch=at.arch, value_type=at.value, **{name: at.params[name] for name in ("shape", "over", "a", "b")}
    ),
    "fold": lambda at: Fold(
        arch=at.arch, value_type=at.value, **{name: at.params[name] for name in ("op", "shape", "over")}
    ),
    "reduce_scalar": lambda at: ReduceScalar(
        arch=at.arch,
        value_type=at.value,
        op=at.params["op"],
        words=at.graph.taken(at.node, "val").words,
    ),
    "running": lambda at: Running(
        arch=at.arch,
        value_type=at.value,
        op=at.params["op"],
        exclusive=at.params.get("exclusive", False),
    ),
    "recur": lambda at: Recur(arch=at.arch, value_type=at.value),
    "last": lambda at: Last(arch=at.arch, value_type=at.value),
    "arg": lambda at: Arg(arch=at.arch, value_type=at.value, op=at.params["op"]),
    "top_k": lambda at: TopK(
        arch=at.arch,
        value_type=at.value,
        op=at.params["op"],
        gives=at.params["gives"],
        k=at.params["k"],
    ),
    "reduce_vector": lambda at: ReduceVector(
        arch=at.arch,
        value_type=at.value,
        op=at.params["op"],
        bits=at.params["bits"],
        banks=at.params.get("banks", 2),
        words=at.graph.taken(at.node, "val").words,
    ),
    "recur_vector": lambda at: RecurVector(
        arch=at.arch, value_type=at.value, bits=at.params["bits"], banks=at.params.get("banks", 2)
    ),
    "drop_crd": lambda at: DropCrd(arch=at.arch),
    "drop_val": lambda at: DropVal(
        arch=at.arch, value_type=at.value, words=at.graph.taken(at.node, "val").words
    ),
    "write_compressed": lambda at: WriteCompressed(
        arch=at.arch,
        pos_capacity=at.capacity("pos"),
        crd_capacity=at.capacity("crd"),
        stall_port=at.stall_port,
    ),
    "write_dense": lambda at: WriteDense(arch=at.arch, stall_port=at.stall_port),
    "write_val": lambda at: WriteVal(
        arch=at.arch,
        stored_width=at.stored_width("vals"),
        vals_capacity=at.capacity("vals"),
        stall_port=at.stall_port,
    ),
    "write_at": lambda at: WriteAt(
        arch=at.arch,
        stored_width=at.stored_width("vals"),
        vals_capacity=at.capacity("vals"),
        stall_port=at.stall_port,
    ),
}
"""By kind of primitive."""


def component(node: Node, graph: Graph, arch: Arch, *, stall_port: bool) -> Primitive:
    """The component of a node.

    Args:
        stall_port: gives roots and writers the input `stall`.

    Raises:
        InputError: an unknown kind, a value type without the unit, or a latency of `arch` that the RTL cannot
            meet.
    """
    if node.kind not in COMPONENTS:
        raise InputError(
            f"Node {node.name!r} is of the kind {node.kind!r}, which the RTL does not know; see "
            "docs/primitives.md."
        )
    return COMPONENTS[node.kind](Site(node, graph, arch, stall_port))
