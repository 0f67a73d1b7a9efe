"""What off-chip memory (docs/memory.md) costs: cycles of programs with all tensors in a memory, against those
with all tensors on chip.

SpMM on the karate club, and the GCN on a scale-free graph, unfused and fused layer by layer; each memory as
it is, without reading ahead, and with channels that are deeper by 16 tokens than an on-chip memory needs
(`Arch.slack`). Every result is checked against NumPy.

Usage, from the repository's root: python -m benchmarks.off_chip_memory [MEMORY ...] [--nodes N] [--density D]
[--json FILE|-]
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.common import VALUE, bind, follow, graph_options, parser, report
from samhw.app.checking import check
from samhw.app.workload import Workload, compile_workload, make_workload
from samhw.choices.fuse import FusionLevel
from samhw.choices.schedule import Schedule
from samhw.errors import RunError
from samhw.graph import DRAM_PRESETS, Arch, OffChipMemory, load_memory, with_ports
from samhw.lang import load_kernel, load_model, model_data
from samhw.sim import Bottleneck, bottleneck
from samhw.targets.backends import RunResult, run
from samhw.tensors.generate import power_law_graph

DEEPER = Arch(slack=Arch().slack + 16)
LEVELS: tuple[FusionLevel, ...] = ("none", "partial")


def workloads(nodes: int, density: float) -> Iterator[tuple[str, Workload]]:
    """The programs with their data."""
    yield "spmm, karate", make_workload(load_kernel("spmm"), ["karate"], value=VALUE)
    graph = power_law_graph(nodes, density, seed=0)
    for level in LEVELS:
        model = bind(load_model("gcn"), model_data("gcn", graph=graph))
        yield (
            f"gcn, {nodes} nodes, {level}",
            replace(model, program=Schedule(fuse=level).apply(model.program)),
        )


def variants(memories: Sequence[str]) -> Iterator[tuple[str, OffChipMemory | None, Arch]]:
    """On chip, then each memory in three ways."""
    yield "on chip", None, Arch()
    for memory in map(load_memory, memories):
        yield memory.name, memory, Arch()
        shy = with_ports(memory, replace(memory.ports, ahead=0))
        yield f"{memory.name}, no reading ahead", shy, Arch()
        yield f"{memory.name}, deeper channels", memory, DEEPER


def rows(memories: Sequence[str], nodes: int, density: float) -> Iterator[dict[str, Any]]:
    """A row for each program and memory."""
    for label, workload in workloads(nodes, density):
        on_chip = 0
        for name, memory, arch in variants(memories):
            compiled = compile_workload(workload, value=VALUE, arch=arch)
            result = run(compiled, workload.tensors, memory=memory)
            if not check(workload, compiled, result.outputs).good:
                raise RunError(f"The result of {label} ({name}) is wrong; please report this as a bug.")
            on_chip = on_chip or result.cycles
            yield {
                "program": label,
                "memory": name,
                "cycles": result.cycles,
                "to on chip": result.cycles / on_chip,
                **figures(result),
                "limit": limit(result).reason,
            }


def figures(result: RunResult) -> dict[str, Any]:
    """What the memory did in all regions."""
    regions = [r.statistics.memory for r in result.regions if r.statistics and r.statistics.memory]
    if not regions:
        return dict.fromkeys(("lines", "of peak, %", "open rows, %"))
    lines = sum(region.requests for region in regions)
    channels = [channel for region in regions for channel in region.channels]
    hits, bursts = sum(c.hits for c in channels), sum(c.reads + c.writes for c in channels)
    moved = sum(region.bytes for region in regions)
    return {
        "lines": lines,
        "of peak, %": 100 * moved / (result.cycles * regions[0].peak),
        "open rows, %": 100 * hits / max(bursts, 1),
    }


def limit(result: RunResult) -> Bottleneck:
    """What limits the longest region."""
    region = max(result.regions, key=lambda region: region.cycles)
    assert region.statistics is not None
    return bottleneck(region.graph, region.statistics)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("memories", nargs="*", metavar="MEMORY", help="presets or .json files; default: all")
    graph_options(options)
    arguments = options.parse_args()
    memories = arguments.memories or list(DRAM_PRESETS)
    found = list(follow(rows(memories, arguments.nodes, arguments.density)))
    report("off-chip memory", found, arguments.json)


if __name__ == "__main__":
    main()
