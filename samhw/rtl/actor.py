"""What every primitive's component has in common: an error flag, a fired flag, and ports by the written
rule's names."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from amaranth.hdl import Cat, ShapeLike, Signal, Value, ValueLike
from amaranth.lib import enum, stream, wiring
from amaranth.lib.wiring import In, Out

from samhw.graph import Arch, Graph, Node
from samhw.primitives import role
from samhw.rtl.access import MemoryAccess
from samhw.rtl.channel import PushSignature
from samhw.rtl.shared import Shared
from samhw.rtl.site import Site, Varying

__all__ = ["Error", "Primitive", "component", "error_bits"]


class Error(enum.Flag, shape=5):  # type: ignore[call-arg]
    """The sticky error bits of docs/timing.md."""

    OVERFLOW = 1
    CAPACITY = 2
    PROTOCOL = 4
    RANGE = 8
    DEADLOCK = 16


def error_bits(
    *,
    overflow: ValueLike = 0,
    capacity: ValueLike = 0,
    protocol: ValueLike = 0,
    range: ValueLike = 0,
) -> Value:
    """The bits of `Error`, from a condition for each cause that a component can find."""
    return Cat(overflow, capacity, protocol, range)


class Primitive(Shared):
    """Base of the components. Inputs are `stream` consumers, outputs are pushes (`PushSignature`).

    A component with memories is made with their capacities as `<param>_capacity`, and asks `limit` for them.

    Args:
        inputs, outputs: the shape of each port's token, by the port's name in docs/primitives.md.
        others: further members of the signature: memory ports (`mem_<param>`, and `mem_<param>_next` where
            two words are read at a time), extents (`<param>`, `In(index_bits)`), `stall`, `committed`.
            `<param>` is the parameter that names the memory or the index.

    Members:
        i, o: the inputs and the outputs, by name; the two may share one (`repeat.i.ref`, `repeat.o.ref`).
        error (Out, `Error`): for one cycle or more when an error is detected; the top level makes it sticky.
        limit_<param> (In): the capacity of a memory, if it varies; stable during a run of a region.
        fired (Out): some actor of this primitive fires in this cycle; feeds the deadlock watchdog.
    """

    i: wiring.PureInterface
    o: wiring.PureInterface
    error: Signal
    fired: Signal

    def __init__(
        self,
        inputs: Mapping[str, ShapeLike],
        outputs: Mapping[str, ShapeLike],
        others: Mapping[str, object] | None = None,
    ):
        consumed = wiring.Signature({name: In(stream.Signature(shape)) for name, shape in inputs.items()})
        pushed = wiring.Signature({name: Out(PushSignature(shape)) for name, shape in outputs.items()})
        members = {"i": Out(consumed), "o": Out(pushed), "error": Out(Error), "fired": Out(1)}
        super().__init__({**members, **(others or {}), **self._limits()})

    def _limits(self) -> dict[str, object]:
        """The members that tell it the capacities which vary."""
        given = self.make.kwargs.items()
        varying = {name: capacity for name, capacity in given if isinstance(capacity, Varying)}
        return {
            f"limit_{name.removesuffix('_capacity')}": In(range(capacity + 1))
            for name, capacity in varying.items()
        }

    def limit(self, param: str) -> Value | int:
        """The places of the memory that a parameter names, in the present run."""
        member = f"limit_{param}"
        if member in self.signature.members:
            limit: Value = getattr(self, member)
            return limit
        capacity = self.make.kwargs[f"{param}_capacity"]
        assert isinstance(capacity, int)
        return capacity

    def memory_ports(self, param: str) -> list[wiring.PureInterface]:
        """The ports to the memory that a parameter names."""
        names = (f"mem_{param}", f"mem_{param}_next")
        return [getattr(self, name) for name in names if name in self.signature.members]

    @classmethod
    @abstractmethod
    def at(cls, site: Site) -> "Primitive":
        """The component for a site, which is that of a node of its kind."""


def component(
    node: Node,
    graph: Graph,
    arch: Arch,
    *,
    stall_port: bool,
    accesses: Mapping[str, MemoryAccess] = MappingProxyType({}),
    bound: Sequence[Node] = (),
    graphs: Sequence[Graph] = (),
    others: Sequence[tuple[Node, Graph]] = (),
) -> Primitive:
    """The component of a node, of the one class in the folder of its kind that is a `Primitive`.

    Args:
        stall_port: gives roots and writers the input `stall`.
        accesses, bound, graphs, others: as of `Site`.

    Raises:
        InputError: a value type without the unit, or a latency of `arch` that the RTL cannot meet.
    """
    module = role(node.kind, "component")
    assert module is not None, f"samhw/primitives/{node.kind} has no component"
    classes = (
        made for made in vars(module).values() if isinstance(made, type) and issubclass(made, Primitive)
    )
    (kind,) = (made for made in classes if made.__module__ == module.__name__)
    return kind.at(Site(node, graph, arch, stall_port, accesses, bound, graphs, others))
