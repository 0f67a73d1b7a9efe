"""What a compiled program is expected to cost on data of which statistics are known."""

from collections import Counter
from collections.abc import Mapping

from samhw.compiler.blocks import block_counts
from samhw.compiler.compiled import Compiled
from samhw.cost import DesignEstimate, Results, estimate_graph
from samhw.cost.statistics import TensorStatistics
from samhw.errors import InputError
from samhw.graph import runs_of

__all__ = ["estimate_compiled", "run_extents"]


def estimate_compiled(
    compiled: Compiled, statistics: TensorStatistics, *, rows_wait: bool = True
) -> DesignEstimate:
    """The estimate for a compiled program, without running it.

    Args:
        statistics: of the inputs of its program.
        rows_wait: as for `estimate_graph`.

    Raises:
        InputError: for an input that nothing is known of.
    """
    extents = run_extents(compiled, statistics)
    results: Results = {}
    regions = []
    design = compiled.design
    times = Counter(design.regions[number].name for number, _ in runs_of(design.sequence, extents))
    for graph in design.runs:
        region, results = estimate_graph(
            graph, compiled.arch, extents, statistics, results, rows_wait=rows_wait
        )
        regions.append(region.repeated(times[graph.name]))
    return DesignEstimate(tuple(regions))


def run_extents(compiled: Compiled, statistics: TensorStatistics) -> Mapping[str, int]:
    """The extent of each dimension in a run on what the statistics are of; the greatest one, where they do
    not say."""
    shapes = {}
    for decl in compiled.program.inputs:
        if decl.name not in statistics.stocks:
            raise InputError(f"Nothing is known of '{decl.name}'; give its data, or its density.")
        shapes[decl.name] = statistics.stocks[decl.name].shape
    bound = compiled.program.unbound.bind(shapes).dimensions.extents
    known = {dimension: extent for dimension, extent in bound.items() if extent is not None}
    extents = {**compiled.design.extents, **known}
    return extents | block_counts(compiled.design.tensors, extents)
