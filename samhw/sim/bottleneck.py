"""What keeps a run from being shorter, in words: followed back from its end, wait by wait."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from samhw.graph import Graph
from samhw.sim.account import account
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
            busy, tokens are on their way), `banks` (reads wait for their turn), `circle` (nodes wait for each
            other in turn) or `memory` (data that it reads or writes off chip).
        waits: the channels from the last writer back to that node, each of which its reader, or else its
            writer, waited for more than for anything else.
    """

    node: str
    reason: str
    waits: tuple[str, ...]
    text: str
    short: str
    """The text without the way from there to the end of the run."""
    channel: str = ""
    """Of a circle, the channel that is full in it longest."""

    def __str__(self) -> str:
        return self.text

    @property
    def of_region(self) -> "Bottleneck":
        """The same where the graph is one region of several: what it limits is that region, not the run."""
        text, short = (said.replace("the run", "this region") for said in (self.text, self.short))
        return replace(self, text=text, short=short)


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
            return replace(said, text=said.text + also, short=said.short + also)
    return found.say(result)


@dataclass(frozen=True)
class _Found:
    """The end of a chain of waits: the node, what it spends `count` cycles on, the channels on the way."""

    node: str
    reason: str
    count: int
    waits: tuple[str, ...]
    circle: "_Circle | None" = None

    def say(self, result: Result) -> Bottleneck:
        if self.circle is None:
            spent = account(result.nodes[self.node], result.cycles)
            count = spent.busy if self.reason == "firing" else self.count
            short = _sentence(self.node, self.reason, count, result)
            outside = [channel for channel in reversed(self.waits) if "->" in channel]
        else:
            short, outside = self.circle.say(result.cycles), []
        # A link inside a node says nothing to those who see only nodes.
        along = f"; the end of the run waits for it through {', '.join(outside)}" if outside else ""
        text = f"{short}{along}."
        short = f"{short}{_next(result, outside)}."
        if self.reason == "memory" and result.memory is not None:
            text += f" {_memory_sentence(result.memory)}"
            short += f" {_memory_sentence(result.memory)}"
        channel = self.circle.channel if self.circle else ""
        return Bottleneck(self.node, self.reason, self.waits, text, short, channel)


@dataclass(frozen=True)
class _Circle:
    """Nodes that wait for each other in turn."""

    waits: tuple[str, ...]
    nodes: tuple[str, ...]
    channel: str = ""
    """That whose slots are waited for longest; empty if none are."""
    giver: str = ""
    """Its writer."""
    depth: int = 0
    count: int = 0
    """The cycles that its writer waits for a slot of it."""

    def say(self, cycles: int) -> str:
        ways = "would shorten the run"
        if not self.channel:
            nodes = f"{self.nodes[0]} and others" if len(self.nodes) > 1 else f"the parts of {self.nodes[0]}"
            turn = f"{nodes} wait for each other in turn, in {', '.join(self.waits)}"
            return f"{turn}: a shorter latency in that circle {ways}"
        slots = f"one of its {self.depth:,} slots" if self.depth > 1 else "its one slot"
        others = [channel for channel in self.waits if channel != self.channel]
        through = f", in turn with waits through {', '.join(others)}" if others else ""
        return (
            f"The channel {self.channel} limits the run: {self.giver} waits for {slots} in "
            f"{_share(self.count, cycles)}{through}. A deeper channel, or a shorter latency in that circle, "
            f"{ways}"
        )


def _follow(graph: Graph, result: Result, *, pass_firing: bool) -> _Found:
    """Follows the longest waits; `pass_firing` also from nodes that fire longer than they wait for
    anything."""
    actors = {(node, name): a for node, stats in result.nodes.items() for name, a in stats.actors.items()}
    takers = {channel: at for at, actor in actors.items() for channel in actor.starved}
    givers = {channel: at for at, actor in actors.items() for channel in actor.blocked}
    writers = [(node.name, name) for node in graph.writers() for name in result.nodes[node.name].actors]

    here = max(writers, key=lambda at: actors[at].last)
    seen = [here]
    steps: list[tuple[int, str, str]] = []
    while True:
        causes = _causes(actors[here], result.cycles)
        count, reason, channel = max(cause for cause in causes if not pass_firing or cause[1] != "firing")
        if reason not in ("starved", "blocked", "late"):
            if reason == "spacing" and here[1].endswith(".take"):
                reason = "banks"
            break
        steps.append((count, reason, channel))
        here = takers[channel] if reason == "blocked" else givers[channel]
        if reason == "late":
            reason = "memory"
            break
        if here in seen:
            reason = "circle"
            break
        seen.append(here)
    waits = tuple(dict.fromkeys(channel for _, _, channel in steps))
    circle = None
    if reason == "circle":
        start = seen.index(here)
        circle = _circle(graph, [node for node, _ in seen[start:]], steps[start:])
    return _Found(here[0], reason, count, waits, circle)


def _circle(graph: Graph, nodes: Sequence[str], steps: Sequence[tuple[int, str, str]]) -> _Circle:
    """The circle of these steps, each (cycles, cause, channel)."""
    waits = tuple(dict.fromkeys(channel for _, _, channel in steps))
    named = tuple(dict.fromkeys(nodes))
    depths = {channel.name: channel for channel in graph.channels}
    full = [(count, channel) for count, reason, channel in steps if reason == "blocked" and channel in depths]
    if not full:
        return _Circle(waits, named)
    count, name = max(full)
    return _Circle(waits, named, name, depths[name].source.node, depths[name].depth, count)


def _next(result: Result, outside: Sequence[str]) -> str:
    """The last wait on the way, in words: who waits for that node, and how long."""
    if not outside:
        return ""
    channel = outside[0]
    source, _, sink = (end.partition(".")[0] for end in channel.partition("->"))
    if count := account(result.nodes[sink], result.cycles).starved.get(channel, 0):
        return f", and {sink} waits for its tokens in {count:,}"
    if count := account(result.nodes[source], result.cycles).blocked.get(channel, 0):
        return f", and {source} waits until it takes a token in {count:,}"
    return ""


def _causes(actor: ActorStats, cycles: int) -> Iterator[tuple[int, str, str]]:
    """(cycles, cause, channel) of all that an actor spent the run on."""
    yield actor.firings, "firing", ""
    yield actor.spaced, "spacing", ""
    yield actor.stalled, "stalls", ""
    yield cycles - actor.last, "latency", ""
    yield from ((count, "starved", channel) for channel, count in actor.starved.items())
    yield from ((count, "blocked", channel) for channel, count in actor.blocked.items())
    yield from ((count, "late", channel) for channel, count in actor.late.items())


def _share(count: int, cycles: int) -> str:
    return f"{count:,} of {cycles:,} cycles ({count / cycles:.1%})"


def _sentence(node: str, reason: str, count: int, result: Result) -> str:
    share = _share(count, result.cycles)
    match reason:
        case "firing":
            return f"{node} limits the run: it is busy in {share}"
        case "spacing":
            return f"{node} limits the run: updates of one place keep their distance for {share}"
        case "banks":
            return f"Banks limit the run: reads of {node} wait for their turn for {share}"
        case "memory":
            return f"Off-chip memory limits the run: its data for {node} are waited for in {share}"
        case "stalls":
            return f"{node} limits the run: its stall pattern holds it back for {share}"
    busy = {name: account(stats, result.cycles).busy for name, stats in result.nodes.items()}
    most = max(busy, key=lambda name: busy[name])
    return (
        f"Latency limits the run: no node is busy for longer than {most}, in "
        f"{_share(busy[most], result.cycles)}, and the end waits for the path from {node}, which rests for "
        f"{share}"
    )


def _memory_sentence(memory: MemoryStats) -> str:
    return (
        f"{memory.memory.name} moves {memory.bytes / memory.cycles:.1f} bytes a cycle, "
        f"{memory.utilisation:.1%} of its peak; its busiest master moves {memory.busiest:.1%} of its own."
    )
