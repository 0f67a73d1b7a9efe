"""The profile of HLS designs."""

import json

import pytest

from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError
from samhw.graph import Arch
from samhw.graph.numerics import value_type
from samhw.lang import load_kernel


def test_operators_of_the_floating_point_ip() -> None:
    """Their stages, and the two cycles of a process (docs/hls.md, "Cycles")."""
    arch = Arch.vitis()
    latencies = {op: arch.alu_latency(op, value_type("f32")) for op in ("add", "sub", "mul", "div", "sqrt")}
    assert latencies == {"add": 8, "sub": 8, "mul": 5, "div": 13, "sqrt": 13}
    assert arch.reduce_latency("sum", value_type("f32")) >= latencies["add"]


@pytest.mark.parametrize("value", ["i8", "i32", "fixed<16,8>", "f8e5m2", "bf16", "f32"])
def test_every_operation_takes_a_process(value: str) -> None:
    arch = Arch.vitis()
    for op in value_type(value).operations:
        assert arch.alu_latency(op, value_type(value)) >= arch.step


def test_json_holds_it() -> None:
    assert Arch.from_json(json.loads(Arch.vitis().dumps())) == Arch.vitis()


def test_a_copied_stream_is_later() -> None:
    """An output that feeds several inputs goes through a process of its own; one that feeds one does not."""
    program = load_kernel("spmv").bind({"B": (8, 8), "c": (8,)})
    plain = compile_job(Job(program, arch=Arch())).regions[0].graph
    copied = compile_job(Job(program, arch=Arch(fanout=3))).regions[0].graph
    latencies = {c.name: c.latency for c in plain.channels}
    added = {c.name: c.latency - latencies[c.name] for c in copied.channels}
    for channel in copied.channels:
        assert added[channel.name] == (3 if len(copied.fanout[channel.source]) > 1 else 0)
    assert set(added.values()) == {0, 3}


def test_no_negative_fanout() -> None:
    with pytest.raises(InputError, match=r"Arch.fanout is -1; give a whole number, at least 0"):
        Arch(fanout=-1)
