"""Where the cycles of a run went for a node: an exclusive account, which adds up to the cycles of the run.

The node's busiest part is told of. Where that waits for another part of the node, the wait counts as what the
other part did, in the proportion of its cycles: so that what stands here is seen from outside of the node.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from samhw.sim.result import ActorStats, NodeStats

__all__ = ["CAUSES", "Account", "account", "percents"]

CAUSES = ("busy", "starved", "blocked", "spaced", "stalled", "memory", "done")
"""What a node may spend a cycle on, in the order in which accounts have them."""

_Cause = tuple[str, str]
"""One of CAUSES, and the channel that it is about; empty where it is about none."""


@dataclass(frozen=True)
class Account:
    """The cycles of a run, by what a node did; they add up to those of the run."""

    busy: int
    """It fires, or its parts work for each other."""
    starved: Mapping[str, int]
    """It waits for a token, by the channel that the token comes through; the longest first."""
    blocked: Mapping[str, int]
    """It waits for a slot, by the channel that is full; the longest first."""
    spaced: int
    """It waits for an update of the same place, or for its turn at a bank."""
    stalled: int
    """A stall pattern holds it back."""
    memory: int
    """It waits for off-chip memory."""
    done: int
    """It has fired for the last time."""

    @property
    def causes(self) -> dict[str, int]:
        """The cycles by CAUSES."""
        own = {name: getattr(self, name) for name in CAUSES}
        return own | {"starved": sum(self.starved.values()), "blocked": sum(self.blocked.values())}

    @property
    def cycles(self) -> int:
        """All of them: those of the run."""
        return sum(self.causes.values())

    @property
    def longest(self) -> tuple[str, str, int] | None:
        """Its longest wait for another node: `starved` or `blocked`, the channel, and the cycles."""
        waits = [("starved", *wait) for wait in self.starved.items()]
        waits += [("blocked", *wait) for wait in self.blocked.items()]
        return max(waits, key=lambda wait: wait[2], default=None)

    def to_json(self) -> dict[str, Any]:
        """As reports and traces have it."""
        own = {name: getattr(self, name) for name in CAUSES}
        return own | {"starved": dict(self.starved), "blocked": dict(self.blocked)}


def account(node: NodeStats, cycles: int) -> Account:
    """What a node did in a run of that many cycles."""
    busiest = max(node.actors, key=lambda name: node.actors[name].firings)
    found = _Parts(node).seen_from_outside(busiest, frozenset())
    done = cycles - sum(found.values())
    waits: dict[str, dict[str, int]] = {"starved": {}, "blocked": {}}
    for (cause, channel), count in sorted(found.items(), key=lambda item: -item[1]):
        if cause in waits and count:
            waits[cause][channel] = count
    busy, spaced, stalled, memory = (found[cause, ""] for cause in ("busy", "spaced", "stalled", "memory"))
    return Account(busy, waits["starved"], waits["blocked"], spaced, stalled, memory, done)


class _Parts:
    """The actors of a node, and which of them its own links join."""

    def __init__(self, node: NodeStats):
        self.actors = node.actors
        self.takers = {link: name for name, actor in node.actors.items() for link in actor.starved}
        self.givers = {link: name for name, actor in node.actors.items() for link in actor.blocked}

    def seen_from_outside(self, name: str, asked: frozenset[str]) -> Counter[_Cause]:
        """What an actor did until its last firing, without waits for the others of its node.

        Args:
            asked: the actors that wait for it, what they did is no answer.
        """
        actor = self.actors[name]
        found = Counter[_Cause](
            {
                ("busy", ""): actor.firings,
                ("spaced", ""): actor.spaced,
                ("stalled", ""): actor.stalled,
                ("memory", ""): actor.memory,
            }
        )
        asked |= {name}
        for cause, others, waits in self._waits(actor):
            for channel, count in waits.items():
                other = others.get(channel)
                if other is None:
                    found[cause, channel] += count
                elif other not in asked:
                    found += _shared(count, self.seen_from_outside(other, asked))
                else:
                    found["busy", ""] += count
        return found

    def _waits(self, actor: ActorStats) -> Iterable[tuple[str, Mapping[str, str], Mapping[str, int]]]:
        """The waits of an actor by channel, and by link which other actor is at the other end."""
        yield "starved", self.givers, actor.starved
        yield "blocked", self.takers, actor.blocked


def _shared(count: int, weights: Mapping[_Cause, int]) -> Counter[_Cause]:
    """A number of cycles in the proportion of weights, in whole cycles; all of it busy if they are 0."""
    if not sum(weights.values()):
        return Counter({("busy", ""): count})
    return Counter(dict(zip(weights, _apportioned(count, list(weights.values())), strict=True)))


def _apportioned(count: int, weights: list[int]) -> list[int]:
    """Whole numbers in the proportion of weights, with that sum: the largest remainders are rounded up."""
    total = sum(weights)
    shares = [count * weight // total for weight in weights]
    left = sorted(range(len(weights)), key=lambda n: -(count * weights[n] % total))
    for n in left[: count - sum(shares)]:
        shares[n] += 1
    return shares


def percents(causes: Mapping[str, int]) -> dict[str, int]:
    """Whole percents of cycles by cause, which add up to 100; all are 0 of a run of no cycle."""
    if not sum(causes.values()):
        return dict.fromkeys(causes, 0)
    return dict(zip(causes, _apportioned(100, list(causes.values())), strict=True))
