"""What intersect and union have in common."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from samhw.graph import Node
from samhw.primitives.carry.model import carrying
from samhw.sim.network import Actor, ActorNetwork
from samhw.sim.step import EMPTY, NONE, PAYLOAD, PROTOCOL, PUSHES, Step, Words, fault, firing

__all__ = ["JoinWords", "all_ends", "held_up", "join"]


class JoinWords(NamedTuple):
    """What a step function of n pairs closes over; input 2i is crd<i>, input 2i + 1 is ref<i>."""

    crds: int
    """The set of the coordinate inputs."""
    every: int
    """The set of all inputs."""
    wait: int
    """Returned where a coordinate is not there yet."""
    protocol: int
    """Returned where the coordinates do not go together."""
    pushes: int
    """All outputs, at their place in a firing."""

    @classmethod
    def of(cls, n: int) -> "JoinWords":
        crds = sum(1 << 2 * i for i in range(n))
        return cls(crds, crds | crds << 1, firing(crds), fault(PROTOCOL, crds), (1 << n + 1) - 1 << PUSHES)


def all_ends(kind: Words, data: Words, end: int) -> bool:
    """Whether the coordinate inputs below `end`, none of them a payload, all have the same token."""
    alike = kind[0] != EMPTY
    for i in range(2, end, 2):
        if kind[i] != kind[0] or data[i] != data[0]:
            alike = False
    return alike


def held_up(kind: Words, data: Words, end: int, vals: int, takes: int, needs: int, protocol: int) -> int:
    """What a step gives instead of a firing that takes these pairs, of those below `end`: `needs` where a
    payload is not there yet, `protocol` where one is not in lockstep with its coordinate; else 0.

    Args:
        vals: how many inputs have a coordinate. If some have, only such pairs are taken.
    """
    instead = 0
    for i in range(0, end, 2):
        payload = kind[i + 1]
        fits = 1 if payload in PAYLOAD else 0
        if vals == 0:
            fits = 1 if payload == kind[i] and data[i + 1] == data[i] else 0
        held = needs if payload == NONE else 0 if fits else protocol
        instead = held if instead == 0 and takes >> i & 1 else instead
    return instead


def join(step: Callable[[int], Step], node: Node) -> ActorNetwork:
    """The one actor of a node: n pairs of crd and payload streams in lockstep become one crd stream and n
    payload streams. `step` gives the step function of n inputs."""
    inputs = tuple(port.name for port in node.inputs)
    outputs = tuple(port.name for port in node.outputs)
    n = node.params["inputs"]
    widths = {port.name: port.stream.payload.words for port in node.outputs if port.stream.payload.shape}
    actor = Actor(node.kind, step(n), inputs, outputs, widths=widths)
    if widths:
        sources, targets = actor.offsets(inputs), actor.offsets(outputs)
        pairs = ((2 * i + 1, i + 1, widths.get(f"ref{i}", 1) - 1) for i in range(n))
        routes = [(sources[a], targets[b], count) for a, b, count in pairs if count]
        actor = replace(actor, step=carrying(actor.step, routes))
    return ActorNetwork((actor,))
