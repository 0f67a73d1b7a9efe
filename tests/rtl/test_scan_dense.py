"""scan_dense, against cycles worked out by hand from docs/primitives.md.

A ref taken in t is at the walk in t + 4 (`Arch.locate`), what the walk pushes in t is popped in t + 1.
"""

import pytest

from samhw.errors import InputError
from samhw.graph import Arch
from samhw.primitives.scan_dense.component import ScanDense
from tests.rtl.bench import ARCH, run
from tests.support.streams import timed

pytestmark = pytest.mark.filterwarnings("ignore:.*created but never used")
"""Components that refuse their parameters."""


@pytest.mark.parametrize(
    ("extent", "ref", "crds", "refs"),
    [
        # The walk pushes 0 1 2 in 4..6, owes the stop, pushes it in 7, then the second fiber in 8..10.
        (
            3,
            "0 1 S0 D",
            "0@5 1@6 2@7 S0@8 0@9 1@10 2@11 S1@12 D@13",
            "0@5 1@6 2@7 S0@8 3@9 4@10 5@11 S1@12 D@13",
        ),
        # Below a ref without a level around it the stop comes with DONE.
        (2, "5 D", "0@5 1@6 S0@7 D@8", "10@5 11@6 S0@7 D@8"),
        (1, "0 7 S0 D", "0@5 S0@6 0@7 S1@8 D@9", "0@5 S0@6 7@7 S1@8 D@9"),
        # Two empty fibers: the first is taken without a push.
        (0, "0 1 S0 D", "S0@6 S1@7 D@8", "S0@6 S1@7 D@8"),
        (2, "N 3 S0 D", "S0@6 0@7 1@8 S1@9 D@10", "S0@6 6@7 7@8 S1@9 D@10"),
        (2, "3 N S0 D", "0@5 1@6 S0@7 S1@8 D@9", "6@5 7@6 S0@7 S1@8 D@9"),
        # A list without fibers, at two depths.
        (2, "S0 D", "S1:1@5 D@6", "S1:1@5 D@6"),
        (2, "S1:1 D", "S2:2@5 D@6", "S2:2@5 D@6"),
        # A stop is passed on by the table's letter even where no stream has it.
        (1, "0 S1:1 D", "0@5 S2:2@6 D@7", "0@5 S2:2@6 D@7"),
        # The state after DONE is that of the start.
        (1, "0 D 4 D", "0@5 S0@6 D@7 0@8 S0@9 D@10", "0@5 S0@6 D@7 4@8 S0@9 D@10"),
    ],
)
def test_examples(extent, ref, crds, refs):
    result = run(ScanDense(arch=ARCH), {"ref": ref}, controls={"extent": extent})
    assert result.pops["crd"] == timed(crds)
    assert result.pops["ref"] == timed(refs)
    assert not result.error


def test_waits_for_the_slower_output():
    # crd's one slot: taken in 4, popped in 10, free in 11; from then on each token takes two cycles.
    result = run(
        ScanDense(arch=ARCH), {"ref": "0 D"}, controls={"extent": 2}, pops={"crd": [10]}, depths={"crd": 1}
    )
    assert result.pops["crd"] == timed("0@10 1@12 S0@14 D@16")
    assert result.pops["ref"] == timed("0@5 1@12 S0@14 D@16")


def test_internal_channel_holds_six():
    result = run(
        ScanDense(arch=ARCH),
        {"ref": "0 1 2 3 4 5 6 7 S0 D"},
        controls={"extent": 1},
        pops={"crd": [19]},
        depth=1,
        depths={"ref": 9},
    )
    # The walk takes fiber 0 in 4, pushes S0 in 20 and takes fiber 1 in 22: the eighth ref enters in 23.
    assert result.takes["ref"][:8] == [0, 1, 2, 3, 4, 5, 6, 23]


def test_short_latency():
    with pytest.raises(InputError, match=r"Arch\.locate is 3"):
        ScanDense(arch=Arch(locate=3))


def test_wide_references():
    result = run(ScanDense(arch=ARCH), {"ref": "70000 D"}, controls={"extent": 50000}, cycles=8)
    assert result.pops["ref"][:2] == timed("3500000000@5 3500000001@6")


def test_narrow_indices():
    result = run(ScanDense(arch=Arch(index_bits=8, locate=3)), {"ref": "100 D"}, controls={"extent": 2})
    assert result.pops["ref"] == timed("200@4 201@5 S0@6 D@7")
