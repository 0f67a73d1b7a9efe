"""The harness and its driver on a hand-written design (toy.py): loading, running, reading back, failing."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from samhw.errors import InputError, RunError
from samhw.graph import DONE, VAL, Token
from samhw.graph.liveness import DeadlockError
from samhw.targets.running.driver import VerilatedDesign, VerilatedSession

from . import toy

pytestmark = pytest.mark.verilator


@pytest.fixture(scope="module")
def design() -> VerilatedDesign:
    return VerilatedDesign(toy.DESIGN, toy.ARCH, toy.verilog(), probes=True, stall_ports=True)


@pytest.fixture
def session(design: VerilatedDesign) -> Iterator[VerilatedSession]:
    with design.session() as session:
        yield session


def _run(session: VerilatedSession, words: list[int], **options: Any) -> Any:
    return session.run({"A.vals": words}, {"i": len(words)}, **options)


def test_run(design: VerilatedDesign) -> None:
    words = [5, 0, 0xFFFFFFFF, 7]
    result = design.run({"A.vals": words}, {"i": 4})
    assert result.cycles == 5
    assert result.region_cycles == (5,)
    assert list(result.memories) == ["C.vals"]
    assert result.memories["C.vals"].tolist() == words
    assert result.traces == {}


def test_runs_follow_each_other(session: VerilatedSession) -> None:
    for words in ([1, 2, 3], [], [4], list(range(toy.CAPACITY))):
        result = _run(session, words)
        assert result.memories["C.vals"].tolist() == words
        assert result.cycles == len(words) + 1


def test_trace(session: VerilatedSession) -> None:
    traces = _run(session, [5, 6], trace=True).traces
    assert list(traces) == [channel.name for channel in toy.GRAPH.channels]
    assert traces["root.out->scan.ref"] == []
    assert traces["scan.ref->array.ref"] == [(1, Token(VAL, 0)), (2, Token(VAL, 1)), (3, Token(DONE))]
    assert traces["array.val->write.val"] == [(1, Token(VAL, 5)), (2, Token(VAL, 6)), (3, Token(DONE))]
    assert _run(session, [5, 6]).traces == {}
    assert _run(session, [5, 6], trace=True).traces == traces


def test_stalls_hold_for_one_run(session: VerilatedSession) -> None:
    """Cycle c of the run looks at entry c modulo the length, each node at its own."""
    stalls = {"root": [True, False], "write": [False, True, False]}
    traces = _run(session, [5, 6], trace=True, stalls=stalls).traces
    free = [cycle for cycle in range(1, 20) if cycle % 2 == 1 and cycle % 3 != 1]
    assert [cycle for cycle, _ in traces["array.val->write.val"]] == free[:3]
    assert _run(session, [5, 6]).cycles == 3


def test_errors_name_node_and_cause(session: VerilatedSession) -> None:
    with pytest.raises(RunError, match=r"^overflow at node 'array': a result leaves the range of i32; .*\.$"):
        _run(session, [1, 0xDEAD, 3])
    assert _run(session, [1, 2]).memories["C.vals"].tolist() == [1, 2]


def test_deadlock_names_channels(session: VerilatedSession) -> None:
    """By their states, which are read from the host port: the first and the last empty, the second full."""
    with pytest.raises(DeadlockError) as failure:
        _run(session, [1, 0xBEEF])
    for name, state in [("root.out->scan.ref", "empty"), ("scan.ref->array.ref", "full")]:
        assert f"{name} ({state})" in str(failure.value)
    assert _run(session, [1]).cycles == 2


def test_limit(session: VerilatedSession) -> None:
    with pytest.raises(RunError, match=r"did not end within 1,000 cycles"):
        _run(session, [1, 0xF00D], limit=1000)
    assert _run(session, [1]).cycles == 2


@pytest.mark.parametrize(
    ("memories", "extents", "options", "message"),
    [
        ({"A.vals": [0] * (toy.CAPACITY + 1)}, {"i": 1}, {}, "A.vals holds 8 words, not 9"),
        ({"A.vals": [0]}, {"i": toy.CAPACITY + 1}, {}, "Index i has extent 9, but this build takes 8"),
        ({"A.vals": [0]}, {}, {}, "extent of index i is missing"),
        ({"C.vals": [0]}, {"i": 1}, {}, r"has no input memory 'C.vals' .*; it has A.vals"),
        ({"A.vals": [0]}, {"i": 1}, {"stalls": {"scan": [False]}}, "'scan' has no stall .* root, write"),
        ({"A.vals": [0]}, {"i": 1}, {"stalls": {"root": [True]}}, "'root' never lets it fire"),
    ],
)
def test_bad_arguments(
    session: VerilatedSession, memories: Any, extents: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        session.run(memories, extents, **options)
    assert _run(session, [1]).cycles == 2


def test_wrong_build() -> None:
    design = VerilatedDesign(
        toy.DESIGN, toy.ARCH, toy.verilog(identity=0x1234), probes=True, stall_ports=True
    )
    with pytest.raises(RunError, match=r"identifies itself as 0x00001234, but copy is 0x"):
        design.session()


def test_design_that_does_not_start() -> None:
    design = VerilatedDesign(toy.DESIGN, toy.ARCH, toy.verilog(starts=False), probes=True, stall_ports=True)
    with pytest.raises(RunError, match=r"stopped: the design does not start\."):
        design.run({"A.vals": [1]}, {"i": 1})


@pytest.mark.parametrize(("address", "count", "first"), [(4092, 1, 4092), (4092, 2, 4096), (9000, 1, 9000)])
@pytest.mark.parametrize("what", ["read", "write to"])
def test_refused_address(session: VerilatedSession, what: str, address: int, count: int, first: int) -> None:
    """Without a word after it, or beyond the range of the port, which would begin at 0 again."""
    port = session.port
    access = (
        partial(port.read, address, count) if what == "read" else partial(port.load, address, [1] * count)
    )
    with pytest.raises(RunError, match=f"stopped: the host port refuses to {what} address {first}"):
        access()


def test_design_that_is_no_verilog() -> None:
    with pytest.raises(RunError, match=r"Verilator does not accept .*syntax error"):
        VerilatedDesign(toy.DESIGN, toy.ARCH, "module samhw_top(input aclk;\nendmodule\n")


def test_combinational_loop_is_an_error() -> None:
    text = toy.verilog().replace(
        "assign error = cause != 0;",
        "wire p = !q; wire q = p ^ s_axi_rready; assign error = cause != 0 || q;",
    )
    with pytest.raises(RunError, match="UNOPTFLAT"):
        VerilatedDesign(toy.DESIGN, toy.ARCH, text, probes=True, stall_ports=True)


def test_build_is_reused(design: VerilatedDesign) -> None:
    again = VerilatedDesign(toy.DESIGN, toy.ARCH, toy.verilog(), probes=True, stall_ports=True)
    assert again.program.reused
    assert again.program.path == design.program.path
    assert again.program.seconds > 0


def test_build_without_extras(tmp_path: Path) -> None:
    design = VerilatedDesign(toy.DESIGN, toy.ARCH, toy.verilog())
    assert design.run({"A.vals": [1]}, {"i": 1}).memories["C.vals"].tolist() == [1]
    with pytest.raises(InputError, match="stall_ports=True"):
        design.run({"A.vals": [1]}, {"i": 1}, stalls={"root": [False]})
    with pytest.raises(InputError, match="probes=True"):
        design.run({"A.vals": [1]}, {"i": 1}, trace=True)
    with pytest.raises(InputError, match="wave='vcd'"):
        design.run({"A.vals": [1]}, {"i": 1}, wave=tmp_path / "wave.vcd")
    assert design.copy_to(tmp_path).read_bytes() == design.program.path.read_bytes()


@pytest.mark.slow
def test_wave(tmp_path: Path) -> None:
    design = VerilatedDesign(toy.DESIGN, toy.ARCH, toy.verilog(), wave="vcd")
    wave = tmp_path / "a wave.vcd"
    with design.session() as session:
        _run(session, [1])
        _run(session, [0xAB, 0xCD], wave=wave)
        _run(session, [0xEF])
    text = wave.read_text()
    assert " running $end" in text
    assert f"b{0xAB:032b} " in text
    assert f"b{0xEF:032b} " not in text
