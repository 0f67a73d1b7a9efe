"""What the search has lowered is not lowered again, and changes nothing."""

from typing import Any

import pytest

from samhw.compiler import Compiled, LoweredRegion, design, lower_program, lower_region
from samhw.decision import Refusal
from samhw.frontend import parse
from samhw.graph import Arch
from samhw.schedule import Schedule
from samhw.search import decide, lower_chosen, make_lowerable

LAYERS = """
tensor A[i=5, k=5] : csr
tensor X[k, f=4] : dense
tensor W[f, h=3] : dense
fuse {
  T[i, f] = A[i, k] * X[k, f]
  Y[i, h] = T[i, f] * W[f, h]
}
Z[i, h] = A[i, k] * Y[k, h]
"""
TURNED = "tensor A[i=5, j=5] : csr\ntensor T[i, j] : csr\nT[i, j] = A[i, j] + A[j, i]\n"
STORED = (
    "tensor a[i=5]\nfuse {\n  b[i] = a[i] + 1\n  c[i] = b[i] * 2\n  d[i] = c[i] + 3\n  e[i] = d[i] * 4\n}\n"
)
"""In four regions, of which the search has seen two before the third."""


CASES = {
    "as written": (LAYERS, "auto", True),
    "in many parts": (STORED, dict.fromkeys("bcd", "store"), True),
    "with a copy": (TURNED, "auto", False),
}
"""A program, what its uses share, and whether what is known serves: copies may rename dimensions."""


@pytest.mark.parametrize("case", CASES)
def test_a_region_is_lowered_once(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, share, serves = CASES[case]
    schedule, arch = Schedule(permute=True, share=share), Arch()
    lowerable, choice, value = decide(make_lowerable(parse(text), schedule), schedule, None, arch)
    afresh = lower_program(lowerable, choice.decision, value, arch, schedule)
    calls = 0

    def counted(*given: Any) -> LoweredRegion | Refusal:
        nonlocal calls
        calls += 1
        return lower_region(*given)

    monkeypatch.setattr(design, "lower_region", counted)
    found = lower_chosen(lowerable, choice, value, arch, schedule)
    assert isinstance(afresh, Compiled)
    assert (calls == 0) is serves
    for ours, theirs in zip(found.regions, afresh.regions, strict=True):
        assert (ours.graph, ours.computations, ours.note) == (theirs.graph, theirs.computations, theirs.note)
