"""What a compiled program is expected to cost on data of which statistics are known; and its extents in
blocks, those that count blocks, and which its data may have."""

from collections import Counter
from collections.abc import Iterable, Mapping

from samhw.compiler.compiled import Compiled
from samhw.cost import DesignEstimate, Results, estimate_graph
from samhw.cost.statistics import TensorStatistics
from samhw.errors import InputError
from samhw.graph import TensorBinding, runs_of
from samhw.lang import Program, Statement, block_sizes, reaching_beyond
from samhw.tensors import Format

__all__ = ["block_counts", "check_divided", "estimate_compiled", "run_extents"]


def block_counts(tensors: Iterable[TensorBinding], extents: Mapping[str, int]) -> dict[str, int]:
    """The extents that count the blocks of tensors, from those of the tensors' indices."""
    counts = {}
    for binding in tensors:
        format = Format.parse(binding.format, len(binding.indices))
        for mode, count in enumerate(binding.block_counts):
            if count:
                counts[count] = -(-extents[binding.indices[mode]] // format.block_of(mode))
    return counts


def check_divided(program: Program, extents: Mapping[str, int]) -> None:
    """Raises `InputError` for extents that blocks reach beyond where what they hold there would matter."""
    sizes = block_sizes(program)
    for dimension, statement in undivided(program).items():
        if extents.get(dimension, 0) % sizes[dimension]:
            raise InputError(
                f"Blocks of {sizes[dimension]} along {dimension} reach beyond {extents[dimension]:,}, where "
                f"'{statement}' would not be zero; choose a size that divides it, or leave the blocks out "
                "(--blocks)."
            )


def undivided(program: Program) -> dict[str, Statement]:
    """The dimensions in blocks whose extents the blocks have to divide, each with a statement for which.

    A block at the edge reaches beyond the extent, and holds zeros there. Sums do not notice. But a statement
    may not leave anything else there, and a maximum, a minimum or a product would take these zeros in.
    """
    sizes = block_sizes(program)
    found: dict[str, Statement] = {}
    for statement in program.statements:
        dimension = program.dimensions.of_statement(statement)
        for index in reaching_beyond(statement):
            if dimension.get(index) in sizes:
                found.setdefault(dimension[index], statement)
    return found


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
