"""Random programs whose tensors have random types, held against an oracle of its own; some as RTL and HLS.

SAMHW_THOROUGH=1 takes a thousand of them, 60 as RTL and 30 as HLS.
"""

import pytest

from samhw.errors import InputError
from tests.seams.case import Case
from tests.seams.draw import draw
from tests.seams.run import FAULTS, run_case
from tests.seams.types import narrowest, with_types

IN_A_TEST = 20


def drawn(seed: int) -> Case | None:
    """A case with types; None where its text is refused, as with an extent of zero."""
    try:
        return with_types(draw(seed), seed)
    except InputError:
        return None


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("first", range(0, 1000, IN_A_TEST))
def test_types_mix_as_the_oracle_says(first: int) -> None:
    faults, right = [], 0
    for seed in range(first, first + IN_A_TEST):
        case = drawn(seed)
        if case is None:
            continue
        outcome = run_case(case)
        right += outcome.kind == "right"
        if outcome.kind in FAULTS:
            faults.append(f"seed {seed}: {outcome.kind}: {outcome.message} {outcome.place}")
    assert not faults, "\n".join(faults)
    assert right


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("seed", range(130))
def test_rtl_of_mixed_types(seed: int) -> None:
    _built(seed, "verilator")


@pytest.mark.slow
@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("seed", range(70))
def test_hls_of_mixed_types(seed: int) -> None:
    _built(seed, "hls")


def _built(seed: int, backend: str) -> None:
    case = drawn(seed)
    if case is not None:
        outcome = run_case(case, backend)
        assert outcome.kind not in FAULTS, f"{outcome.message} {outcome.place}"


def test_the_narrowest_type_by_its_witnesses() -> None:
    assert narrowest(["i8", "i16"]) == "i16"
    assert narrowest(["i8", "f8e5m2"]) == "bf16"
    assert narrowest(["i16", "bf16"]) == "f32"
    assert narrowest(["i8", "u8"]) == "i16"
    assert narrowest(["u8", "f8e5m2", "f16"]) == "f16"
    assert narrowest(["fixed<16,4>", "f32"]) == "f32"
    assert narrowest(["fixed<32,8>", "bf16"]) is None
