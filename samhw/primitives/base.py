"""What every primitive kind answers: its parameters, its ports, its latencies and its actors."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from samhw.errors import InputError
from samhw.graph import Arch, Graph, Node, Port, Stream, StreamKind
from samhw.numerics import value_type
from samhw.primitives.network import ActorNetwork

__all__ = [
    "NAME",
    "VALUE",
    "Param",
    "Params",
    "Ports",
    "Primitive",
    "choice",
    "crd",
    "parameters",
    "ref",
    "typed",
    "val",
]

Params = Mapping[str, Any]
Ports = Sequence[Port]

DEEPEST = 15
"""A stop's payload has a nibble for each end, so a stream has at most 15 levels."""


class Param(NamedTuple):
    """One parameter of a kind: what it must be, in words and as a test."""

    expected: str
    accepts: Callable[[Any], bool]
    optional: bool = False


NAME = Param("a name", lambda value: isinstance(value, str) and value != "")


def _is_value_type(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(value_type(value))
    except InputError:
        return False


VALUE = Param("a value type, such as 'i32', 'fixed<16,8>' or 'f32'", _is_value_type, optional=True)
"""The type of a node's values, if it is not the graph's (`Graph.operand_type`, `Graph.result_type`)."""


def choice(*names: str) -> Param:
    """A parameter that is one of the names."""
    return Param(f"one of {', '.join(names)}", lambda value: value in names)


def parameters(**params: Param) -> Mapping[str, Param]:
    """The parameters of a kind, by name."""
    return params


def typed(name: str, kind: str, depth: int) -> Port:
    """A port whose kind of payload is a parameter."""
    return Port(name, Stream(StreamKind(kind), depth))


def crd(name: str, depth: int) -> Port:
    """A port of coordinates."""
    return Port(name, Stream(StreamKind.CRD, depth))


def ref(name: str, depth: int) -> Port:
    """A port of references."""
    return Port(name, Stream(StreamKind.REF, depth))


def val(name: str, depth: int) -> Port:
    """A port of values."""
    return Port(name, Stream(StreamKind.VAL, depth))


class Primitive(ABC):
    """A kind of node. `depth` is everywhere the depth of the stream on the first input."""

    kind: ClassVar[str]
    params: ClassVar[Mapping[str, Param]] = parameters()

    @abstractmethod
    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        """Inputs and outputs."""

    @abstractmethod
    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        """The actors of a node, which is of this kind."""

    def latency(self, node: Node, port: str, arch: Arch, value: str) -> int:
        """Latency of an output, in cycles. `value` is the graph's value type."""
        return arch.step

    def ordered(self, port: str) -> bool:
        """The input relies on coordinates that strictly increase inside a fiber."""
        return False

    def least_depth(self, params: Params) -> int:
        """Least `depth` that makes sense."""
        return 0

    def clash(self, params: Params) -> str | None:
        """What is wrong with parameters that are good one by one, as the end of a sentence."""
        return None

    def make(self, name: str, depth: int, note: str, params: Params) -> Node:
        """A node of this kind; raises `InputError` for parameters or a depth that it cannot have."""
        where = f"Node {name!r} ({self.kind})"
        if unknown := sorted(set(params) - set(self.params)):
            names = ", ".join(self.params) or "none"
            raise InputError(f"{where} has no parameter {unknown[0]!r}; its parameters are: {names}.")
        for key, param in self.params.items():
            if key not in params:
                if not param.optional:
                    raise InputError(f"{where} lacks the parameter {key!r}; give {param.expected}.")
            elif not param.accepts(params[key]):
                raise InputError(f"{where} has {key} = {params[key]!r}; give {param.expected}.")
        if complaint := self.clash(params):
            raise InputError(f"{where} {complaint}.")
        if depth < self.least_depth(params):
            least = self.least_depth(params)
            raise InputError(f"{where} has a first input of depth {depth}; give at least {least}.")
        plain = {key: list(value) if isinstance(value, tuple) else value for key, value in params.items()}
        inputs, outputs = self.ports(depth, plain)
        if any(port.stream.depth > DEEPEST for port in (*inputs, *outputs)):
            raise InputError(f"{where} has a stream of more than {DEEPEST} levels; give a smaller depth.")
        return Node(name, self.kind, plain, tuple(inputs), tuple(outputs), note)
