"""What the actors of a run spend their cycles on, by the simulator and by the counters of the RTL."""

from samhw.graph import HostOptions
from samhw.sim import Result, simulate_regions
from samhw.targets.backends.backend import HostRun
from samhw.targets.running.driver import VerilatedDesign

__all__ = ["Spent", "counted", "simulated"]

Spent = dict[str, list[tuple[int, ...]]]
"""By `Design.built_label`, for each actor of the node the cycles in which it fires, is starved, blocked and
spaced, in order."""


def simulated(run: HostRun) -> Spent:
    """By the simulator; regions that share a fabric together, under the name of the first one."""
    design, arch = run.compiled.design, run.compiled.arch
    results = simulate_regions(design, arch, dict(run.inputs.memories), run.inputs.extents)
    by_region = dict(zip(design.turns, results, strict=True))
    found: Spent = {}
    for fabric, group in enumerate(design.groups):
        for nodes in zip(*(design.regions[region].nodes for region in group), strict=True):
            actors = [
                _of_actors(by_region[region], node.name) for region, node in zip(group, nodes, strict=True)
            ]
            together = (tuple(map(sum, zip(*each, strict=True))) for each in zip(*actors, strict=True))
            found[design.built_label(fabric, nodes[0].name)] = sorted(together)
    return found


def _of_actors(result: Result, node: str) -> list[tuple[int, ...]]:
    return [
        (a.firings, sum(a.starved.values()), sum(a.blocked.values()), a.spaced)
        for name, a in result.nodes[node].actors.items()
        if not name.endswith((".take", ".deliver"))  # Of a port to banks.
    ]


def counted(run: HostRun, host: HostOptions, times: int = 1) -> list[Spent]:
    """By the counters, after each run of one build."""
    rtl = VerilatedDesign.build(run.compiled.design, run.compiled.arch, host=host)
    found: list[Spent] = []
    with rtl.session() as session:
        for _ in range(times):
            session.run(*run.inputs)
            found.append(
                {
                    node: sorted(tuple(actor.values()) for actor in actors)
                    for node, actors in session.spent().items()
                }
            )
    return found
