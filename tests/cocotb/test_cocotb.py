"""cocotb, with its own AXI master and monitors, against the model: tokens and cycles of every channel."""

import pickle
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from cocotb_tools import config
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job as CompilerJob
from samhw.graph import (
    PLAIN_HOST,
    Arch,
    Channel,
    Design,
    Endpoint,
    Graph,
    HostOptions,
    Memory,
    MemoryRole,
    Node,
    latency,
    make,
)
from samhw.graph.numerics import value_type
from samhw.lang import Capacity, load_kernel
from samhw.sim import simulate
from samhw.targets.building.elaborate import generate_verilog
from samhw.targets.building.verilator import build_program
from samhw.targets.running.images import load
from samhw.tensors import Tensor
from tests.support.thorough import sample

from .job import Job

pytestmark = [pytest.mark.slow, pytest.mark.verilator]

ARCH = Arch()
Data = tuple[Graph, dict[str, np.ndarray], dict[str, int]]


def _compressed_copy() -> Data:
    """A compressed vector, read and written: root, scanner, array, writers."""
    nodes = (
        make("root", "root", 0),
        make("scan_compressed", "scan", 0, pos="A.pos0", crd="A.crd0", extent="i"),
        make("array", "array", 1, vals="A.vals"),
        make("write_compressed", "write_crd", 1, pos="X.pos0", crd="X.crd0"),
        make("write_val", "write_val", 1, vals="X.vals"),
    )
    channels = (
        _channel(nodes[0], "out", nodes[1], "ref"),
        _channel(nodes[1], "ref", nodes[2], "ref"),
        _channel(nodes[1], "crd", nodes[3], "crd"),
        _channel(nodes[2], "val", nodes[4], "val"),
    )
    memories = tuple(
        Memory(f"{tensor}.{array}", tensor, array, role, capacity)
        for tensor, role in (("A", MemoryRole.INPUT), ("X", MemoryRole.OUTPUT))
        for array, capacity in (("pos0", 2), ("crd0", 16), ("vals", 16))
    )
    graph = Graph("copy", value_type("i16"), nodes, channels, memories, (), {"i": 16})
    data = {"A.pos0": [0, 5], "A.crd0": [1, 4, 5, 9, 11], "A.vals": [7, 0xFFFF, 0, 3, 0x8000]}
    return graph, {name: np.array(words) for name, words in data.items()}, {"i": 12}


def _channel(source: Node, output: str, sink: Node, input: str) -> Channel:
    cycles = latency(source, output, ARCH, value_type("i16"))
    return Channel(Endpoint(source.name, output), Endpoint(sink.name, input), cycles, cycles + 1)


def _kernel(name: str, **shapes: tuple[int, ...]) -> Data:
    """A built-in program on random sparse data."""
    rng = np.random.default_rng(3)
    program = load_kernel(name).bind(shapes)
    extents = {index: size or 1 for index, size in program.extents(program.statements[0]).items()}
    design = compile_job(
        CompilerJob(program, capacity=Capacity(extents, dict.fromkeys(program.tensors, 32)))
    ).design
    tensors = {}
    for binding in design.tensors:
        if binding.role is MemoryRole.INPUT:
            values = rng.integers(-9, 9, binding.shape) * (rng.random(binding.shape) < 0.4)
            tensors[binding.name] = Tensor.from_dense(values, binding.format)
    return design.regions[0], *load(design, tensors)


CASES: dict[str, Callable[[], Data]] = {
    "copy": _compressed_copy,
    "mmadd": lambda: _kernel("mmadd", B=(4, 5), C=(4, 5)),
    "spmspm": lambda: _kernel("spmspm_ikj", B=(4, 5), C=(5, 3)),
}


HOSTS = {"spmspm": HostOptions.parse("axi4:3,recovery")}
"""Of the cases whose port is not the plain one."""


@pytest.mark.parametrize("name", sample(list(CASES), ["copy", "spmspm"]))
def test_graph(name: str, tmp_path: Path) -> None:
    host = HOSTS.get(name, PLAIN_HOST)
    graph, memories, extents = CASES[name]()
    design = Design.of(graph)
    model = simulate(graph, ARCH, memories, extents, trace=True, check=True)
    job = Job(
        design=design,
        arch=ARCH,
        memories={memory: words.tolist() for memory, words in memories.items()},
        extents=extents,
        cycles=model.cycles,
        traces=dict(model.traces),
        results={memory: words.tolist() for memory, words in model.memories.items()},
        host=host,
    )
    (tmp_path / "job").write_bytes(pickle.dumps(job))

    text = "`timescale 1ns/1ps\n" + generate_verilog(design, ARCH, probes=True, host=host)
    main = config.share_dir / "lib" / "verilator" / "verilator.cpp"
    library = config.libs_dir / "libcocotbvpi_verilator.so"
    program = build_program(text, main.read_text(), harness=None, vpi=library)
    (tmp_path / "samhw_top").symlink_to(program.path)  # Where the runner looks for it.
    results = tmp_path / "results.xml"
    with suppress(SystemExit):  # That is how the runner says that a test failed.
        get_runner("verilator").test(
            test_module="tests.cocotb.testbench",
            hdl_toplevel="samhw_top",
            hdl_toplevel_lang="verilog",
            build_dir=tmp_path,
            test_dir=tmp_path,
            results_xml=str(results),
            extra_env={"SAMHW_JOB": str(tmp_path / "job")},
            log_file=tmp_path / "log",
        )
    assert get_results(results) == (2, 0), (tmp_path / "log").read_text()
