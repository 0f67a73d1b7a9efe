"""What the actors of a run spend their cycles on, by the simulator and by the counters of the RTL."""

from samhw.graph import HostOptions
from samhw.sim import Result, simulate_regions
from samhw.targets.backends.backend import HostRun
from samhw.targets.running.driver import VerilatedDesign

__all__ = ["Spent", "counted", "simulated"]

Spent = dict[str, list[tuple[int, ...]]]
"""By `Design.label`, for each actor of the node the cycles in which it fires, is starved, blocked and spaced,
in order."""


def simulated(run: HostRun) -> Spent:
    """By the simulator."""
    design, arch = run.compiled.design, run.compiled.arch
    results = simulate_regions(design, arch, dict(run.inputs.memories), run.inputs.extents)
    return {
        design.label(region, node): spent
        for region, result in zip(design.turns, results, strict=True)
        for node, spent in _of_nodes(result).items()
    }


def _of_nodes(result: Result) -> Spent:
    return {
        node: sorted(
            (a.firings, sum(a.starved.values()), sum(a.blocked.values()), a.spaced)
            for a in stats.actors.values()
        )
        for node, stats in result.nodes.items()
    }


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
