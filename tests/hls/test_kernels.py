"""Every kernel as an HLS design: gives the simulator's tokens and words. Without what only our C simulation
has, it compiles without a warning and gives the golden words."""

import re
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import networkx as nx
import pytest

from samhw.app.workload import Workload, compile_workload, make_workload
from samhw.compiler import Compiled
from samhw.graph import Arch, Placement
from samhw.graph.numerics import value_type
from samhw.hls import Options
from samhw.lang import kernel_names, load_kernel
from samhw.targets.running.csim import HlsDesign
from tests.support.hls_bench import run_as_vitis_does, run_design, run_hls, run_model
from tests.support.thorough import sample

VALUES = ("i32", "fixed<16,8>", "bf16", "f32")
ALONE = list(zip(kernel_names(), cycle(VALUES), strict=False))


SMALL = "random:size=16,density=0.2"


def compiled(kernel: str, value: str, data: str = SMALL) -> tuple[Compiled, Workload]:
    workload = make_workload(load_kernel(kernel), [data], value=value_type(value))
    return compile_workload(workload, value=value_type(value)), workload


def run_together(cases: Sequence[tuple[Compiled, Workload]]) -> None:
    """As one program, for which the compiler takes little longer than for one of them alone."""
    arch = cases[0][0].arch
    designs = HlsDesign.build_together([program.design for program, _ in cases], arch)
    for design, (program, workload) in zip(designs, cases, strict=True):
        run_design(design, *run_model(program, workload.tensors))


@pytest.mark.nightly(but=2)
@pytest.mark.slow
@pytest.mark.parametrize("value", VALUES)
def test_kernels(value: str) -> None:
    """Every kernel on integers, and a third of them on each of the other types."""
    names = kernel_names()
    third = VALUES.index(value) - 1
    run_together(
        [compiled(kernel, value) for kernel in sample(names, names if third < 0 else names[third::3])]
    )


@pytest.mark.nightly(but=2)
@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "value"), sample(ALONE, ALONE[::5]))
def test_kernel_alone(kernel: str, value: str) -> None:
    """With the library of its own project, which has what the kernel needs and no more."""
    program, workload = compiled(kernel, value)
    run_hls(program, *run_model(program, workload.tensors))


@pytest.mark.nightly(but=1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "room"), [(value, room) for room in (0, None) for value in ("f32", *VALUES[:-1], "f8e4m3")]
)
def test_kernels_as_vitis_runs_them(value: str, room: int | None) -> None:
    names = kernel_names()
    cases = [compiled(kernel, value) for kernel in sample(names, names[1::5])]
    run_as_vitis_does(
        [(program, workload.tensors) for program, workload in cases],
        Options(placement=Placement(room=room)),
    )


@pytest.mark.slow
@pytest.mark.parametrize("latency", [1, 8])
def test_sums_of_other_latencies(latency: int) -> None:
    """Sums that are still in the adder, that are out of it, and that are in the memory."""
    arch = Arch(reduce={"f32": {"sum": latency}})
    workloads = [
        make_workload(load_kernel(k), ["karate"], value=value_type("f32")) for k in ("spmv", "spmspm_kij")
    ]
    run_together([(compile_workload(w, value=value_type("f32"), arch=arch), w) for w in workloads])


@pytest.mark.slow
@pytest.mark.parametrize("room", [None, 700])
def test_memories(room: int | None) -> None:
    """All on the chip, and some."""
    program, workload = compiled("spmm", "i16")
    run_hls(program, *run_model(program, workload.tensors), options=Options(placement=Placement(room=room)))


@pytest.mark.slow
def test_no_recursion() -> None:
    """In the calls of the compiled program, not in its text."""
    program, _ = compiled("spmspm_kij", "f32")
    calls = call_graph(HlsDesign.build(program.design, program.arch).program)
    assert any("reduce_vector_accumulate" in name for name in calls)
    assert nx.is_directed_acyclic_graph(calls)


def call_graph(program: Path) -> "nx.DiGraph[str]":
    """Which functions of the kernel and its library call which, by their mangled names."""
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", program], capture_output=True, text=True, check=True
    ).stdout
    edges: dict[str, set[str]] = defaultdict(set)
    function = ""
    for line in listing.splitlines():
        if found := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            function = found[1]
        elif found := re.search(r"\bcall\s+[0-9a-f]+ <(.*)>$", line):
            edges[function].add(found[1])
    # The standard library's functions on types of samhw are of the memory in software alone.
    own = [name for name in edges if not name.startswith("_ZNSt")]
    ours = {name for name in own if "samhw" in name or "spmspm_kij" in name}
    return nx.DiGraph((caller, callee) for caller in ours for callee in edges[caller] & ours)
