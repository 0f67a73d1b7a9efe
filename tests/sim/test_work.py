"""Operations, traffic and bottlenecks of runs small enough to count by hand."""

import numpy as np
import pytest

from samhw.graph import Arch
from samhw.sim import Result, bottleneck, operations, simulate, traffic
from tests.support.graphs import WIDE, Builder, Program, gustavson, matrix_sum


def run(program: Program, **options: object) -> Result:
    return simulate(program.graph, Arch(), program.memories, program.extents, **options)


def product() -> Program:
    """Rows 0 and 2 of B have 2 and 1 nonzeros; the rows of C that they meet have 2, 1 and 2."""
    b = np.array([[1, 0, 2], [0, 0, 0], [0, 0, 3]])
    c = np.array([[1, 1, 0], [5, 5, 5], [0, 0, 4]])
    return gustavson(b, c)


def test_operations() -> None:
    program = product()
    # 2 + 1 products in row 0, 1 in row 2; each is added once.
    assert operations(program.graph, run(program)) == {"mul": 4, "sum": 4}


def test_traffic() -> None:
    program = product()
    words = {name: t.words for name, t in traffic(program.graph, Arch(index_bits=16), run(program)).items()}
    b = {"B0p": 2, "B0c": 2, "B1p": 4, "B1c": 3, "Bv": 4}
    # C's rows are enumerated for both rows of B; of three rows, three meet a nonzero of B.
    c = {"C0p": 4, "C0c": 6, "C1p": 6, "C1c": 4, "Cv": 4}
    x = {"X0p": 2, "X0c": 2, "X1p": 3, "X1c": 4, "Xv": 4}
    assert words == b | c | x
    sizes = traffic(program.graph, Arch(index_bits=16), run(program))
    assert (sizes["B1c"].bytes, sizes["Bv"].bytes) == (3 * 2, 4 * 4)


def test_nothing_is_read_for_a_value_that_is_missing() -> None:
    """B has one nonzero, C two others: the union gives three points, two of them without B."""
    program = matrix_sum(np.array([[5, 0, 0]]), np.array([[0, 6, 7]]))
    sizes = traffic(program.graph, Arch(), run(program))
    assert (sizes["Bv"].words, sizes["Cv"].words, sizes["Xv"].words) == (1, 2, 3)


def scanned(length: int) -> Program:
    g = Builder()
    g.add("root", "root", 0)
    g.add("scan_compressed", "scan", 0, "root.out", pos="p", crd="c", extent="x")
    g.add("write_compressed", "w", 1, "scan.crd", pos="wp", crd="wc")
    return Program(g.graph(), {"p": np.array([0, length]), "c": np.arange(length)}, WIDE, {})


def test_a_busy_node_is_the_bottleneck() -> None:
    program = scanned(60)
    found = bottleneck(program.graph, run(program))
    assert (found.node, found.reason, found.waits) == ("w", "firing", ())
    assert str(found) == "w limits the run: it is busy in 62 of 67 cycles (92.5%)."


def test_stalls_are_a_bottleneck_of_who_waits() -> None:
    program = scanned(60)
    found = bottleneck(program.graph, run(program, stalls={"w": [False, True, True, True]}))
    assert (found.node, found.reason) == ("w", "stalls")


def test_spacing_is_a_bottleneck_where_one_place_is_updated_again_and_again() -> None:
    arch = Arch(reduce={**Arch().reduce, "integer": {"sum": 8}})
    program = gustavson(np.ones((1, 40), np.int64), np.ones((40, 1), np.int64))
    result = simulate(program.graph, arch, program.memories, program.extents)
    found = bottleneck(program.graph, result)
    assert (found.node, found.reason) == ("sum", "spacing")
    assert "sum limits the run: updates of one place keep their distance for" in str(found)


def test_latency_is_a_bottleneck_where_nothing_is_busy() -> None:
    program = scanned(1)
    found = bottleneck(program.graph, run(program))
    assert (found.node, found.reason) == ("scan", "latency")
    assert found.waits == ("scan.crd->w.crd", "scan/start")
    assert "and the end waits for the path from scan, which rests for 5 of 8 cycles" in str(found)


def test_a_narrow_channel_is_a_circle() -> None:
    program = scanned(60)
    graph = program.graph.with_depths({"scan.crd->w.crd": 1})
    found = bottleneck(graph, run(Program(graph, program.memories, WIDE, {})))
    assert (found.reason, found.waits) == ("circle", ("scan.crd->w.crd",))
    assert found.channel == "scan.crd->w.crd"
    assert str(found).startswith(
        "The channel scan.crd->w.crd limits the run: scan waits for its one slot in "
    )


@pytest.mark.parametrize("name", ["operations", "traffic"])
def test_empty_data_has_no_work(name: str) -> None:
    program = gustavson(np.zeros((2, 2), np.int64), np.zeros((2, 2), np.int64))
    result = run(program)
    if name == "operations":
        assert operations(program.graph, result) == {"mul": 0, "sum": 0}
    else:
        assert traffic(program.graph, Arch(), result)["Bv"].words == 0
