"""The page of a build: what it is sized for, its regions, memories and channels, the area that is expected of
it, and its files."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from samhw.app.report.grids import FAMILY_NAMES, Areas, device_grid, fit_words
from samhw.app.report.page import Bar, BarChart, Results, ResultTable, Stat
from samhw.compiler import Compiled, CompiledRegion
from samhw.cost import AreaEstimate
from samhw.graph import Channel, Design, Graph, StreamKind
from samhw.graph.widths import index_bits
from samhw.words import counted

__all__ = ["build_results"]

_CARRIES = {StreamKind.CRD: "coordinates", StreamKind.REF: "references", StreamKind.VAL: "values"}


def build_results(
    compiled: Compiled,
    target: str,
    directory: Path,
    files: Sequence[Path],
    known: Mapping[Path, str],
    areas: Areas,
    *,
    sized: str,
    checked: str,
) -> Results:
    """What the page shows.

    Args:
        target: the name of what was built for.
        files: that were written into the directory.
        known: what some of them are, in words.
        areas: what FPGAs it is shown for; an HLS target's are those of the RTL of the same design.
        sized: what it has room for, in words.
        checked: on what data it was simulated before; empty for none.
    """
    design, bits = compiled.design, index_bits(compiled.design, compiled.arch)
    area = areas[0][1]
    report = directory / "report.txt"
    return Results(
        title=design.name,
        about=f"for {target}, {compiled.value}",
        verdict=f"checked on {checked}" if checked else "",
        good=True,
        stats=(*_stats(design, bits, len(files)), _area_stat(areas)),
        charts=(_memory_bars(design, bits), _node_bars(design), _lut_bars(design, area)),
        tables=(
            ResultTable("Regions", _regions(compiled.regions, area, bits)),
            ResultTable("Area of the RTL, expected before placing and routing", device_grid(areas)),
            ResultTable("Memories", _memories(design, bits)),
            ResultTable("Channels", _channels(compiled.regions, bits)),
            ResultTable("Files", _files(directory, files, known)),
        ),
        notes=(report.read_text("utf-8").strip(),) if report in files else (),
        facts=(
            ("sized for", sized),
            ("extents", ", ".join(f"{index} {extent:,}" for index, extent in design.extents.items())),
            ("folder", str(directory)),
            *((("checked", "no: '--check' simulates a build on its data first"),) if not checked else ()),
        ),
        statements=tuple(map(str, compiled.program.statements)),
    )


def _stats(design: Design, bits: int, files: int) -> tuple[Stat, ...]:
    stored = sum(_memory_bits(design, bits).values())
    slots = sum(channel.depth for graph in design.built for channel in graph.channels)
    queued = sum(_bits(graph, channel, bits) for graph in design.built for channel in graph.channels)
    regions = counted(len(design.regions), "region")
    where = f"{regions} on {counted(len(design.groups), 'fabric')}" if design.fabrics else regions
    return (
        Stat("nodes", f"{len(design.built_nodes):,}", f"in {where}"),
        Stat("channels", f"{len(design.built_channels):,}", f"{slots:,} slots, {queued:,} bits"),
        Stat("memories", f"{len(design.memories):,}", f"{stored:,} bits"),
        Stat("files", str(files), "in the build's folder"),
    )


def _memory_bits(design: Design, bits: int) -> dict[str, int]:
    """By memory, the bits of all of its places."""
    return {m.name: m.capacity * design.stored(m).width(bits) for m in design.memories}


def _bits(graph: Graph, channel: Channel, bits: int) -> int:
    """The bits of the payloads that a channel holds when it is full."""
    source = channel.source
    return channel.depth * graph.given(graph.node[source.node], source.port).width(bits)


def _memory_bars(design: Design, bits: int) -> BarChart:
    found: Counter[str] = Counter()
    held = _memory_bits(design, bits)
    for memory in design.memories:
        found[memory.tensor] += held[memory.name]
    bars = (Bar(-1, tensor, (count,), f"{count:,}") for tensor, count in found.most_common())
    return BarChart("Bits of memories, by tensor", ("bits",), tuple(bars))


def _node_bars(design: Design) -> BarChart:
    kinds = Counter(node.kind for _, node in design.built_nodes)
    bars = (Bar(-1, kind, (count,), str(count)) for kind, count in kinds.most_common())
    return BarChart("Nodes, by kind", ("nodes",), tuple(bars))


def _area_stat(areas: Areas) -> Stat:
    device, area = areas[0]
    use = area.use
    about = f"{FAMILY_NAMES[device.family]}, expected of the RTL; {use.multipliers:,.0f} multipliers, "
    about += f"{use.block_rams:,.0f} block RAMs"
    about += f"; {fit_words(areas)}"
    if area.caveat:
        about += f"; {area.caveat}"
    return Stat("LUTs", f"{use.luts:,.0f}", about)


def _lut_bars(design: Design, area: AreaEstimate) -> BarChart:
    """Each kind of node has the channels at its inputs."""
    found = {"memories": area.memories.luts, "control and host port": area.control.luts}
    if area.off_chip.luts:
        found["ports off the chip"] = area.off_chip.luts
    for graph, region in zip(design.runs, area.regions, strict=True):
        for name, use in region.nodes.items():
            kind = graph.node[name].kind
            found[kind] = found.get(kind, 0) + use.luts
    most_first = sorted(found.items(), key=lambda item: -item[1])
    bars = (Bar(-1, kind, (luts,), f"{luts:,.0f}") for kind, luts in most_first)
    return BarChart("LUTs that are expected, by kind", ("LUTs",), tuple(bars))


def _regions(regions: Sequence[CompiledRegion], area: AreaEstimate, bits: int) -> list[list[str]]:
    grid = [["region", "computes", "order", "nodes", "channels", "slots", "bits of channels", "LUTs"]]
    areas = {region.name: region for region in area.regions}
    for region in regions:
        graph = region.graph
        numbers = (
            *(len(graph.nodes), len(graph.channels)),
            sum(channel.depth for channel in graph.channels),
            sum(_bits(graph, channel, bits) for channel in graph.channels),
        )
        own = areas[graph.name]
        luts = f"the fabric of {own.fabric}" if own.fabric else f"{own.use.luts:,.0f}"
        words = [graph.name, "; ".join(map(str, region.region.statements)), ", ".join(region.order)]
        grid.append([*words, *(f"{number:,}" for number in numbers), luts])
    return grid


def _memories(design: Design, bits: int) -> list[list[str]]:
    held = _memory_bits(design, bits)
    grid = [["memory", "tensor", "role", "places", "bits"]]
    for memory in sorted(design.memories, key=lambda memory: -held[memory.name]):
        numbers = [f"{memory.capacity:,}", f"{held[memory.name]:,}"]
        grid.append([memory.name, memory.tensor, str(memory.role), *numbers])
    return grid


def _channels(regions: Sequence[CompiledRegion], bits: int) -> list[list[str]]:
    """The deepest first."""
    found = [(region, channel) for region in regions for channel in region.graph.channels]
    grid = [["channel", "region", "carries", "slots", "bits", "latency", "why so deep"]]
    for region, channel in sorted(found, key=lambda pair: -pair[1].depth):
        graph = region.graph
        kind = graph.stream(channel).kind
        numbers = (channel.depth, _bits(graph, channel, bits), channel.latency)
        why = region.reasons.get(channel.name, "as full rate needs")
        words = [channel.name, graph.name, _CARRIES.get(kind, str(kind))]
        grid.append([*words, *(f"{number:,}" for number in numbers), why])
    return grid


def _files(directory: Path, files: Sequence[Path], known: Mapping[Path, str]) -> list[list[str]]:
    """Those first that somebody looks for first."""
    grid = [["file", "bytes", "what it is"]]
    for path in sorted(files, key=lambda path: (path not in known, path)):
        size = f"{path.stat().st_size:,}"
        grid.append([str(path.relative_to(directory)), size, known.get(path) or _kind(path)])
    return grid


_KINDS = {
    ".v": "a module in Verilog",
    ".sv": "a module in SystemVerilog",
    ".h": "a header in C",
    ".c": "a program in C",
    ".hpp": "a header in C++",
    ".cpp": "a program in C++",
    ".py": "a program in Python",
    ".tcl": "a script for the tools of the FPGA's vendor",
    ".json": "what a program reads, as JSON",
    ".txt": "a text",
    ".f": "a list of files",
    ".vlt": "lint exceptions",
    ".toml": "settings",
    ".ein": "the program",
    ".bit": "the bitstream",
    ".svf": "the bitstream for a JTAG cable",
    ".config": "the configuration before it is packed",
    ".lpf": "constraints of pins and clocks",
    ".xdc": "constraints of pins and clocks",
    ".mtx": "data of a tensor",
    ".npz": "data of tensors",
    ".bin": "words of a memory",
    ".dat": "words of a memory",
}


def _kind(path: Path) -> str:
    """What a file is by its name, where a build does not say it."""
    if path.name.startswith("Makefile"):
        return "rules for make"
    if path.suffix in _KINDS:
        return _KINDS[path.suffix]
    return "a program" if not path.suffix else f"a file of the kind {path.suffix[1:]}"
