"""The table of areas has the components as they are, by digests of some netlists."""

from benchmarks.components import Case, cases, is_stale, key, lines
from samhw.cost.components import BASE, MEASURED
from samhw.graph.numerics import value_type

KINDS = {"scan_compressed", "repeat", "union", "array", "reduce_scalar", "write_val"}
"""What reads, holds, joins, adds up and writes, each after channels."""


def test_what_was_measured_is_what_there_is() -> None:
    known = lines(MEASURED / f"{BASE}.csv")
    found: dict[str, Case] = {}
    for case in cases([value_type("i32")], (8,)):
        if case.component.kind in KINDS and key(case.component) in known:
            found.setdefault(case.component.kind, case)
        if len(found) == len(KINDS):
            break
    stale = [kind for kind, case in found.items() if is_stale(case, known)]
    assert set(found) == KINDS
    assert not stale, f"python -m benchmarks.components --stale measures {', '.join(stale)} again"
