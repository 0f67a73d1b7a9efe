"""scan_compressed, against cycles worked out by hand from docs/primitives.md.

A ref taken in t is at the walk in t + 2 (`Arch.memory`); what the walk pushes in t is popped in t + 1 on ref
and in t + 2 on crd.
"""

import pytest

from samhw.graph import Arch
from samhw.primitives.scan_compressed.component import ScanCompressed
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, Offer, run
from tests.support.streams import timed, tokens

CRD = [15, 17, 19, 21, 23, 25, 27, 29]


def scan(pos, ref, *, crd=CRD, extent=30, arch=ARCH, **options):
    component = ScanCompressed(arch=arch, pos_capacity=16, crd_capacity=8)
    memories = {"mem_pos": pos, "mem_pos_next": pos, "mem_crd": crd}
    return run(component, {"ref": ref}, memories=memories, controls={"extent": extent}, **options)


@pytest.mark.parametrize(
    ("pos", "ref", "refs", "crds"),
    [
        # [[15, 17], [], [19], [21, 23, 25, 27]]: an empty fiber in the middle leaves with the stop before it.
        (
            [0, 2, 2, 3, 7],
            "0 1 2 3 S0 D",
            "0@3 1@4 S0@5 S0@6 2@7 S0@8 3@9 4@10 5@11 6@12 S1@13 D@14",
            "15@4 17@5 S0@6 S0@7 19@8 S0@9 21@10 23@11 25@12 27@13 S1@14 D@15",
        ),
        # The grammar's examples of depth 2.
        ([0, 2, 3], "0 1 S0 D", "0@3 1@4 S0@5 2@6 S1@7 D@8", "15@4 17@5 S0@6 19@7 S1@8 D@9"),
        ([0, 1, 1], "0 1 S0 D", "0@3 S0@4 S1@5 D@6", "15@4 S0@5 S1@6 D@7"),
        ([0, 0, 1], "0 1 S0 D", "S0@4 0@5 S1@6 D@7", "S0@5 15@6 S1@7 D@8"),
        ([0, 0], "0 S0 D", "S1@4 D@5", "S1@5 D@6"),
        ([0, 0], "S0 D", "S1:1@3 D@4", "S1:1@4 D@5"),
        # Fibers in any order, and a side of a union that has none.
        ([0, 2, 3], "1 N 0 S0 D", "2@3 S0@4 S0@5 0@6 1@7 S1@8 D@9", "19@4 S0@5 S0@6 15@7 17@8 S1@9 D@10"),
        # Depth 0 above; twice.
        ([0, 1], "0 D 0 D", "0@3 S0@4 D@5 0@6 S0@7 D@8", "15@4 S0@5 D@6 15@7 S0@8 D@9"),
        ([0, 0], "0 D", "S0@4 D@5", "S0@5 D@6"),
        # Depth 2 above: [[f0], [f1]] and [[], [f0]].
        ([0, 1, 2], "0 S0 1 S1 D", "0@3 S1@4 1@5 S2@6 D@7", "15@4 S1@5 17@6 S2@7 D@8"),
        ([0, 1, 2], "S0 0 S1 D", "S1:1@3 0@4 S2@5 D@6", "S1:1@4 15@5 S2@6 D@7"),
    ],
)
def test_examples(pos, ref, refs, crds):
    result = scan(pos, ref)
    assert result.pops["ref"] == timed(refs)
    assert result.pops["crd"] == timed(crds)
    assert not result.error


def test_waits_for_input():
    result = scan([0, 2, 3], Offer(tokens("0 1 S0 D"), [3, 10, 10, 20]))
    # At the walk in 5, 12, 13 and 22; the stop of the first fiber is pushed when the second is there.
    assert result.pops["ref"] == timed("0@6 1@7 S0@13 2@14 S1@15 D@23")


def test_internal_channels_hold_four():
    result = scan([0, 1, 2, 3, 4, 5, 6], "0 1 2 3 4 5 S0 D", pops={"ref": [20]}, depths={"ref": 1})
    # The walk takes fiber 0 in 2, pushes S0 in 21 and fiber 1 in 23: the sixth ref enters in 24.
    assert result.takes["ref"][:6] == [0, 1, 2, 3, 4, 24]
    assert result.pops["ref"][:3] == timed("0@20 S0@22 1@24")
    assert result.pops["crd"][:3] == timed("15@4 S0@23 17@25")


def test_longer_latencies():
    result = scan([0, 1], "0 D", arch=Arch(memory=4, step=2))
    # At the walk in 4: ref pushed in 4, 5 and 6 is popped 2 cycles later, crd 4.
    assert result.pops["ref"] == timed("0@6 S0@7 D@8")
    assert result.pops["crd"] == timed("15@8 S0@9 D@10")


def test_long_fibers():
    pos = [0, 5, 8]
    result = scan(pos, "0 1 S0 D")
    assert result.tokens("ref") == tokens("0 1 2 3 4 S0 5 6 7 S1 D")
    assert [cycle for cycle, _ in result.pops["ref"]] == list(range(3, 14))


@pytest.mark.parametrize(
    ("pos", "ref", "error"),
    [
        ([0, 8], "0 D", Error(0)),
        # What comes instead of a word beyond the memory does not increase either.
        ([0, 9], "0 D", Error.RANGE | Error.PROTOCOL),
        ([0, 0, 9, 9], "2 D", Error(0)),
        ([8, 9], "0 D", Error.RANGE),
        ([0] * 16, "14 D", Error(0)),
        ([0] * 16, "15 D", Error.RANGE),
        ([0] * 16, "4294967295 D", Error.RANGE),
        ([0, 5, 4], "1 D", Error.PROTOCOL),
    ],
)
def test_bad_storage(pos, ref, error):
    assert scan(pos, ref, cycles=20).error == error


@pytest.mark.nightly(but=15)
@pytest.mark.parametrize(
    ("pos", "crd", "error"),
    [
        ([0, 3, 3], [0, 1, 7], Error(0)),
        ([0, 3, 3], [0, 1, 8], Error.RANGE),
        ([0, 3, 3], [9, 9, 10], Error.RANGE | Error.PROTOCOL),
        ([0, 1, 1], [8, 1], Error.RANGE),
        ([0, 0, 1], [(1 << 32) - 1], Error.RANGE),
        # A fiber may begin anywhere.
        ([0, 2, 4], [6, 7, 0, 1], Error(0)),
        ([0, 1, 2], [5, 5], Error(0)),
        ([0, 2, 2], [5, 5], Error.PROTOCOL),
        ([0, 2, 4], [0, 1, 3, 2], Error.PROTOCOL),
        ([0, 0, 3], [4, 6, 5], Error.PROTOCOL),
        # What no fiber holds does not matter.
        ([1, 2, 2], [9, 3, 3, 0], Error(0)),
    ],
)
@pytest.mark.parametrize("latency", [2, 4])
@pytest.mark.parametrize("late", [[], [20, 25, 26]])
def test_coordinates(pos, crd, error, latency, late):
    options = {"arch": Arch(memory=latency), "cycles": 60, "pops": {"ref": late}, "depths": {"ref": 1}}
    assert scan(pos, "0 1 S0 D", crd=crd, extent=8, **options).error == error
