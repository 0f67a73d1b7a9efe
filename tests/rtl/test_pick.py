"""pick, with cycles worked out by hand from the rule. What is pushed in t is popped in t + 6."""

import pytest

from samhw.graph import Arch
from samhw.primitives.pick.component import Pick
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, run
from tests.support.streams import timed


def pick(at, ref, *, extent=10, crd=(4, 0, 9), arch=ARCH, **options):
    return run(
        Pick(arch=arch, crd_capacity=len(crd)),
        {"at": at, "ref": ref},
        controls={"extent": extent},
        memories={"mem_crd": list(crd)},
        **options,
    )


@pytest.mark.parametrize(
    ("at", "ref", "expected"),
    [
        ("2 0 S0 1 S1 D", "1 3 S0 0 S1 D", "19@6 34@7 S0@8 0@9 S1@10 D@11"),
        ("N 1 N S0 D", "1 N N S0 D", "N@6 N@7 N@8 S0@9 D@10"),
        ("2 2 D 0 D", "0 7 D 1 D", "9@6 79@7 D@8 14@9 D@10"),
    ],
)
def test_examples(at, ref, expected):
    result = pick(at, ref)
    assert result.pops["ref"] == timed(expected)
    assert not result.error


def test_one_slot():
    assert pick("2 0 S0 D", "1 3 S0 D", depth=1).pops["ref"] == timed("19@6 34@13 S0@20 D@27")


def test_longer_latency_and_narrower_references():
    arch = Arch(memory=3, locate=5, index_bits=16)
    assert pick("0 D", "7000 D", extent=10, arch=arch).pops["ref"] == timed("4468@8 D@9")


@pytest.mark.parametrize(
    ("at", "ref", "error"),
    [
        ("0 S0 D", "N S0 D", Error.RANGE),
        ("3 S0 D", "0 S0 D", Error.RANGE),
        ("1 S0 D", "0 0 D", Error.PROTOCOL),
        ("1 S0 D", "0 S1 D", Error.PROTOCOL),
    ],
)
def test_errors(at, ref, error):
    assert error in pick(at, ref, extent=4, cycles=40).error
