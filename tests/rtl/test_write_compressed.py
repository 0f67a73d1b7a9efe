"""write_compressed: what it stores, and when it commits."""

from samhw.primitives.write_compressed.component import WriteCompressed
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, Offer, run
from tests.support.streams import tokens

EMPTY_POS = [98, 99, 99, 99, 99]


def write(crd, *, pos_capacity=5, crd_capacity=4, stall_port=False, **options):
    component = WriteCompressed(
        arch=ARCH, pos_capacity=pos_capacity, crd_capacity=crd_capacity, stall_port=stall_port
    )
    return run(component, {"crd": crd}, memories={"mem_pos": EMPTY_POS}, **options)


def test_fibers():
    # [[7, 9], [], [70000]]
    result = write("7 9 S0 S0 70000 S1 D")
    assert result.memories["mem_pos"][:5] == [0, 2, 2, 3, 99]
    assert result.memories["mem_crd"] == [7, 9, 70000, 0]
    assert result.committed == [6]
    assert not result.error


def test_list_without_fibers():
    assert write("S1:1 D").memories["mem_pos"][:5] == [0, *EMPTY_POS[1:]]
    # [[], [[4]]]: the list without fibers writes nothing.
    result = write("S1:1 4 S2 D")
    assert result.memories["mem_pos"][:3] == [0, 1, 99]
    assert not result.error


def test_runs_again():
    result = write("1 2 3 S0 4 S0 S1 D 5 S1 D")
    assert result.memories["mem_pos"][:5] == [0, 1, 4, 4, 99]
    assert result.memories["mem_crd"] == [5, 2, 3, 4]
    assert result.committed == [7, 10]


def test_waits_and_stalls():
    result = write(Offer(tokens("1 S0 D"), [0, 5]), stall_port=True, pulses={"stall": [0, 1, 6, 8]})
    assert result.takes["crd"] == [2, 5, 7]
    assert result.committed == [7]
    assert result.fired == [2, 5, 7]


def test_capacity():
    assert write("1 2 3 4 S0 D").error == Error(0)
    result = write("1 2 3 4 5 S0 D")
    assert result.errors == [(4, Error.CAPACITY)]
    assert result.memories["mem_crd"] == [1, 2, 3, 4]
    assert write("S0 S0 S0 S1 D").error == Error(0)
    result = write("S0 S0 S0 S0 S1 D")
    assert result.errors == [(4, Error.CAPACITY)]
    assert result.memories["mem_pos"][:5] == [0, 0, 0, 0, 0]


def test_smallest_memories():
    result = write("1 S0 D", pos_capacity=2, crd_capacity=1)
    assert not result.error
    assert (result.memories["mem_pos"][1], result.memories["mem_crd"][0]) == (1, 1)
    assert write("S0 D", pos_capacity=1, crd_capacity=1).error == Error.CAPACITY


def test_no_coordinate():
    assert write("N S0 D", cycles=10).error == Error.PROTOCOL
