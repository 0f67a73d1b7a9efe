"""A board with tensors in its SDRAM, under Verilator with a model of the chip at the pins."""

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from samhw.app.checking import check
from samhw.app.workload import bind_program
from samhw.errors import InputError, RunError
from samhw.graph import AddressMap, ConstantMemory, RecordedMemory, SdramMemory
from samhw.graph.off_chip_numbers import SdramChip
from samhw.targets.backends import find_backend, run
from samhw.targets.boards.board import find_board
from samhw.targets.building.boards import BoardDesign
from samhw.targets.building.cpp_compiler import find_cpp_compiler
from samhw.targets.building.elaborate import NAME, write_address_map
from samhw.targets.building.project import write_driver
from samhw.targets.running.boards import BoardSession, EmulatedLine
from samhw.targets.running.images import inputs_of, packed

from .emulated import FaultyLine, small

pytest.importorskip("litedram")
pytestmark = [pytest.mark.verilator, pytest.mark.slow]

BAUD = 12_000_000
"""As fast as it goes: the line's time is most of a test's."""


def on_board(program: str = "spmv") -> BoardDesign:
    compiled = small(program)[1]
    return BoardDesign(
        find_board("ulx3s"), compiled.design, compiled.arch, wanted_baud=BAUD, memory=SdramMemory()
    )


def open_session(line: EmulatedLine | FaultyLine) -> BoardSession:
    built = on_board()
    return BoardSession(built.design, built.arch, built.build, line, built.layout)


@pytest.fixture(scope="module")
def line() -> Iterator[EmulatedLine]:
    found = EmulatedLine(on_board())
    yield found
    found.close()


def test_a_run_takes_the_simulators_cycles(tmp_path: Path) -> None:
    workload, compiled = small("spmv")
    log, memory = tmp_path / "log", SdramMemory()
    backend = find_backend("board:ulx3s")
    found = run(compiled, workload.tensors, backend, emulate=True, baud=BAUD, memory=memory, memory_log=log)
    model = run(compiled, workload.tensors, memory=RecordedMemory(str(log), memory.ports))
    assert [region.cycles for region in found.regions] == [region.cycles for region in model.regions]
    assert check(workload, compiled, found.outputs).good
    assert np.array_equal(found.outputs["x"].to_dense(), model.outputs["x"].to_dense())
    assert found.cycles > run(compiled, workload.tensors).cycles


def test_the_host_is_as_fast_as_the_line(line: EmulatedLine) -> None:
    """Both ways, but for a fifth."""
    session = open_session(line)
    words = np.random.default_rng(1).integers(0, 1 << 32, 1000)
    base = session.map.sdram
    assert base is not None
    session.port.load(base, words[:1])  # The chip is awake.
    wire = 10 * 4 * len(words) / BAUD * on_board().clock
    before = line.cycles
    session.port.load(base, words)
    between = line.cycles
    assert session.port.read(base, len(words)).tolist() == words.tolist()
    assert between - before < 1.2 * wire
    assert line.cycles - between < 1.2 * wire
    # The last words that there are, and the first that there are not.
    end = base + SdramChip().size
    session.port.load(end - 4, [77])
    assert session.port.read(end - 4, 1).tolist() == [77]
    assert session.repeats == 0
    with pytest.raises(RunError, match="refuses"):
        session.port.load(base + 2, [1])


def test_faults_on_the_line(line: EmulatedLine) -> None:
    """A run whose line loses bytes, or whose board is reset, is right or says what went wrong, and the next
    one is right."""
    rng = np.random.default_rng(5)
    compiled = small("spmv")[1]
    faulty = FaultyLine(line, rng, 0.2)
    session = open_session(faulty)
    right, errors = 0, []
    for seed in range(3):
        tensors = bind_program("spmv", [f"random:size=8,density=0.3,seed={seed}"]).tensors
        memories, extents = inputs_of(compiled, tensors)
        expected = run(compiled, tensors)
        if seed == 2:
            # When everything is loaded.
            session.load(memories, extents)
            line.configure()
        try:
            if seed == 2:
                session.start()
            found = session.run(memories, extents)
            right += 1
        except RunError as error:
            errors.append(str(error))
            faulty.rate, rate = 0.0, faulty.rate
            found = session.run(memories, extents)
            faulty.rate = rate
        dense = expected.outputs["x"].to_dense().astype(np.int64)
        assert (found.memories["x.vals"].astype(np.int32) == dense).all()
    assert session.repeats > 1
    assert right
    assert sum("was reset in the middle" in error for error in errors) == 1


DRIVEN = """
#include <stdint.h>
#include <stdio.h>
static uint32_t chip[1 << 12];
#define SAMHW_TOP_READ(base, address) chip[((base) + (address) - SAMHW_TOP_MEM_B_pos1) / 4]
#define SAMHW_TOP_WRITE(base, address, word) (SAMHW_TOP_READ(base, address) = (word))
#include "driver.h"
int main(void)
{
    uint32_t words[7] = {1, 2, 3, 254, 255, 6, 7}, got[5];
    int k;
    if (samhw_top_write_B_crd1(0, words, 7) || samhw_top_write_c_vals(0, words, 3)) return 1;
    if (samhw_top_write_c_vals(0, words, 1000) != SAMHW_TOP_TOO_LARGE) return 2;
    SAMHW_TOP_WRITE(0, SAMHW_TOP_MEM_x_vals + 4, 0xfffefdfc);
    if (samhw_top_read_x_vals(0, got, 2) || got[1] != 0xfffefdfc) return 3;
    for (k = 0; k < 1 << 12; k++) printf("%u\\n", chip[k]);
    return 0;
}
"""


def test_the_driver_packs_as_a_session_does(tmp_path: Path) -> None:
    built = on_board()
    assert built.layout is not None
    addresses = AddressMap(built.design, built.arch, layout=built.layout)
    assert addresses.packed["B.pos1"].base == 0
    assert addresses.packed["B.crd1"].word_bytes == 1
    write_driver(addresses, tmp_path, NAME)
    write_address_map(built.design, built.arch, tmp_path, layout=built.layout)
    (tmp_path / "main.c").write_text(DRIVEN)
    program = tmp_path / "driven"
    strict = ["-x", "c", "-std=c99", "-Wall", "-Wextra", "-Werror"]
    done = find_cpp_compiler().run(*strict, f"-I{tmp_path}", tmp_path / "main.c", "-o", program)
    assert done.returncode == 0, done.stderr
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    stored = np.array(said, np.uint32).tobytes()
    for name, words in {"B.crd1": [1, 2, 3, 254, 255, 6, 7], "c.vals": [1, 2, 3]}.items():
        placed = addresses.packed[name]
        expected = packed(placed, words)
        assert stored[placed.base : placed.base + len(expected)] == expected


def test_what_is_refused() -> None:
    workload, compiled = small("spmv")
    ulx3s = find_backend("board:ulx3s")
    with pytest.raises(InputError, match="no memory 'constant:3'; give memory='sdram'"):
        run(compiled, workload.tensors, ulx3s, emulate=True, memory=ConstantMemory(3))
    with pytest.raises(InputError, match=r"ecpix5 has no SDRAM .* reads of its DDR3; .* board:ulx3s"):
        run(compiled, workload.tensors, find_backend("board:ecpix5"), emulate=True, memory=SdramMemory())
    with pytest.raises(InputError, match=r"keeps no log .* host\.py"):
        run(compiled, workload.tensors, ulx3s, port="/dev/x", memory=SdramMemory(), memory_log=Path("log"))
    with pytest.raises(InputError, match="Only hardware knows when an SDRAM answers"):
        run(compiled, workload.tensors, memory=SdramMemory())
    with pytest.raises(InputError, match=r"give samhw build --clock from 13\.3 to 50 ns"):
        replace(SdramChip(), cycle_ps=10_000)
    fast = BoardDesign(find_board("ulx3s"), compiled.design, compiled.arch, 80e6, memory=SdramMemory())
    with pytest.raises(InputError, match=r"give samhw build --clock from 13\.3 to 50 ns"):
        _ = fast.layout
