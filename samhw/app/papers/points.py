"""What is measured for a figure: a configuration, and how."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

from samhw.app.checking import correlate
from samhw.app.checking.measure import measure_compiled
from samhw.app.papers.wavefronts import wavefront
from samhw.app.sweep import Configuration
from samhw.app.sweep.outcome import Outcome, crashed
from samhw.app.workload import Workload, bind_program, compile_workload, job_of
from samhw.choices.schedule import Schedule, with_words
from samhw.compiler import Compiled, area_of, asked_type, estimate_compiled
from samhw.compiler.search import order_spaces, work_of
from samhw.compiler.search.patterns import BUILT_IN, find_patterns
from samhw.cost import DEVICES, reached_clock
from samhw.errors import InputError, RunError
from samhw.graph import Graph
from samhw.lang.splits import split_program
from samhw.targets.building.build_cache import digest

__all__ = ["MEASURES", "Figures", "PaperPoint", "point", "point_outcome"]

Figures = Mapping[str, Any]
"""What was measured, by name."""

PART = "LFE5U-85F"
"""The FPGA that designs are held against."""


@dataclass(frozen=True)
class PaperPoint:
    """One measurement.

    Attributes:
        configuration: program, data and schedule.
        how: one of `MEASURES`.
    """

    configuration: Configuration
    how: str = "simulator"

    def key(self) -> str:
        """A name for all that the result follows from, with the code that measures it."""
        own = [Path(__file__).with_name(name).read_text("utf-8") for name in ("points.py", "wavefronts.py")]
        return digest(self.configuration.key(), self.how, *own)

    def to_json(self) -> dict[str, Any]:
        """A JSON object; `from_json` is its inverse."""
        return {"how": self.how, "configuration": self.configuration.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "PaperPoint":
        """The point of a JSON object."""
        return cls(Configuration.from_json(data["configuration"]), data["how"])

    def anywhere(self) -> "PaperPoint":
        """The same for a process in another working directory."""
        return replace(self, configuration=self.configuration.anywhere())


def point(
    program: str,
    data: str = "auto",
    *,
    how: str = "simulator",
    value: str = "f32",
    memory: str = "chip",
    **words: str,
) -> PaperPoint:
    """A point in the words of the command line.

    Args:
        words: of the schedule, by choice.
    """
    schedule = with_words(Schedule(), words)
    return PaperPoint(Configuration(program, data, asked_type(value), schedule, memory=memory), how)


def point_outcome(given: PaperPoint) -> Outcome:
    """Measures a point. Raises nothing that comes from it."""
    try:
        figures = dict(MEASURES[given.how](given.configuration))
    except InputError as error:
        return {"status": "refused", "error": str(error)}
    except RunError as error:
        return {"status": "failed", "error": str(error)}
    except Exception as error:
        return crashed(f"{type(error).__name__}: {error}")
    return {"status": figures.pop("status", "right"), "figures": figures}


# Measures


def _workload(one: Configuration) -> Workload:
    return bind_program(one.program, one.specs(), value=one.value)


def _compiled(one: Configuration, workload: Workload) -> Compiled:
    memory, arch = one.off_chip_memory(), one.arch()
    return compile_workload(workload, one.schedule, value=one.value, memory=memory, arch=arch)


def _simulated(one: Configuration) -> Figures:
    """A run whose result is checked."""
    workload = _workload(one)
    compiled = _compiled(one, workload)
    found = asdict(measure_compiled(workload, compiled, memory=one.off_chip_memory()))
    graphs = compiled.design.regions
    area = area_of(compiled).use
    return {
        **{name: found[name] for name in ("status", "regions", "cycles", "firings", "operations")},
        "bytes": round(found["bytes_read"] + found["bytes_written"]),
        "read": round(found["bytes_read"]),
        "bottleneck": found["bottleneck"],
        "deepest": max((c.depth for graph in graphs for c in graph.channels), default=0),
        "units": sum(map(_units, graphs)),
        "luts": round(area.luts),
        "products": _products(workload, compiled),
    }


def _dispatched(one: Configuration) -> Figures:
    """A run under the schedule that goes with the patterns of the program."""
    found = find_patterns(_workload(one).program, BUILT_IN)
    return _simulated(replace(one, schedule=Schedule.from_fields(found.schedule)))


def _units(graph: Graph) -> int:
    """How many operations on values the nodes of a graph do in a cycle at the most."""
    works = (node.spec.work(node.params) for node in graph.nodes)
    return sum(work.each for work in works if work)


def _products(workload: Workload, compiled: Compiled) -> int:
    """The points of the busiest statement, as written or in the brackets that were taken, whichever are
    fewer: one lane takes no fewer cycles."""
    job = job_of(workload)
    both = (Schedule(), Schedule(brackets=compiled.schedule.brackets))
    programs = (one.apply(job.program).bind({}) for one in both)
    return round(min(max(work_of(program, job.sizes()).points.values()) for program in programs))


def _estimated(one: Configuration) -> Figures:
    """What is estimated beside what a run takes, in percent of that."""
    workload = _workload(one)
    compiled = _compiled(one, workload)
    taken = measure_compiled(workload, compiled)
    expected = estimate_compiled(compiled, workload.statistics())
    moved = taken.bytes_read + taken.bytes_written

    def error(estimate: float, figure: float) -> float:
        return 100 * abs(estimate - figure) / max(figure, 1)

    return {
        "status": taken.status,
        "operations": error(expected.operations, taken.operations),
        "bytes": error(expected.bytes, moved),
        "cycles": error(expected.cycles, taken.cycles),
    }


def _expected(one: Configuration) -> Figures:
    """What is estimated of a run that nobody waits for."""
    workload = _workload(one)
    compiled = _compiled(one, workload)
    expected = estimate_compiled(compiled, workload.statistics())
    return {
        "status": "expected",
        "regions": len(compiled.design.runs),
        "cycles": round(expected.cycles),
        "operations": round(expected.operations),
        "bytes": round(expected.bytes),
        "luts": round(area_of(compiled).use.luts),
        "products": _products(workload, compiled),
    }


def _in_hardware(one: Configuration) -> Figures:
    """A run of the simulator and of the RTL; what the design takes of an FPGA, and whether it fits."""
    workload = _workload(one)
    memory = one.off_chip_memory()
    found = correlate([[workload]], one.schedule, jobs=1, value=one.value, memory=memory)
    whole = found.rows[-1]
    compiled = _compiled(one, workload)
    use = area_of(compiled).use
    return {
        "status": str(whole.result),
        "cycles": whole.model_cycles,
        "rtl": whole.rtl_cycles,
        "kernels": [[row.name, row.model_cycles, row.rtl_cycles] for row in found.rows],
        "luts": round(use.luts),
        "block_rams": round(use.block_rams),
        "mhz": reached_clock(compiled.value),
        "fits": DEVICES[PART].verdict(use),
    }


def _counted_orders(one: Configuration) -> Figures:
    """How many orders the indices of all regions have."""
    workload = _workload(one)
    program = one.schedule.apply(workload.program)
    # Uses of an intermediate share indices where they can; regions are whole, however they are run.
    spaces = [order_spaces(program, region)[0] for region in program.regions]
    return {
        "indices": " + ".join(str(len(space.indices)) for space in spaces),
        "any order": prod(space.any_order for space in spaces),
        "storage kept": prod(space.kept_storage for space in spaces),
        "and statements' orders": prod(space.kept_all for space in spaces),
    }


def _padded(one: Configuration) -> Figures:
    """How many cells the parts of a matrix have beside its entries, in percent of these."""
    workload = _workload(one)
    split = split_program(workload.program, one.schedule.split).partitions
    ((name, partition),) = split.items()
    sizes = partition.sizes(workload.stored(one.schedule)[name]).values()
    entries = sum(size.stored for size in sizes)
    padding = 100 * sum(size.padding for size in sizes) / max(entries, 1)
    return {"rows": workload.tensors[name].shape[0], "entries": entries, "padding": padding}


MEASURES: Mapping[str, Callable[[Configuration], Figures]] = {
    "simulator": _simulated,
    "estimate": _estimated,
    "expected": _expected,
    "hardware": _in_hardware,
    "orders": _counted_orders,
    "patterns": _dispatched,
    "padding": _padded,
    "wavefront": wavefront,
}
