"""One run of a compiled program: the simulator, and the C simulation of its HLS project."""

import resource
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from samhw.compiler import Compiled
from samhw.errors import RunError
from samhw.graph import Design
from samhw.graph.numerics import Words
from samhw.hls import Options, emit_together, vectors
from samhw.hls.cpp import top_name
from samhw.sim import Result, simulate, simulated_regions
from samhw.targets.building.hls_tools import WARNED, compile_cpp
from samhw.targets.running.csim import HlsDesign, HlsResult, compare, golden
from samhw.targets.running.inputs import load_inputs
from samhw.tensors import Tensor
from tests.hls.vitis_in_software import BURSTS
from tests.support.thorough import THOROUGH

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


SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize=shift-base", "-fno-sanitize-recover=all")
"""AMD's `ap_private.h` shifts negative numbers to the left, which C++17 does not define."""

STRICT = (*WARNED, "-Wshadow", *(SANITIZED * THOROUGH))

STACK = 8 << 20
"""What Vitis leaves a C simulation."""


def run_as_vitis_does(
    cases: Sequence[tuple[Compiled, Mapping[str, Tensor]]], options: Options | None = None
) -> None:
    """Runs the testbenches of several designs without what only our C simulation has, with `hls::burst_maxi`
    in software and with the stack that Vitis leaves, in the nightly under sanitizers: each must find its
    golden words."""
    arch = cases[0][0].arch
    files = {**emit_together([program.design for program, _ in cases], arch, options), **BURSTS}
    files = {path: text for path, text in files.items() if not path.endswith("csim.hpp")}
    built = compile_cpp(files, ["all.cpp"], STRICT)
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    for program, tensors in cases:
        memories, extents = load_inputs(program.program, program.design, tensors)
        runs = simulated_regions(program.design, arch, memories, extents)
        words = golden(program.design, [run.result for run in runs])
        with tempfile.TemporaryDirectory() as name:
            for path, text in vectors(program.design, extents, memories, words).items():
                (Path(name) / path).parent.mkdir(exist_ok=True)
                (Path(name) / path).write_text(text)
            top = top_name(program.design.name)
            done = subprocess.run(
                [built, top, "tb_data"],
                cwd=name,
                capture_output=True,
                text=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (STACK, hard)),
            )
            assert (done.returncode, done.stdout, done.stderr) == (0, f"{top}: PASS\n", "")
