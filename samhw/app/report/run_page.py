"""The report of a run as a page: one HTML file that needs nothing else."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from samhw.app.report.alike import Likeness, starred
from samhw.app.report.grids import FAMILY_NAMES, Areas, device_grid, fit_words, shown_areas
from samhw.app.report.layered import Edge, layered
from samhw.app.report.page import page
from samhw.app.report.recorded import activity, fill
from samhw.app.report.region_report import ChannelReport, NodeReport, RegionReport
from samhw.app.report.run_report import RunReport
from samhw.app.report.run_statistics import Regions, longest, port_grid, title, told
from samhw.app.report.time import seconds
from samhw.compiler.placement import interleaved_lines
from samhw.compiler.shared_hardware import fabric_lines
from samhw.cost import BEYOND_CLOCKS, FITS, GREATEST_CLOCK, Use
from samhw.graph import Channel, Graph

__all__ = ["DEFAULT_PERIOD", "region_view", "run_page", "run_view"]

# A region as a page shows it: its graph in places, its table, and what the run tells of both.
#
# Copies in lanes are one node, and so are the channels between them.


_LETTER, _HEIGHT = 7.3, 36.0
"""The size of a node: of a letter of its name, and of the box."""

Key = tuple[str, str, str, str]


@dataclass(frozen=True)
class _Folded:
    """The channels that are drawn as one, of which the fullest is told of."""

    key: Key
    channel: Channel
    report: ChannelReport
    copies: int


def region_view(group: Regions, areas: Mapping[str, Use]) -> dict[str, Any]:
    """What the page's script is given of regions that are alike: the longest, and when all of them ran. Nodes
    and channels are named by their numbers in it.

    Args:
        areas: what its nodes are expected to take of an FPGA, by name.
    """
    region = longest(group)
    graph = region.compiled.graph
    channels = _folded(graph, region.channels)
    numbers = {node.name: number for number, node in enumerate(region.nodes)}
    places = {folded.key: number for number, folded in enumerate(channels)}
    told = {channel.name: places[_key(graph, channel)] for channel in graph.channels}
    widths = [_LETTER * max(12, len(_label(node))) + 26 for node in region.nodes]
    edges = [Edge(numbers[f.key[0]], numbers[f.key[1]], f.key[2]) for f in channels]
    layout = layered([(width, _HEIGHT) for width in widths], edges)
    nodes = [_node(region, node, told) for node in region.nodes]
    luts: dict[str, float] = defaultdict(float)
    for node in graph.nodes:
        luts[node.copy_of or node.name] += areas[node.name].luts
    for view, (x, y), width in zip(nodes, layout.places, widths, strict=True):
        view["luts"] = round(luts[view["name"]])
        view |= {"x": round(x, 1), "y": round(y, 1), "w": round(width, 1), "h": _HEIGHT}
    shown = [_channel(region, folded, numbers) for folded in channels]
    for view, route in zip(shown, layout.routes, strict=True):
        view["route"] = [[round(x, 1), round(y, 1)] for x, y in route]
    found = region.bottleneck
    base = {node.name: node.copy_of or node.name for node in graph.nodes}
    return {
        "name": region.name,
        "label": group.name if group.others else region.name,
        "runs": [{"start": each.start, "cycles": each.model_cycles} for each in group.members],
        "total": sum(each.model_cycles for each in group.members),
        "statements": list(map(str, region.compiled.region.statements)),
        "order": list(region.order),
        "note": region.note,
        "cycles": region.model_cycles,
        "start": region.start,
        "operations": region.operations,
        "bytes": region.bytes,
        "roof": {**asdict(region.roof), "reached": region.reached},
        "limit": found.short,
        "hot": {
            "node": numbers[base[found.node]],
            "channel": told.get(found.channel),
            "path": sorted({told[name] for name in found.waits if name in told}),
        },
        "width": round(layout.width, 1),
        "height": round(layout.height, 1),
        "nodes": nodes,
        "channels": shown,
        "table": _table(region, numbers),
        "traffic": _traffic(region),
        "reads": _tensors(region, written=False),
        "writes": _tensors(region, written=True),
    }


def _folded(graph: Graph, reports: Sequence[ChannelReport]) -> list[_Folded]:
    groups: dict[Key, list[tuple[Channel, ChannelReport]]] = {}
    for channel, report in zip(graph.channels, reports, strict=True):
        groups.setdefault(_key(graph, channel), []).append((channel, report))
    result = []
    for key, group in groups.items():
        channel, report = max(group, key=lambda pair: (pair[1].high_water / pair[1].depth, pair[1].mean))
        result.append(_Folded(key, channel, report, len(group)))
    return result


def _key(graph: Graph, channel: Channel) -> Key:
    """What the channels of all lanes have in common: the nodes at their ends, and their ports, but for those
    of what distributes or collects."""
    ends = [(graph.node[end.node], end.port) for end in (channel.source, channel.sink)]
    names = [node.copy_of or node.name for node, _ in ends]
    ports = ["" if node.spec.distribution(node.params) else port for node, port in ends]
    return names[0], names[1], ports[0], ports[1]


def _label(node: NodeReport) -> str:
    return f"{node.name} ×{node.copies}" if node.copies > 1 else node.name


def _node(region: RegionReport, report: NodeReport, told: Mapping[str, int]) -> dict[str, Any]:
    graph = region.compiled.graph
    node = graph.node[report.busiest]
    spent = report.spent
    waits = [_wait(name, count, "starved", told) for name, count in spent.starved.items()]
    waits += [_wait(name, count, "blocked", told) for name, count in spent.blocked.items()]
    return {
        "name": report.name,
        "label": _label(report),
        "kind": node.kind,
        "rule": node.spec.rule,
        "cell": node.note,
        "index": node.index,
        "params": {name: str(value) for name, value in node.params.items()},
        "copies": report.copies,
        "firings": report.firings,
        "busy": report.busy,
        "spent": spent.causes,
        "operations": report.operations,
        "waits": sorted(waits, key=lambda wait: -wait["cycles"]),
        "activity": activity(graph, region.result, node),
    }


def _wait(name: str, cycles: int, cause: str, told: Mapping[str, int]) -> dict[str, Any]:
    """A wait in words: `waited 41,982 cycles for reduce_scalar_t0.val`."""
    source, _, sink = name.partition("->")
    what = source if cause == "starved" else f"a slot of {sink}, which was full"
    text = f"waited {cycles:,} cycles for {what}"
    return {"text": text, "cycles": cycles, "cause": cause, "channel": told[name]}


def _channel(region: RegionReport, folded: _Folded, numbers: Mapping[str, int]) -> dict[str, Any]:
    graph, report = region.compiled.graph, folded.report
    stream = graph.stream(folded.channel)
    return {
        "name": report.name,
        "from": numbers[folded.key[0]],
        "to": numbers[folded.key[1]],
        "ports": [folded.channel.source.port, folded.channel.sink.port],
        "kind": str(stream.kind),
        "levels": stream.depth,
        "latency": folded.channel.latency,
        "depth": report.depth,
        "reason": report.reason,
        "tokens": report.tokens,
        "high_water": report.high_water,
        "mean": report.mean,
        "copies": folded.copies,
        "fill": fill(region.result, report.name),
    }


def _table(region: RegionReport, numbers: Mapping[str, int]) -> dict[str, Any]:
    """The fusion table: headings, and rows of cells, each with its text and the nodes that it became."""
    table = region.compiled.table
    rows, columns = table.shape()
    heads, *lines = table.grid()
    noted: dict[str, list[int]] = {}
    for node in region.compiled.graph.nodes:
        noted.setdefault(node.note.partition(":")[0], []).append(numbers[node.copy_of or node.name])
    body = []
    for row, line in zip(rows, lines, strict=True):
        cells = []
        for column, text in zip(columns, line[1:], strict=True):
            made = list(noted.get(f"{row}, {column}", ()))
            if cell := table.get(row, column):
                made += [numbers[n] for n in [table.resolve(cell.source).node.name] if n in numbers]
            cells.append({"text": text, "nodes": sorted(set(made))})
        body.append({"row": line[0], "cells": cells})
    return {"heads": heads[1:], "rows": body}


def _traffic(region: RegionReport) -> list[dict[str, Any]]:
    memories = region.compiled.graph.memory
    return [
        {
            "memory": name,
            "tensor": memories[name].tensor,
            "array": memories[name].array,
            "role": str(memories[name].role),
            "words": moved.words,
            "bytes": moved.bytes,
        }
        for name, moved in region.traffic.items()
    ]


def _tensors(region: RegionReport, *, written: bool) -> list[str]:
    """The tensors that a region reads, or writes."""
    graph = region.compiled.graph
    found = {
        graph.memory[name].tensor: None
        for node in graph.nodes
        for param, name in node.memories.items()
        if node.spec.memories[param].written is written
    }
    return list(found)


DEFAULT_PERIOD = 10.0
"""Of the clock by which a page tells times, in ns, where none is given."""

_OPEN = 90
"""A run with no more nodes shows the graphs of all its regions at first; of another one regions are boxes."""
_LARGEST = 600
"""A region with more nodes is a box at first, even if it is the only one."""


def run_page(report: RunReport) -> str:
    """The page, as text."""
    areas = shown_areas(report.compiled)
    view = run_view(report, areas)
    groups = told(report.regions)
    period = report.period or DEFAULT_PERIOD
    fitting = sum(device.verdict(area.use) == FITS for device, area in areas)
    return page(
        "run.html.j2",
        title=f"{report.program} on {report.data}: {report.cycles:,} cycles",
        report=report,
        origin=report.origin,
        nodes=sum(len(region.compiled.graph.nodes) for region in report.regions),
        megahertz=1e3 / period,
        microseconds=seconds(report.cycles, period) * 1e6,
        ports=[(title(group), port_grid(longest(group))) for group in groups if longest(group).ports],
        areas=device_grid(areas),
        fits=fit_words(areas),
        shared=[*fabric_lines(report.compiled), *interleaved_lines(report.compiled)],
        fits_one=fitting > 0,
        fitting=fitting,
        beyond_clocks=BEYOND_CLOCKS,
        caveat=areas[0][1].caveat,
        luts=areas[0][1].use.luts,
        family=FAMILY_NAMES[areas[0][0].family],
        data=json.dumps(view, separators=(",", ":")),
    )


def run_view(report: RunReport, areas: Areas) -> dict[str, Any]:
    """What the page's script is given: what `samhw run --json` prints, and the regions as they are drawn.

    Args:
        areas: that of which nodes have their part is the first.
    """
    device, area = areas[0]
    nodes = {region.name: region.nodes for region in area.regions}
    groups = told(report.regions)
    views = [region_view(group, nodes[longest(group).name]) for group in groups]
    passed = _passed(report.regions, {group.likeness: number for number, group in enumerate(groups)})
    layout = layered([(240, 90)] * len(views), [Edge(a, b) for a, b, _ in passed])
    for view, (x, y) in zip(views, layout.places, strict=True):
        view |= {"column": round(x), "layer": round(y)}
    total = sum(len(view["nodes"]) for view in views)
    opened = range(len(views)) if total <= _OPEN or len(views) == 1 else ()
    return {
        "run": report.to_json(),
        "regions": views,
        "passed": [{"from": a, "to": b, "tensors": names} for a, b, names in passed],
        "opened": [number for number in opened if len(views[number]["nodes"]) <= _LARGEST],
        "longest": max(range(len(views)), key=lambda number: views[number]["total"]),
        "area": FAMILY_NAMES[device.family],
        "greatest_clock": GREATEST_CLOCK,
    }


def _passed(
    regions: Sequence[RegionReport], numbers: Mapping[Likeness, int]
) -> list[tuple[int, int, list[str]]]:
    """The tensors that pass between regions: from the last that wrote them, to each that reads them. What
    passes between regions that are told of together is not shown.

    Args:
        numbers: by what regions that are told of together have in common.
    """
    writers: dict[str, int] = {}
    found: dict[tuple[int, int], list[str]] = {}
    for region in regions:
        number = numbers[region.alike]
        for tensor in _tensors(region, written=False):
            if writers.get(tensor, number) != number:
                found.setdefault((writers[tensor], number), []).append(tensor)
        writers |= dict.fromkeys(_tensors(region, written=True), number)
    return [
        (a, b, [likeness.name for likeness in dict.fromkeys(starred(dict.fromkeys(names)).values())])
        for (a, b), names in found.items()
    ]
