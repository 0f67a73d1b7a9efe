"""Any names in RTL: Verilog of any names runs like the simulator."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from samhw.app.checking import check
from samhw.app.workload import Workload, compile_workload, make_workload
from samhw.choices.schedule import Schedule
from samhw.errors import ScheduleError
from samhw.lang import Program, parse
from samhw.targets.backends import run
from tests.support.hostile import renamed
from tests.support.program_cases import random_tensors
from tests.support.strategies.chains import chained_programs
from tests.support.strategies.drawn import drawn

PROGRAMS = 2

VERILOG = [
    *("module", "wire", "always", "endmodule", "control", "host_port", "clk", "rst", "s_axi_awaddr"),
    *("aclk", "aresetn"),
    *("samhw_top", "_", "__", "a__b", "__DOT__", "X", "x", "A_vals", "A", "val", "t0", "int", "class"),
    *("x" * 200, "X" * 200),
]


def assert_alike(workload: Workload, **options: object) -> None:
    compiled = compile_workload(workload, **options)
    model = run(compiled, workload.tensors)
    rtl = run(compiled, workload.tensors, "verilator")
    assert [region.cycles for region in rtl.regions] == [region.cycles for region in model.regions]
    assert rtl.outputs.keys() == model.outputs.keys()
    assert check(workload, compiled, model.outputs).good
    assert check(workload, compiled, rtl.outputs).good


@pytest.mark.slow
@pytest.mark.verilator
def test_every_word() -> None:
    """As tensor and as index, in one design."""
    lines = [f"tensor {word}[{word}=3] : {'csf' if n % 4 < 2 else 'dense'}" for n, word in enumerate(VERILOG)]
    for number, (word, other) in enumerate(zip(VERILOG[::2], VERILOG[1::2], strict=True)):
        lines.append(f"result{number}[{word}] = {word}[{word}] * {other}[{word}]")
    assert_alike(make_workload(parse("\n".join(lines)), ["random:density=0.8"]))


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.verilator
def test_random_names() -> None:
    seen = 0

    @drawn(PROGRAMS, 1)
    @given(chained_programs(max_statements=4, concordant=False), st.integers(0, 2**32 - 1))
    def body(program: Program, number: int) -> None:
        nonlocal seen
        rng = np.random.default_rng(number)
        program, _ = renamed(program, rng)
        workload = Workload("random", program, random_tensors(program, rng))
        try:
            assert_alike(workload, schedule=Schedule(permute=True))
        except ScheduleError:
            assume(False)
        seen += 1

    body()
    assert seen == PROGRAMS
