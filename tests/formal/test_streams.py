"""What primitives give has the grammar of streams, if what they take has it, whatever comes when."""

from collections.abc import Mapping

import pytest

from tests.formal.cases import CASES
from tests.formal.mutants import Mutant
from tests.formal.prover import Mode, Outcome, check, check_all, needs_prover
from tests.support.thorough import THOROUGH

pytestmark = needs_prover

INDUCTIVE = [name for name, case in CASES.items() if case.invariant is not None]
BOUNDED = [name for name in CASES if name not in INDUCTIVE]


def _by_bound(deep: bool) -> list[tuple[int, list[str]]]:
    """What is checked at once: of one bound all, unless they take long."""
    bounds = {name: CASES[name].deep if deep else CASES[name].quick for name in BOUNDED}
    if deep:
        return [(bound, [name]) for name, bound in bounds.items()]
    return [(bound, [n for n, b in bounds.items() if b == bound]) for bound in sorted(set(bounds.values()))]


def _written(part: int | list[str]) -> str:
    return ", ".join(part) if isinstance(part, list) else str(part)


def _told(broken: Mapping[str, Outcome]) -> str:
    return "\n".join(f"{name}: {outcome}" for name, outcome in broken.items())


@pytest.mark.parametrize("names", [INDUCTIVE[n::3] for n in range(3)], ids=", ".join)
def test_by_induction(names: list[str]) -> None:
    broken = check_all({name: CASES[name].contract() for name in names}, Mode.INDUCTION, 2)
    assert not broken, _told(broken)


@pytest.mark.parametrize(("bound", "names"), _by_bound(THOROUGH), ids=_written)
def test_to_a_bound(bound: int, names: list[str]) -> None:
    broken = check_all({name: CASES[name].contract() for name in names}, Mode.BOUNDED, bound)
    assert not broken, _told(broken)


@pytest.mark.skipif(not THOROUGH, reason="what is shut out changes with the assumptions alone")
@pytest.mark.parametrize("name", CASES)
def test_whole_streams_pass(name: str) -> None:
    """Within the bound, so that the assumptions shut out no stream by mistake."""
    assert check(CASES[name].contract(), Mode.REACHED, CASES[name].quick).answer == "holds"


_LATE = '__import__("samhw.rtl.units.unit", fromlist=["delayed"]).delayed(m, disordered, 4)'

MUTANTS = {
    "repeat": [
        Mutant(
            "a stop is dropped",
            "hold",
            "with m.If(held), table.row(takes=[self.inner], pushes={self.o: inner_token}):",
            "with m.If(held), table.row(takes=[self.inner]):",
        ),
        Mutant("a push without a slot", "firing", "port.ready | ~condition", "port.ready | condition"),
        Mutant("a head that is not there", "firing", "head.valid | ~condition", "head.valid | condition"),
    ],
    "array": [
        Mutant(
            "EMPTY stays EMPTY",
            "array",
            "Mux(token.kind == TokenKind.EMPTY, TokenKind.VAL, token.kind)",
            "token.kind",
        )
    ],
    "intersect": [
        Mutant(
            "a token is doubled",
            "intersect",
            "takes=[*self._crds, *self._refs],",
            "takes=[*self._crds[1:], *self._refs[1:]],",
        )
    ],
    "union": [
        Mutant("the greatest for the least", "union", "crds.less[j][i]", "crds.less[i][j]"),
        Mutant("a payload without its coordinate", "union", "missing = any_val &", "missing = any_val & 0 &"),
    ],
    "drop_val": [
        Mutant(
            "a coordinate without its value",
            "drop_val",
            "pushes={crd.i: token, val.i: token})\n            with",
            "pushes={crd.i: token})\n            with",
        )
    ],
    "drop_crd": [
        Mutant("a stop stays", "drop_crd", "with m.If(pending), table", "with m.If(pending & 0), table")
    ],
    "reduce_scalar": [
        Mutant(
            "a level too deep", "sum_actor", "stop_token(lo - (lo != 0), hi - 1)", "stop_token(lo, hi - 1)"
        )
    ],
    "scan_singleton": [
        Mutant("a level too shallow", "walk", "stop_hi(head) + 1", "stop_hi(head)"),
        Mutant("two fibers are one", "walk", "[open.eq(self.last), self.first", "[open.eq(0), self.first"),
    ],
    "scan_compressed": [
        Mutant("a late error", "stored_walk", "backwards | disordered", f"backwards | {_LATE}")
    ],
    "scan_ell": [
        Mutant("two fibers are one", "walk", "[open.eq(self.last), self.first", "[open.eq(0), self.first")
    ],
    "scan_ragged": [
        Mutant("a coordinate twice", "scan_ragged", "next_number.eq(c + 1)", "next_number.eq(c)")
    ],
    "scan_dia": [
        Mutant("a reference without its coordinate", "scan_dia", "ref.i: is_kept}", "ref.i: 1}"),
    ],
    "pick": [
        Mutant(
            "a stop is doubled",
            "pick",
            "takes=both, pushes={ref.i: end}",
            "needs=both, pushes={ref.i: end}",
        )
    ],
    "shift": [Mutant("a stop without its levels", "shift", ", head.payload[:8])", ")")],
    "scatter": [
        Mutant("a stop for one lane alone", "scatter", "~distributed | (turn == lane)", "turn == lane")
    ],
    "gather of payloads": [
        Mutant("lanes that do not agree", "gather", "(stop_lo(i.payload) <= levels) &", "1 |")
    ],
    "gather of rows": [
        Mutant("the end of all for that of a row", "gather", "stop_lo(head), levels - 1", "0, levels + 1"),
    ],
    "alu": [
        Mutant(
            "EMPTY for a value",
            "alu",
            "make_token(TokenKind.VAL)",
            "make_token(TokenKind.EMPTY)",
        )
    ],
    "matmul": [Mutant("a stop without its levels", "matmul", "(a.kind, a.payload[:8])", "(a.kind)")],
    "fold": [Mutant("a stop without its levels", "fold", "(head.kind, head.payload[:8])", "(head.kind)")],
    "running": [
        Mutant(
            "a stop without its levels",
            "running",
            "pushes={val.i: make_token(head.kind, head.payload[:8])}",
            "pushes={val.i: make_token(head.kind)}",
        )
    ],
    "last": [Mutant("a level too deep", "last", "stop_token(lo - (lo != 0), hi", "stop_token(lo, hi")],
    "arg": [Mutant("a level too deep", "arg", "stop_token(lo - (lo != 0), hi", "stop_token(lo, hi")],
    "top_k": [Mutant("a stop is doubled", "top_k", "takes=three, pushes", "needs=three, pushes")],
    "reduce_vector": [
        Mutant("a coordinate twice", "bitmap_walker", "Mux(last, 0, ~others)", "Mux(last, 0, gone)"),
        Mutant(
            "a level too deep",
            "row_emitter",
            "stop_token(Mux(emitted, 0, n - 1 - s), hi - 1 - s)",
            "stop_token(Mux(emitted, 0, n - 1 - s), hi - s)",
        ),
    ],
}


@pytest.mark.parametrize(
    ("name", "mutant"),
    [pytest.param(name, mutant, id=f"{name}-{mutant.name}") for name in MUTANTS for mutant in MUTANTS[name]],
)
def test_mutants_break_it(name: str, mutant: Mutant) -> None:
    with mutant.applied():
        outcome = check(CASES[name].contract(), Mode.BOUNDED, CASES[name].quick)
    assert outcome.answer == "broken", outcome
    assert outcome.trace
