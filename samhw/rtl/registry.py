"""From a node of the graph to its component."""

from samhw.errors import InputError
from samhw.graph import Arch, Graph, Node, StreamKind
from samhw.numerics import value_type
from samhw.rtl.actor import Primitive
from samhw.rtl.alu import Alu
from samhw.rtl.array import Array
from samhw.rtl.crd_hold import CrdHold
from samhw.rtl.drop_crd import DropCrd
from samhw.rtl.drop_val import DropVal
from samhw.rtl.intersect import Intersect
from samhw.rtl.locate import Locate
from samhw.rtl.reduce_scalar import ReduceScalar
from samhw.rtl.reduce_vector import ReduceVector
from samhw.rtl.repeat import Repeat
from samhw.rtl.root import Root
from samhw.rtl.scan_compressed import ScanCompressed
from samhw.rtl.scan_dense import ScanDense
from samhw.rtl.scan_singleton import ScanSingleton
from samhw.rtl.shift import Shift
from samhw.rtl.union import Union
from samhw.rtl.units import token_width
from samhw.rtl.write_compressed import WriteCompressed
from samhw.rtl.write_dense import WriteDense
from samhw.rtl.write_val import WriteVal

__all__ = ["component"]


def component(node: Node, graph: Graph, arch: Arch, *, stall_port: bool) -> Primitive:
    """The component of a node.

    Args:
        stall_port: gives roots and writers the input `stall`.

    Raises:
        InputError: an unknown kind, a value type without the unit, or a latency of `arch` that the RTL cannot
            meet.
    """
    value, result = value_type(graph.operand_type(node)), value_type(graph.result_type(node))
    params = node.params

    def capacity(memory: str) -> int:
        return graph.memory[params[memory]].capacity

    def payload_width(port: str) -> int:
        return token_width(value) if node.input(port).stream.kind is StreamKind.VAL else arch.index_bits

    match node.kind:
        case "root":
            return Root(arch=arch, stall_port=stall_port)
        case "scan_dense":
            return ScanDense(arch=arch)
        case "scan_compressed":
            return ScanCompressed(arch=arch, pos_capacity=capacity("pos"), crd_capacity=capacity("crd"))
        case "scan_singleton":
            return ScanSingleton(arch=arch, crd_capacity=capacity("crd"))
        case "repeat":
            return Repeat(arch=arch, payload_width=payload_width("ref"))
        case "crd_hold":
            return CrdHold(arch=arch)
        case "locate":
            return Locate(arch=arch)
        case "shift":
            return Shift(arch=arch)
        case "intersect" | "union":
            widths = [payload_width(f"ref{i}") for i in range(params["inputs"])]
            return (Intersect if node.kind == "intersect" else Union)(arch=arch, payload_widths=widths)
        case "array":
            return Array(arch=arch, value_type=value, vals_capacity=capacity("vals"))
        case "alu":
            immediates = params.get("immediates")
            return Alu(arch=arch, value_type=value, op=params["op"], to=result, immediates=immediates)
        case "reduce_scalar":
            return ReduceScalar(arch=arch, value_type=value, op=params["op"])
        case "reduce_vector":
            return ReduceVector(arch=arch, value_type=value, op=params["op"], bits=params["bits"])
        case "drop_crd":
            return DropCrd(arch=arch)
        case "drop_val":
            return DropVal(arch=arch, value_type=value)
        case "write_compressed":
            return WriteCompressed(
                arch=arch, pos_capacity=capacity("pos"), crd_capacity=capacity("crd"), stall_port=stall_port
            )
        case "write_dense":
            return WriteDense(arch=arch, stall_port=stall_port)
        case "write_val":
            return WriteVal(
                arch=arch, value_type=value, vals_capacity=capacity("vals"), stall_port=stall_port
            )
    raise InputError(
        f"Node {node.name!r} is of the kind {node.kind!r}, which the RTL does not know; see "
        "docs/primitives.md."
    )
