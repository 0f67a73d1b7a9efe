"""What off-chip memory (docs/memory.md) costs: cycles of programs with all tensors in a memory, against those
with all tensors on chip.

Sparse kernels on random matrices, with 5 % of their places, and 64 columns; the GCN on a graph of a data
set's size, and unfused and fused layer by layer on a scale-free graph. Each memory as it is; with channels as
deep as on chip; and without reading ahead. Every result is checked against NumPy.

Usage, from the repository's root: python -m benchmarks.off_chip_memory [MEMORY ...] [--size N] [--set NAME]
[--nodes N] [--density D] [--json FILE|-]
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.common import VALUE, bind, follow, graph_options, parser, report
from samhw.app.checking import check
from samhw.app.workload import Workload, bind_program, compile_workload
from samhw.choices.fuse import FusionLevel
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.errors import RunError
from samhw.graph import DRAM_PRESETS, OffChipMemory, load_memory, with_ports
from samhw.lang import load_kernel, load_model, model_data
from samhw.sim import Bottleneck, bottleneck
from samhw.targets.backends import RunResult, run
from samhw.tensors.generate import power_law_graph, random_tensor

LEVELS: tuple[FusionLevel, ...] = ("none", "partial")
COLUMNS = 64
KERNELS = {
    "spmm": {"A": "mm", "X": "mc"},
    "sddmm": {"B": "mm", "C": "mc", "D": "cm"},
    "spmspm_ijk": {"B": "mm", "C": "mm"},
}
"""With the shapes of their inputs: m is the size, c the columns. What is square is sparse."""


def workloads(size: int, dataset: str, nodes: int, density: float) -> Iterator[tuple[str, Workload]]:
    """The programs with their data."""
    extents = {"m": size, "c": COLUMNS}
    for name, inputs in KERNELS.items():
        data = {}
        for number, (tensor, modes) in enumerate(inputs.items()):
            rows, columns = tuple(modes)
            share = 0.05 if rows == columns else 1.0
            shape = extents[rows], extents[columns]
            data[tensor] = random_tensor(shape, "coo", density=share, seed=number, low=-16, high=16)
        yield f"{name}, {size}", bind(load_kernel(name), data)
    if dataset:
        yield f"gcn, as large as {dataset}", bind_program("gcn", [f"synthetic:{dataset}"])
    graph = power_law_graph(nodes, density, seed=0)
    for level in LEVELS:
        model = bind(load_model("gcn"), model_data("gcn", graph=graph))
        program = Schedule(fuse=level).apply(model.program)
        yield f"gcn, {nodes} nodes, {level}", replace(model, program=program)


def variants(
    workload: Workload, memories: Sequence[str]
) -> Iterator[tuple[str, OffChipMemory | None, Compiled]]:
    """On chip, then each memory in three ways; with the design."""

    def compiled(memory: OffChipMemory | None) -> Compiled:
        return compile_workload(workload, value=VALUE, memory=memory)

    on_chip = compiled(None)
    yield "on chip", None, on_chip
    for memory in map(load_memory, memories):
        yield memory.name, memory, compiled(memory)
        yield f"{memory.name}, channels as on chip", memory, on_chip
        shy = with_ports(memory, replace(memory.ports, ahead=0))
        yield f"{memory.name}, no reading ahead", shy, compiled(shy)


def rows(
    memories: Sequence[str], nodes: int, density: float, size: int = 256, dataset: str = "cora"
) -> Iterator[dict[str, Any]]:
    """A row for each program and memory."""
    for label, workload in workloads(size, dataset, nodes, density):
        on_chip = 0
        for name, memory, compiled in variants(workload, memories):
            result = run(compiled, workload.tensors, memory=memory)
            if not check(workload, compiled, result.outputs).good:
                raise RunError(f"The result of {label} ({name}) is wrong; please report this as a bug.")
            on_chip = on_chip or result.cycles
            yield {
                "program": label,
                "memory": name,
                "cycles": result.cycles,
                "to on chip": result.cycles / on_chip,
                "room": sum(c.depth for region in compiled.regions for c in region.graph.channels),
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
    options.add_argument("--size", type=int, default=256, help="of the matrices of the kernels")
    options.add_argument("--set", default="cora", help="whose size the graph of a GCN has; '' for none")
    graph_options(options)
    arguments = options.parse_args()
    memories = arguments.memories or list(DRAM_PRESETS)
    sizes = arguments.nodes, arguments.density, arguments.size, arguments.set
    found = list(follow(rows(memories, *sizes)))
    report("off-chip memory", found, arguments.json)


if __name__ == "__main__":
    main()
