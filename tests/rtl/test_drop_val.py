"""drop_val, against cycles worked out by hand from docs/primitives.md. What is pushed in t is popped in t +
1."""

import pytest

from samhw.graph.numerics import value_type
from samhw.primitives.drop_val.component import DropVal
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, run
from tests.support.streams import timed


def drop(crd, val, *, value="i16", **options):
    return run(DropVal(arch=ARCH, value_type=value_type(value)), {"crd": crd, "val": val}, **options)


@pytest.mark.parametrize(
    ("crd", "val", "crds", "vals"),
    [
        ("1 2 3 S0 4 S1 D", "5 0 7 S0 N S1 D", "1@1 3@3 S0@4 S1@6 D@7", "5@1 7@3 S0@4 S1@6 D@7"),
        ("S1:1 D 1 S1 D", "S1:1 D 32768 S1 D", "S1:1@1 D@2 1@3 S1@4 D@5", "S1:1@1 D@2 32768@3 S1@4 D@5"),
        ("0 S0 D", "0 S0 D", "S0@2 D@3", "S0@2 D@3"),
    ],
)
def test_examples(crd, val, crds, vals):
    result = drop(crd, val)
    assert result.pops["crd"] == timed(crds)
    assert result.pops["val"] == timed(vals)
    assert not result.error


@pytest.mark.parametrize(
    ("value", "zeros", "others"),
    [
        # Both zeros, the greatest subnormal numbers; the least normal ones, infinity, NaN.
        (
            "f32",
            [0, 0x8000_0000, 1, 0x007F_FFFF, 0x807F_FFFF],
            [0x0080_0000, 0x8080_0000, 0x4000_0000, 0x7F80_0000, 0x7FC0_0000],
        ),
        ("f8e4m3", [0, 0x80], [1, 0x87, 0x08, 0x7F]),
        ("bf16", [0, 0x8000, 1, 0x007F, 0x807F], [0x0080, 0x8080, 0x4000, 0x7F80, 0x7FC0]),
        ("fixed<16,8>", [0], [1, 0x0080, 0x007F, 0x8000]),
    ],
)
def test_what_is_zero(value, zeros, others):
    words = [*zeros, *others]
    crds = " ".join(str(n) for n in range(len(words)))
    result = drop(f"{crds} S0 D", f"{' '.join(map(str, words))} S0 D", value=value)
    assert [t.payload for t in result.tokens("val")[:-2]] == others
    assert [t.payload for t in result.tokens("crd")[:-2]] == [*range(len(zeros), len(words))]
    assert not drop("1 S0 D", "N S0 D", value=value).tokens("val")[:-2]


def test_zeros_need_no_slot():
    result = drop("1 2 3 S0 D", "5 0 7 S0 D", pops={"val": [8]}, depths={"val": 1})
    assert result.takes["crd"] == [0, 1, 9, 11, 13]
    assert result.pops["crd"] == timed("1@1 3@10 S0@12 D@14")


@pytest.mark.parametrize(
    ("crd", "val"),
    [("1 S0 D", "S0 D"), ("S0 D", "1 S0 D"), ("S0 D", "S1 D"), ("D", "S0 D"), ("N S0 D", "1 S0 D")],
)
def test_structures_that_disagree(crd, val):
    assert drop(crd, val, cycles=20).error == Error.PROTOCOL
