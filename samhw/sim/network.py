"""A node as the actors it consists of: what the simulator runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate
from typing import NamedTuple

from samhw.graph import Arch, Graph, Node, Token
from samhw.primitives import role
from samhw.sim.step import Step

__all__ = ["Actor", "ActorNetwork", "Link", "Place", "Read", "Spacing", "Store", "Turn", "expand"]


class Place(StrEnum):
    """Where a store lies."""

    MEMORY = "memory"
    """A memory of the graph."""
    EXTENT = "extent"
    """The register with the run's extent of an index, a store of one word."""
    STEP = "step"
    """The register with the number of the step that a repeat is at, a store of one word."""
    PRIVATE = "private"
    """Inside the node, zero at power-on, shared by those of its actors that name it."""


class Store(NamedTuple):
    """An array that an actor indexes. `words` is the size of a private one."""

    place: Place
    name: str
    words: int = 1


class Read(NamedTuple):
    """What a firing reads of a memory for an output (docs/memory.md): the word at a payload, plus an offset,
    where that payload is a VAL; for timing only, the step function has read it by itself.

    The payload is the head of input `port` or, if `pushed`, what the firing pushes on output `port`.
    """

    store: int
    """Place in `Actor.memory`."""
    output: int
    port: int
    offset: int = 0
    pushed: bool = False


class Spacing(NamedTuple):
    """Two firings with one key are at least `latency` cycles apart (docs/timing.md, spacing).

    After a step that returned a firing, `state[key]` holds the key of that firing, 0 to words - 1, or -1 if
    it has none.
    """

    latency: int
    words: int
    key: int


class Turn(NamedTuple):
    """A firing may have to wait for its turn in memories in banks (docs/timing.md, "Interleaved memories").

    After a step that returned a firing, `state[key]` holds the turn of that firing, 0 to banks - 1: it comes
    only in cycles that are equal to it modulo `banks`. With -1 it has none, and does not wait.
    """

    banks: int
    key: int


@dataclass(frozen=True, eq=False)
class Actor:
    """One state machine of a node.

    `inputs` and `outputs` name links of the network, or else ports of the node. `state` is the start state.
    """

    name: str
    step: Step
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    state: tuple[int, ...] = ()
    memory: tuple[Store, ...] = ()
    written: Mapping[int, int] = field(default_factory=dict)
    """For each store that it writes from the start on: its place in `memory` -> the place in `state` of the
    number of words written."""
    placed: Mapping[int, int] = field(default_factory=dict)
    """For each store that it writes anywhere: its place in `memory` -> the input whose payload is the place
    that a firing writes."""
    spacing: Spacing | None = None
    turn: Turn | None = None
    """An actor with turns keeps no spacing."""
    widths: Mapping[str, int] = field(default_factory=dict)
    """The words of what passes through those of its inputs and outputs that carry blocks. `data` and
    `out_data` of its step function have the first word of each port, and after these the further words of
    all of them, port by port."""
    operations: int = 1
    """How many operations on values a firing may make: those on the elements of a block."""
    reads: tuple[Read, ...] = ()
    """What it reads of the graph's memories, in the order in which it asks for it."""

    def offsets(self, ports: Sequence[str]) -> tuple[int, ...]:
        """Where the further words of each of its inputs, or outputs, begin; and last, where they end."""
        return tuple(accumulate((self.widths.get(port, 1) - 1 for port in ports), initial=len(ports)))


@dataclass(frozen=True)
class Link:
    """An internal channel. `initial` are the tokens in it at power-on; each takes a slot."""

    latency: int
    depth: int
    initial: tuple[Token, ...] = ()


@dataclass(frozen=True)
class ActorNetwork:
    """The actors of a node, and the links between them by name."""

    actors: tuple[Actor, ...]
    links: Mapping[str, Link] = field(default_factory=dict)


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The actors that a node consists of, along the flow: what the `expand` of its kind's model gives.

    Raises:
        InputError: for parameters that no node of the kind can have.
    """
    model = role(node.kind, "model")
    assert model is not None, f"samhw/primitives/{node.kind} has no model"
    network: ActorNetwork = model.expand(node, graph, arch)
    return network
