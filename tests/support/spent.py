"""What the actors of a run spend their cycles on, by the simulator and by the counters of the RTL."""

from collections.abc import Iterable

from samhw.compiler.placement import arrays_off_chip, layout_beside
from samhw.graph import Design, OffChip, OffChipLayout, OffChipMemory, OffChipPort
from samhw.graph.address_map import PORT_STATES, STATES
from samhw.graph.banks import BankPort, bank_users
from samhw.graph.shared_ports import shared_ports
from samhw.sim import ActorStats, Result, simulate_regions
from samhw.targets.backends.backend import HostRun
from tests.support.built import verilated

__all__ = ["Spent", "counted", "results_of", "simulated", "told"]

Spent = dict[str, list[tuple[int, ...]]]
"""By `AddressMap.counted`, for each actor of a node the cycles in which it fires, is starved, blocked and
spaced, or of a port waits for memory, in order."""


def simulated(run: HostRun, memory: OffChipMemory | None = None) -> Spent:
    """By the simulator; regions that share a fabric, or a port, together, under the name of the first one.

    Args:
        memory: what holds the tensors that lie off the chip.
    """
    design = run.compiled.design
    by_region = dict(zip(design.turns, results_of(run, memory), strict=True))
    layout = layout_beside(run.compiled, memory)
    found = _of_nodes(design, by_region) | _of_bank_ports(design, layout, by_region)
    return found if layout is None else found | _of_ports(design, layout, by_region)


def results_of(run: HostRun, memory: OffChipMemory | None = None) -> tuple[Result, ...]:
    """What the simulator makes of a run, by region."""
    compiled = run.compiled
    held = None if memory is None else OffChip(memory, arrays_off_chip(compiled, memory))
    return simulate_regions(
        compiled.design, compiled.arch, dict(run.inputs.memories), run.inputs.extents, memory=held
    )


def _of_nodes(design: Design, results: dict[int, Result]) -> Spent:
    found: Spent = {}
    for fabric, group in enumerate(design.groups):
        for nodes in zip(*(design.regions[region].nodes for region in group), strict=True):
            stats = (results[region].nodes[node.name] for region, node in zip(group, nodes, strict=True))
            actors = (
                [a for name, a in stat.actors.items() if not name.endswith(_OF_PORTS)] for stat in stats
            )
            found[design.built_label(fabric, nodes[0].name)] = _together(actors, STATES)
    return found


_OF_PORTS = (".take", ".look", ".deliver", ".gather")
"""The ends of the names of actors that belong to a port of a node."""


def _of_bank_ports(design: Design, layout: OffChipLayout | None, results: dict[int, Result]) -> Spent:
    found: Spent = {}
    for fabric, port in bank_users(design, () if layout is None else layout.arrays):
        actors = (_of_port(results[region], port) for region in design.groups[fabric])
        found[design.built_label(fabric, port.name)] = _together(actors, STATES)
    return found


def _of_ports(design: Design, layout: OffChipLayout, results: dict[int, Result]) -> Spent:
    found: Spent = {}
    for shared in shared_ports(design, layout):
        actors = (_of_port(results[region], port) for region, port in shared.ports.items())
        found[design.built_label(next(iter(shared.users)), shared.first.name)] = _together(
            actors, PORT_STATES
        )
    return found


def _of_port(result: Result, port: OffChipPort | BankPort) -> list[ActorStats]:
    own = f"{port.name.removeprefix(f'{port.node}.')}."
    return [a for name, a in result.nodes[port.node].actors.items() if name.startswith(own)]


def _together(actors: Iterable[list[ActorStats]], states: tuple[str, ...]) -> list[tuple[int, ...]]:
    """Of each actor, the cycles in its states in all regions."""
    return sorted(
        tuple(map(sum, zip(*(_states(actor, states) for actor in each), strict=True)))
        for each in zip(*actors, strict=True)
    )


def _states(actor: ActorStats, states: tuple[str, ...]) -> tuple[int, ...]:
    cycles = {
        "firing": actor.firings,
        "starved": sum(actor.starved.values()),
        "blocked": sum(actor.blocked.values()),
        "spaced": actor.spaced,
        "memory": actor.memory,
    }
    return tuple(cycles[state] for state in states)


def counted(run: HostRun, host: str, times: int = 1, memory: OffChipMemory | None = None) -> list[Spent]:
    """By the counters, after each run of one build."""
    found: list[Spent] = []
    with verilated(run, host, memory).session() as session:
        for _ in range(times):
            session.run(*run.inputs, memory=memory)
            found.append(told(session.spent()))
    return found


def told(spent: dict[str, list[dict[str, int]]]) -> Spent:
    """What a session has read, in the order in which the simulator's are."""
    return {name: sorted(tuple(actor.values()) for actor in actors) for name, actors in spent.items()}
