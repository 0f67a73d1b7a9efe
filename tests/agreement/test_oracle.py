"""A sample of the oracle's random programs as hardware: the RTL gives the simulator's cycles, and RTL and C
simulation the values that the oracle says."""

from collections.abc import Iterator
from itertools import count, islice

import pytest

from samhw.compiler import Compiled
from samhw.graph import Arch, Design
from samhw.targets.backends import run
from samhw.targets.running.csim import HlsDesign
from samhw.targets.running.images import unload
from tests.support.hls_bench import run_design, run_model
from tests.support.oracle.case import Case, compile_case, draw_case

RTL_PROGRAMS = 4
HLS_PROGRAMS = 16
LEAST_NODES = 12


def compiled_cases(first: int) -> Iterator[tuple[Case, Compiled]]:
    """Cases that streams can follow, of some size."""
    for number in count(first):
        case = draw_case(number)
        compiled = case and compile_case(case)
        if case and compiled and len(compiled.design.nodes) >= LEAST_NODES:
            yield case, compiled


@pytest.mark.nightly(but=1)
@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize("first", [1_000_000, 2_000_000])
def test_rtl(first: int) -> None:
    for case, compiled in islice(compiled_cases(first), RTL_PROGRAMS // 2):
        model = run(compiled, case.tensors)
        rtl = run(compiled, case.tensors, "verilator")
        assert [region.cycles for region in rtl.regions] == [region.cycles for region in model.regions], case
        for name in case.expected.keys() & rtl.outputs.keys():
            case.compare(name, rtl.outputs[name].to_dense())


@pytest.mark.nightly(but=1)
@pytest.mark.slow
@pytest.mark.parametrize("value", ["i32", "f32"])
def test_c_simulation(value: str) -> None:
    drawn = (
        (case, compiled)
        for case, compiled in compiled_cases(3_000_000)
        if case.value == value and len(compiled.regions) == 1
    )
    chosen = list(islice(drawn, HLS_PROGRAMS // 2))
    named = [
        Design.assemble(f"random_{n}", compiled.design.regions) for n, (_, compiled) in enumerate(chosen)
    ]
    designs = HlsDesign.build_together(named, Arch())
    for design, (case, compiled) in zip(designs, chosen, strict=True):
        inputs, model = run_model(compiled, case.tensors, design.design)
        result = run_design(design, inputs, model)
        for name, tensor in unload(design.design.regions[0], result.memories, inputs[1]).items():
            if name in case.expected:
                case.compare(name, tensor.to_dense())
