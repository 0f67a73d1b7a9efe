"""One run of a compiled program: the simulator, and the C simulation of its HLS project."""

from collections.abc import Mapping

from samhw.compiler import Compiled
from samhw.errors import RunError
from samhw.graph import Graph
from samhw.hls import Options
from samhw.numerics import Words
from samhw.sim import Result, simulate
from samhw.targets.hls import HlsDesign, HlsResult, compare, golden
from samhw.targets.inputs import load_inputs
from samhw.tensors import Tensor

Inputs = tuple[dict[str, Words], dict[str, int]]


def run_model(
    compiled: Compiled, tensors: Mapping[str, Tensor], graph: Graph | None = None
) -> tuple[Inputs, Result]:
    """The input memories and extents, and what the simulator makes of them, all tokens recorded."""
    graph = graph or compiled.graph
    memories, extents = load_inputs(compiled.program, graph, tensors)
    return (memories, extents), simulate(graph, compiled.arch, memories, extents, trace=True)


def run_hls(compiled: Compiled, inputs: Inputs, model: Result, options: Options | None = None) -> HlsResult:
    """Builds a program's design, runs it, and compares words, tokens and depths."""
    return run_design(HlsDesign.build(compiled.graph, compiled.arch, options), inputs, model)


def run_design(design: HlsDesign, inputs: Inputs, *models: Result) -> HlsResult:
    """Runs a design, and compares words, tokens and depths with what the simulator makes of its regions."""
    try:
        result = design.run(*inputs, golden(design.graph, models), trace=True)
        for model in models:
            compare(model, result)
    except RunError as error:
        error.add_note(f"The design is {design.graph.name}.")
        raise
    assert set(result.tokens) == {channel.name for channel in design.graph.channels}
    return result
