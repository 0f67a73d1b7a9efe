"""Boards under Verilator, from the pin of the clock to those of the UART, with the host of real ones."""

import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from samhw.app.checking import check
from samhw.app.workload import bind_program, compile_workload
from samhw.errors import InputError, RunError
from samhw.graph.address_map import Register
from samhw.graph.numerics import value_type
from samhw.lang import kernel_names
from samhw.targets.backends import find_backend, run
from samhw.targets.boards.board import find_board
from samhw.targets.link import Client, Decoder, encode
from samhw.targets.running.boards import BoardSession, EmulatedLine
from samhw.targets.running.images import load_inputs
from samhw.targets.running.session import SimulatedSession
from tests.support.thorough import sample

from .emulated import FaultyLine, design_on, open_session, small

pytestmark = [pytest.mark.verilator, pytest.mark.slow]

MODELS = {"gcn": "f=6,h=4,c=3", "mlp": "n=4,f=5,h=4,g=3,c=2"}
"""Models with small sizes."""

PROGRAMS = sample(
    [*kernel_names(), *MODELS],
    ["spmv", "residual", "mlp"],
)
"""Of twenty programs."""


def inputs(program: str, seed: int):
    """The words and extents of a run on random data."""
    workload, compiled = small(program)
    data = bind_program(program, [f"random:size=8,density=0.3,seed={seed}"])
    return load_inputs(
        compiled.program, compiled.design, {**workload.tensors, **data.tensors}, compiled.recipes
    )


@pytest.fixture(scope="module")
def line() -> Iterator[EmulatedLine]:
    found = EmulatedLine(design_on(small("spmv")[1]))
    yield found
    found.close()


@pytest.fixture
def session(line: EmulatedLine) -> BoardSession:
    """Its last request has the number 1: a client begins with a random one, and a write with the number of
    the last request would be a repeat."""
    opened = open_session(design_on(small("spmv")[1]), line)
    opened.port.client._number = 0
    opened.port.read(Register.IDENTITY, 1)
    return opened


@pytest.mark.nightly(but=1)
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_take_the_simulators_cycles(program: str) -> None:
    sizes = MODELS.get(program, "size=10,density=0.2")
    workload = bind_program(program, [f"random:{sizes},seed=3"])
    compiled = compile_workload(workload, value=value_type("bf16" if program in MODELS else "i32"))
    model = run(compiled, workload.tensors)
    board = run(compiled, workload.tensors, find_backend("board:ulx3s"), emulate=True)
    assert [r.cycles for r in board.regions] == [r.cycles for r in model.regions]
    assert board.cycles == model.cycles
    for name, tensor in model.outputs.items():
        found = board.outputs[name].arrays()
        assert found.keys() == tensor.arrays().keys()
        assert all(np.array_equal(array, found[key]) for key, array in tensor.arrays().items())
    assert check(workload, compiled, board.outputs).good


@pytest.mark.parametrize("board", ["ecpix5", "arty_a7"])
def test_other_boards(board: str) -> None:
    workload, compiled = small("spmv")
    model = run(compiled, workload.tensors)
    found = run(compiled, workload.tensors, find_backend(f"board:{board}"), emulate=True)
    assert found.cycles == model.cycles
    assert check(workload, compiled, found.outputs).good


def test_a_board_of_ones_own(tmp_path: Path) -> None:
    """From its file, whose clock is another, and with another clock and line than the file's."""
    path = tmp_path / "mine.py"
    text = find_board("ecpix5").file.read_text()
    path.write_text(text.replace('name="ecpix5"', 'name="mine"').replace("clock=50e6", "clock=36e6"))
    workload, compiled = small("spmv")
    assert design_on(compiled, str(path)).clock == 36e6
    backend = find_backend(f"board:{path}")
    found = run(compiled, workload.tensors, backend, emulate=True, clock=1e3 / 80, baud=2_500_000)
    assert found.cycles == run(compiled, workload.tensors).cycles
    assert check(workload, compiled, found.outputs).good


def test_one_interface(session: BoardSession) -> None:
    """Load, start, wait, read and counters, of a board and of the simulator."""
    _, compiled = small("spmv")
    with SimulatedSession(compiled.design, compiled.arch) as model:
        for seed in range(5):
            memories, extents = inputs("spmv", seed)
            results = []
            for each in (model, session):
                each.load(memories, extents)
                each.start()
                each.wait()
                results.append((each.counters(), each.read("x.vals", 8).tolist()))
            assert results[0] == results[1]


def test_faults_on_the_line(line: EmulatedLine) -> None:
    """Of 250 transfers and more, half are damaged; a run is right, or says what went wrong, and the next one
    is right."""
    rng = np.random.default_rng(7)
    _, compiled = small("spmv")
    on_board = design_on(compiled)
    faulty = FaultyLine(line, rng, 0.3)
    model = SimulatedSession(compiled.design, compiled.arch)
    session = open_session(on_board, faulty)
    right = resets = 0
    errors: list[str] = []
    for seed in range(10_000):
        memories, extents = inputs("spmv", seed % 50)
        expected = model.run(memories, extents)
        if rng.random() < 0.2:
            resets += 1
            faulty.send = _resetting(faulty, line, int(rng.integers(1, 12)))  # type: ignore[method-assign]
        try:
            found = session.run(memories, extents)
        except RunError as error:
            errors.append(str(error))
            faulty.rate, rate = 0.0, faulty.rate
            found = session.run(memories, extents)
            faulty.rate = rate
        else:
            right += 1
        assert found.cycles == expected.cycles
        assert found.memories.keys() == expected.memories.keys()
        assert all(np.array_equal(found.memories[n], expected.memories[n]) for n in expected.memories)
        if faulty.pieces > 750 and faulty.faults > 250 and resets >= 5:
            break
    assert session.repeats >= 150
    assert right > 10
    assert errors
    assert all("was reset in the middle" in e or "does not answer" in e for e in errors)


def _resetting(faulty: FaultyLine, line: EmulatedLine, after: int):
    """What sends as the line does, but configures the board again before the piece number `after`."""
    send = FaultyLine.send.__get__(faulty)

    def sends(data: bytes) -> None:
        nonlocal after
        after -= 1
        if after == 0:
            line.configure()
        send(data)

    return sends


def test_errors_of_runs_are_named_as_in_the_simulator(session: BoardSession) -> None:
    _, compiled = small("spmv")
    memories, extents = inputs("spmv", 1)
    large = {**memories, "B.vals": np.full_like(memories["B.vals"], 1 << 30)}
    large["c.vals"] = np.full_like(memories["c.vals"], 4)
    with SimulatedSession(compiled.design, compiled.arch) as model:
        expected = model.run(memories, extents)
        for each in (model, session):
            with pytest.raises(RunError, match=r"^overflow at node 'mul"):
                each.run(large, extents)
            assert each.run(memories, extents).cycles == expected.cycles
    with pytest.raises(RunError, match="did not end within 5 cycles"):
        session.run(memories, extents, limit=5)
    assert session.run(memories, extents).cycles == expected.cycles
    with pytest.raises(InputError, match="no input memory 'nothing'"):
        session.run({"nothing": [1]}, extents)


def test_another_design(line: EmulatedLine) -> None:
    with pytest.raises(
        RunError, match=r"holds another design \(.*\) than spmm .*; load the bitstream of spmm"
    ):
        open_session(design_on(small("spmm")[1]), _Kept(line))
    assert open_session(design_on(small("spmv")[1]), line).run(*inputs("spmv", 2)).cycles


def test_another_design_is_loaded_in_the_middle_of_a_session(line: EmulatedLine) -> None:
    memories, extents = inputs("spmv", 4)
    session = open_session(design_on(small("spmv")[1]), _Kept(line))
    expected = session.run(memories, extents).cycles
    session.load(memories, extents)
    with EmulatedLine(design_on(small("spmm")[1])) as other:
        session.port.client.transport = other
        with pytest.raises(RunError, match="was reset in the middle of a session"):
            session.start()
        for _ in range(2):
            with pytest.raises(RunError, match="holds another design"):
                session.run(memories, extents)
    session.port.client.transport = line
    line.configure()
    assert session.run(memories, extents).cycles == expected


def test_a_stale_bitstream(line: EmulatedLine) -> None:
    on_board = design_on(small("spmv")[1])
    stale = BoardSession, on_board.design, on_board.arch, on_board.build ^ 1
    with pytest.raises(RunError, match=r"bitstream of spmv .* is stale .*; load a new one"):
        stale[0](*stale[1:], _Kept(line))
    # The build changes with the rate of the link.
    assert replace(on_board, wanted_baud=1_000_000).build != on_board.build


def test_what_a_reset_lost_has_to_be_loaded_again(line: EmulatedLine, session: BoardSession) -> None:
    memories, extents = inputs("spmv", 1)
    expected = session.run(memories, extents).cycles
    vector = {"c.vals": memories["c.vals"]}
    assert session.run(vector, extents).cycles == expected
    line.configure()
    with pytest.raises(RunError, match="was reset in the middle of a session"):
        session.run(vector, extents)
    with pytest.raises(RunError, match=r"has lost what was loaded into B\.crd1, B\.pos1, B\.vals; load it"):
        session.run(vector, extents)
    assert session.run(memories, extents).cycles == expected


def test_an_unplugged_cable(line: EmulatedLine, session: BoardSession) -> None:
    memories, extents = inputs("spmv", 1)
    cut = FaultyLine(line, np.random.default_rng(1), 0)
    session.port.client.transport = cut
    expected = session.run(memories, extents).cycles
    cut.send = lambda data: None  # type: ignore[method-assign]
    with pytest.raises(RunError, match="does not answer; look whether the cable is plugged in"):
        session.run(memories, extents)
    del cut.send
    assert session.run(memories, extents).cycles == expected


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (struct.pack("<BBHI", 9, 0, 1, 0), 2),
        (struct.pack("<BBHI", 9, 6, 1, 0), 2),
        (struct.pack("<BBHI", 9, 2, 0, 0), 2),
        (struct.pack("<BBHI", 9, 2, 512, 0), 2),
        (struct.pack("<BBHI", 9, 4, 1, 0), 2),
        (struct.pack("<BBHII", 9, 4, 2, 0, 0), 2),
        (struct.pack("<BBHIH", 9, 4, 1, 0, 0), 2),
        (struct.pack("<BBHII", 9, 2, 1, 0, 0), 2),
        (struct.pack("<BBHII", 9, 1, 0, 0, 0), 2),
        (struct.pack("<BBHI", 9, 1, 1, 0), 2),
        (struct.pack("<BBHII", 9, 4, 1, Register.STATUS, 0), 1),
        (struct.pack("<BBHI", 9, 2, 1, Register.STATUS), 0),
        (struct.pack("<BBH I 511I", 9, 5, 511, Register.CONTROL, *[0] * 511), 0),
    ],
)
def test_requests_by_hand(line: EmulatedLine, session: BoardSession, request_: bytes, status: int) -> None:
    line.send(encode(request_))
    (answer,) = Decoder().feed(line.receive(0.01))
    assert (answer[0], answer[-1]) == (9, status)
    assert len(answer) == (6 if status == 0 and request_[1] == 2 else 2)


@pytest.mark.parametrize("high", [0, 31])
def test_addresses_outside_the_range_are_refused(
    line: EmulatedLine, session: BoardSession, high: int
) -> None:
    """The port has too few bits for them. Instead of them it would see those of registers."""
    (address, *_) = session.map.extents.values()
    outside = 1 << (high or session.map.address_bits)
    before = session.port.read(address, 1)[0]

    def ask(request: bytes) -> bytes:
        line.send(encode(request))
        (answer,) = Decoder().feed(line.receive(0.01))
        return answer

    assert ask(struct.pack("<BBHII", 50, 4, 1, outside + address, before + 1)) == bytes([50, 1])
    assert ask(struct.pack("<BBHI", 51, 2, 1, outside + Register.IDENTITY)) == bytes([51, 0, 0, 0, 0, 1])
    assert ask(struct.pack("<BBHI", 52, 3, 2, outside + Register.IDENTITY)) == bytes([52, *bytes(8), 1])
    assert ask(struct.pack("<BBHI", 53, 2, 2, outside - 4)) == bytes([53, *bytes(8), 1])
    session.port.client._number = 53
    assert session.port.read(address, 1)[0] == before
    assert session.port.read(Register.IDENTITY, 1)[0] == session.map.identity


def test_a_write_that_comes_again_is_not_done_again(line: EmulatedLine, session: BoardSession) -> None:
    (address, *_) = session.map.extents.values()

    def write(number: int, extent: int) -> int:
        line.send(encode(struct.pack("<BBHII", number, 4, 1, address, extent)))
        (answer,) = Decoder().feed(line.receive(0.01))
        assert answer[0] == number
        return answer[1]

    assert write(77, 3) == 0
    assert write(77, 4) == 0
    session.port.client._number = 77
    assert session.port.read(address, 1)[0] == 3
    assert write(77, 4) == 0
    assert session.port.read(address, 1)[0] == 4
    # What was refused stays refused.
    assert write(90, 10**6) == 1
    assert write(90, 4) == 1
    session.port.client._number = 90
    assert session.port.read(address, 1)[0] == 4


@pytest.mark.parametrize("content", [b"", b"\x09\x02\x01\x00\0\0\0", bytes(8 + 4 * 512), bytes(3000)])
def test_frames_that_nobody_answers(line: EmulatedLine, session: BoardSession, content: bytes) -> None:
    line.send(encode(content))
    assert line.receive(0.02) == b""
    assert session.port.read(Register.IDENTITY, 1)[0] == session.map.identity


def test_nothing_but_hello_before_it(line: EmulatedLine) -> None:
    line.configure()
    client = Client(line)
    with pytest.raises(RunError, match="was reset"):
        client.read(Register.IDENTITY, 1)
    client.hello()
    assert client.read(Register.IDENTITY, 2).size == 2


class _Kept(FaultyLine):
    """A good line that stays open."""

    def __init__(self, line: EmulatedLine):
        super().__init__(line, np.random.default_rng(0), 0)

    def close(self) -> None:
        pass
