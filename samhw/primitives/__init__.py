"""The primitives of docs/primitives.md as executable models, one file each (what they are: `samhw.spec`).

Each consists of actors, whose rules are step functions (step.py). These are written in a subset of Python
that becomes machine code too: docs/simulator.md, "What a step function may use".
"""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.alu import Alu
from samhw.primitives.arg import Arg
from samhw.primitives.array import Array
from samhw.primitives.crd_hold import CrdHold
from samhw.primitives.drop_crd import DropCrd
from samhw.primitives.drop_val import DropVal
from samhw.primitives.fold import Fold
from samhw.primitives.gather import Gather
from samhw.primitives.intersect import Intersect
from samhw.primitives.last import Last
from samhw.primitives.locate import Locate
from samhw.primitives.matmul import Matmul
from samhw.primitives.model import Model
from samhw.primitives.network import Actor, ActorNetwork, Link, Place, Read, Spacing, Store
from samhw.primitives.pick import Pick
from samhw.primitives.recur import Recur
from samhw.primitives.recur_vector import RecurVector
from samhw.primitives.reduce_scalar import ReduceScalar
from samhw.primitives.reduce_vector import ReduceVector
from samhw.primitives.repeat import Repeater
from samhw.primitives.root import Root
from samhw.primitives.running import Running
from samhw.primitives.scan_compressed import ScanCompressed
from samhw.primitives.scan_dense import ScanDense
from samhw.primitives.scan_dia import ScanDia
from samhw.primitives.scan_ell import ScanEll
from samhw.primitives.scan_ragged import ScanRagged
from samhw.primitives.scan_singleton import ScanSingleton
from samhw.primitives.scatter import Scatter
from samhw.primitives.shift import Shift
from samhw.primitives.step_ref import StepRef
from samhw.primitives.top_k import TopK
from samhw.primitives.union import Union
from samhw.primitives.write_at import WriteAt
from samhw.primitives.write_compressed import WriteCompressed
from samhw.primitives.write_dense import WriteDense
from samhw.primitives.write_val import WriteVal

__all__ = [
    "Actor",
    "ActorNetwork",
    "Link",
    "Place",
    "Read",
    "Spacing",
    "Store",
    "expand",
]

_MODELS: tuple[Model, ...] = (
    Root(),
    StepRef(),
    ScanDense(),
    ScanCompressed(),
    ScanSingleton(),
    ScanEll(),
    ScanRagged(),
    ScanDia(),
    Repeater(),
    CrdHold(),
    Locate(),
    Pick(),
    Shift(),
    Scatter(),
    Gather(),
    Intersect(),
    Union(),
    Array(),
    Alu(),
    Matmul(),
    Fold(),
    ReduceScalar(),
    Running(),
    Recur(),
    Last(),
    Arg(),
    TopK(),
    ReduceVector(),
    RecurVector(),
    DropCrd(),
    DropVal(),
    WriteCompressed(),
    WriteDense(),
    WriteVal(),
    WriteAt(),
)
_BY_KIND = {model.spec.kind: model for model in _MODELS}


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The actors that a node consists of, as the simulator runs them; along the flow.

    Raises:
        InputError: for an unknown kind, or parameters that no node of the kind can have.
    """
    return _BY_KIND[node.spec.kind].expand(node, graph, arch)
