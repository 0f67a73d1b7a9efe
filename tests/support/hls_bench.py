"""One run of a compiled program: the simulator, and the C simulation of its HLS project."""

from collections.abc import Mapping

from samhw.compiler import Compiled
from samhw.errors import RunError
from samhw.graph import Design
from samhw.graph.numerics import Words
from samhw.hls import Options
from samhw.sim import Result, simulate
from samhw.targets.running.csim import HlsDesign, HlsResult, compare, golden
from samhw.targets.running.inputs import load_inputs
from samhw.tensors import Tensor

Inputs = tuple[dict[str, Words], dict[str, int]]


def run_model(
    compiled: Compiled, tensors: Mapping[str, Tensor], design: Design | None = None
) -> tuple[Inputs, Result]:
    """The input memories and extents, and what the simulator makes of them, all tokens recorded."""
    design = design or compiled.design
    (graph,) = design.regions
    memories, extents = load_inputs(compiled.program, design, tensors)
    return (memories, extents), simulate(graph, compiled.arch, memories, extents, trace=True)


def run_hls(compiled: Compiled, inputs: Inputs, model: Result, options: Options | None = None) -> HlsResult:
    """Builds a program's design, runs it, and compares words, tokens and depths."""
    return run_design(HlsDesign.build(compiled.design, compiled.arch, options), inputs, model)


def run_design(design: HlsDesign, inputs: Inputs, *models: Result) -> HlsResult:
    """Runs a design, and compares words, tokens and depths with what the simulator makes of its regions."""
    try:
        result = design.run(*inputs, golden(design.design, models), trace=True)
        compare(models, result)
    except RunError as error:
        error.add_note(f"The design is {design.design.name}.")
        raise
    for tokens, graph in zip(result.tokens, design.design.runs, strict=True):
        assert set(tokens) == {channel.name for channel in graph.channels}
    return result
