"""What keeps a run from being shorter, in words: followed back from its end, wait by wait."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from samhw.graph import Graph
from samhw.sim.memory_stats import MemoryStats
from samhw.sim.result import ActorStats, Result

__all__ = ["Bottleneck", "bottleneck"]

_WORTH_A_WORD = 0.1
"""The share of a run's cycles from which on waits for memory are told of beside another bottleneck."""


@dataclass(frozen=True)
class Bottleneck:
    """Where the cycles of a run went.

    Attributes:
        node: the node that limits the run.
        reason: what it spent most of its cycles on: `firing`, `spacing`, `stalls`, `latency` (nothing is
            busy, tokens are on their way), `circle` (nodes wait for each other in turn) or `memory` (data
            that it reads or writes off chip).
        waits: the channels from the last writer back to that node, each of which its reader, or else its
            writer, waited for more than for anything else.
    """

    node: str
    reason: str
    waits: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return self.text


def bottleneck(graph: Graph, result: Result) -> Bottleneck:
    """The bottleneck of a run: from the last writer on, the node that the one before waits for most.

    With off-chip memory a node that fires in less than half of the cycles is passed by, if its waits lead to
    data that are late; where a busier one limits the run, the sentence says how long they are waited for.
    """
    found = _follow(graph, result, pass_firing=False)
    if result.memory is None:
        return found.say(result)
    late = _follow(graph, result, pass_firing=True)
    if found.reason == "firing" and late.reason == "memory":
        if found.count < result.cycles / 2:
            found = late
        elif late.count > result.cycles * _WORTH_A_WORD:
            also = (
                f" Off-chip memory is waited for in {_share(late.count, result.cycles)}, for the data of "
                f"{late.node}. {_memory_sentence(result.memory)}"
            )
            said = found.say(result)
            return replace(said, text=said.text + also)
    return found.say(result)


@dataclass(frozen=True)
class _Found:
    """The end of a chain of waits: the node, what it spends `count` cycles on, the channels on the way."""

    node: str
    reason: str
    count: int
    waits: tuple[str, ...]

    def say(self, result: Result) -> Bottleneck:
        text = _sentence(self.node, self.reason, self.count, result.cycles, self.waits)
        if self.reason == "memory" and result.memory is not None:
            text += f" {_memory_sentence(result.memory)}"
        return Bottleneck(self.node, self.reason, self.waits, text)


def _follow(graph: Graph, result: Result, *, pass_firing: bool) -> _Found:
    """Follows the longest waits; `pass_firing` also from nodes that fire longer than they wait for
    anything."""
    actors = {(node, name): a for node, stats in result.nodes.items() for name, a in stats.actors.items()}
    takers = {channel: at for at, actor in actors.items() for channel in actor.starved}
    givers = {channel: at for at, actor in actors.items() for channel in actor.blocked}
    writers = [(node.name, name) for node in graph.writers() for name in result.nodes[node.name].actors]

    here = max(writers, key=lambda at: actors[at].last)
    seen = [here]
    waits: list[str] = []
    while True:
        causes = _causes(actors[here], result.cycles)
        count, reason, channel = max(cause for cause in causes if not pass_firing or cause[1] != "firing")
        if reason not in ("starved", "blocked", "late"):
            break
        if channel not in waits:
            waits.append(channel)
        here = takers[channel] if reason == "blocked" else givers[channel]
        if reason == "late":
            reason = "memory"
            break
        if here in seen:
            reason = "circle"
            break
        seen.append(here)
    return _Found(here[0], reason, count, tuple(waits))


def _causes(actor: ActorStats, cycles: int) -> Iterator[tuple[int, str, str]]:
    """(cycles, cause, channel) of all that an actor spent the run on."""
    yield actor.firings, "firing", ""
    yield actor.held, "memory", ""
    yield actor.spaced, "spacing", ""
    yield actor.stalled, "stalls", ""
    yield cycles - actor.last, "latency", ""
    yield from ((count, "starved", channel) for channel, count in actor.starved.items())
    yield from ((count, "blocked", channel) for channel, count in actor.blocked.items())
    yield from ((count, "late", channel) for channel, count in actor.late.items())


def _share(count: int, cycles: int) -> str:
    return f"{count:,} of {cycles:,} cycles ({count / cycles:.1%})"


def _sentence(node: str, reason: str, count: int, cycles: int, waits: Sequence[str]) -> str:
    share = _share(count, cycles)
    # A link inside a node says nothing to those who see only nodes.
    outside = [channel for channel in reversed(waits) if "->" in channel]
    along = f"; the end of the run waits for it through {', '.join(outside)}" if outside else ""
    match reason:
        case "firing":
            return f"{node} limits the run: it fires in {share}{along}."
        case "spacing":
            return f"{node} limits the run: updates of one place keep their distance for {share}{along}."
        case "memory":
            return f"Off-chip memory limits the run: its data for {node} are waited for in {share}{along}."
        case "stalls":
            return f"{node} limits the run: its stall pattern holds it back for {share}{along}."
        case "circle":
            return (
                f"{node} and others wait for each other in turn, in {', '.join(waits)}: deeper channels, "
                "or a shorter latency in that circle, would shorten the run."
            )
    return (
        f"Nothing limits the rate of this run: {node} is at rest for {share}, and the rest is the latency of "
        f"the path from there{along}."
    )


def _memory_sentence(memory: MemoryStats) -> str:
    return (
        f"{memory.dram.name} moves {memory.bytes / memory.cycles:.1f} bytes a cycle, "
        f"{memory.utilisation:.1%} of its peak; its busiest channel moves {memory.busiest:.1%} of its own."
    )
