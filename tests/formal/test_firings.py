"""Actors fire exactly when their rules say, and do what they say: by induction."""

import pytest

from tests.formal.actors import ACTORS, BY_FILE
from tests.formal.mutants import Mutant
from tests.formal.prover import Mode, check, check_all, needs_prover
from tests.support.thorough import sample

pytestmark = needs_prover

SOON = 5
"""Cycles until something wrong is seen."""

CYCLES = {"add of running": 12, "add of recur": 18, "pick": 8}
"""Where that takes more: a block of `recur` has 16 elements."""


@pytest.mark.parametrize("file", BY_FILE)
def test_every_row_of_the_rules(file: str) -> None:
    actors = BY_FILE[file]
    for latency in {actor.latency for actor in actors}:
        contracts = {a.name: a.contract() for a in actors if a.latency == latency}
        # What is noticed after a push comes a cycle later than its token.
        broken = check_all(contracts, Mode.INDUCTION, latency + 1)
        assert not broken, "\n".join(f"{name}: {outcome}" for name, outcome in broken.items())


def test_rows_are_read_from_the_rules() -> None:
    counted = {name: len(actor.rule.rows) for name, actor in ACTORS.items()}
    assert counted["hold of repeat"] == 8
    assert counted["chain of reduce_scalar"] == 8
    assert counted["write_compressed"] == 4
    assert counted["root"] == 2


IDLE = {
    "walk of scan_singleton": {3},
    "gather, payloads": {1, 2, 3},
    "gather, rows": {1},
    "fetch0 of reduce_vector": {0},
    "fetch1 of reduce_vector": {1, 2},
    "iterate0 of reduce_vector": {2},
    "iterate1 of reduce_vector": {1},
}
"""Rows that such an actor does not come to: other actors with the same table do."""

ROWS = [
    (name, row)
    for name, actor in ACTORS.items()
    for row in range(len(actor.rule.rows))
    if row not in IDLE.get(name, ())
]
FEW = [("hold of repeat", 4), ("union", 0), ("chain of recur", 1), ("write_val", 0)]


@pytest.mark.parametrize(("name", "row"), sample(ROWS, FEW))
def test_another_rule_is_not_proved(name: str, row: int) -> None:
    """The rules are what the RTL is held against: each row of them counts."""
    outcome = check(ACTORS[name].contract(without=row), Mode.BOUNDED, CYCLES.get(name, SOON))
    assert outcome.answer == "broken", outcome


MUTANTS = {
    "hold of repeat": [
        Mutant(
            "it waits for a head that it does not examine",
            "hold",
            "with m.If(held):\n                    table.row(takes=[self.inner],",
            "with m.If(held):\n                    table.row(needs=[self.outer], takes=[self.inner],",
        ),
        Mutant(
            "the held payload is forgotten", "hold", "Mux(held, h.payload, outer.payload)", "outer.payload"
        ),
        Mutant("a firing without room", "firing", "port.ready | ~condition", "port.ready | 1"),
    ],
    "mark of reduce_scalar": [
        Mutant(
            "an element is forgotten",
            "block_sum",
            "dict.fromkeys(pushes, have)):\n                    m.d.sync += [x.eq(head.payload), have.eq(1)]",
            "dict.fromkeys(pushes, 0)):\n                    m.d.sync += [x.eq(head.payload), have.eq(1)]",
        )
    ],
    "pair of reduce_scalar": [
        Mutant("no element has a partner", "block_sum", "have.eq(~have)", "have.eq(1)"),
    ],
    "chain of reduce_scalar": [
        Mutant("the first block twice", "block_sum", "step.alone.eq(~others)", "step.alone.eq(looped)"),
    ],
    "emit of reduce_scalar": [
        Mutant("a sum for its end", "reduce_scalar", "m.d.sync += half.eq(1)", "m.d.sync += half.eq(0)")
    ],
    "add of running": [
        Mutant(
            "a block has seven elements",
            "block_actors",
            "with m.If(place.all()):",
            "with m.If(place == 6):",
        ),
    ],
    "chain of running": [
        Mutant(
            "blocks of two fibers are one",
            "block_actors",
            "m.d.sync += looped.eq(0)",
            "m.d.sync += looped.eq(looped)",
        ),
    ],
    "spread1 of running": [
        Mutant(
            "the place is kept across a stop",
            "running_blocks",
            "m.d.sync += place.eq(0)",
            "m.d.sync += place.eq(place)",
        ),
    ],
    "spread3 of recur": [
        Mutant(
            "a factor from the wrong half",
            "recur",
            "step.alone.eq(~place[self.k])",
            "step.alone.eq(place[self.k])",
        ),
    ],
    "root": [
        Mutant(
            "the end of all comes first",
            "root",
            "with m.If(value_due), table",
            "with m.If(value_due & ~done_due), table",
        )
    ],
    "step_ref, up": [Mutant("one place too many", "step_ref", "place < limit", "place <= limit")],
    "write_val": [
        Mutant("a place is written twice", "write_val", "m.d.sync += values.eq(values + 1)", "pass")
    ],
    "write_at": [Mutant("a write beyond the memory", "write_at", "en.eq(~beyond)", "en.eq(1)")],
    "write_compressed": [
        Mutant("fibers that are not there end", "write_compressed", "stop_lo(head) != 0", "stop_lo(head) > 1")
    ],
    "write_dense": [
        Mutant(
            "a fiber may end early",
            "write_dense",
            "range_error.eq(expected != self.extent)",
            "range_error.eq(expected > self.extent)",
        )
    ],
    "hold of locate": [
        Mutant("the row alone makes the place", "locate", "unit.c.eq(head.payload)", "unit.c.eq(0)"),
        Mutant(
            "the extent is a coordinate",
            "locate",
            "head.payload >= self.extent",
            "head.payload > self.extent",
        ),
    ],
    "pick": [
        Mutant("the next reference", "pick", "unit.a.eq(late_base)", "unit.a.eq(base.payload)"),
        Mutant(
            "a coordinate that is not looked at", "pick", "table.fired & reads", "table.fired & reads & finds"
        ),
    ],
    "shift": [Mutant("EMPTY passes", "shift", "with m.If(head.kind != TokenKind.EMPTY):", "with m.If(1):")],
    "array": [
        Mutant(
            "EMPTY has what lies at 0",
            "array",
            "make_token(head.kind, ",
            "make_token(Mux(head.kind == TokenKind.EMPTY, TokenKind.VAL, head.kind), ",
        )
    ],
    "alu": [Mutant("a payload meets a stop", "alu", "all_of(map(is_payload, heads[1:]))", "1")],
    "matmul": [Mutant("a factor twice", "pairwise", "unit.b.eq(right)", "unit.b.eq(left)")],
    "fold": [
        Mutant(
            "an element is a round early",
            "pairwise",
            "made.append((delayed(m, word, registers + rest), ",
            "made.append((word, ",
        )
    ],
    "drop_crd": [
        Mutant("the end before an empty fiber is overwritten", "drop_crd", "pending & is_s0(pend)", "pending")
    ],
    "drop_val, i8": [
        Mutant("the first value stands for its block", "drop_val", "range(self.words)", "range(1)")
    ],
    "drop_val, f8e4m3": [
        Mutant("subnormals are zero", "drop_val", "0 if f.subnormals else f.mantissa", "f.mantissa")
    ],
    "gather, rows": [
        Mutant(
            "a lane that is over has its turn again",
            "gather",
            "over.bit_select(turn, 1).eq(1), turn.eq(behind)",
            "turn.eq(behind)",
        ),
        Mutant("it does not wait for the next lane", "gather", " & known.bit_select(behind, 1)", ""),
    ],
    "arg, min of f8e4m3": [
        Mutant("a number beats NaN", "arg", "number.result.any() & ~order", "~order"),
    ],
    "top_k, min of f8e4m3, places": [
        Mutant(
            "coordinates stay where values move", "top_k", "Mux(from_below, its_at, coordinate)", "coordinate"
        ),
    ],
    "scale of scan_dense": [
        Mutant("all fibers start at 0", "scan_dense", "unit.b.eq(self.extent)", "unit.b.eq(0)")
    ],
    "walk of scan_dense": [
        Mutant("one coordinate too many", "scan_dense", "c == n_minus_2", "c == n_minus_2 + 1")
    ],
    "fetch of scan_compressed": [
        Mutant("a fiber ends where it starts", "fetch", "fiber.payload + 1", "fiber.payload")
    ],
    "walk of scan_compressed": [
        Mutant("two fibers are one", "walk", "[open.eq(self.last), self.first", "[open.eq(0), self.first"),
        Mutant("the extent is a coordinate", "stored_walk", "last >= extent", "last > extent"),
    ],
    "walk of scan_singleton": [
        Mutant("a fiber without an end", "scan_singleton", "walk.last.eq(1)", "walk.last.eq(0)")
    ],
    "fetch of scan_ell": [
        Mutant("a fiber longer than its room", "scan_ell", "count > self.width", "count > self.width + 1")
    ],
    "walk of scan_ragged": [
        Mutant("a coordinate twice", "scan_ragged", "next_number.eq(c + 1)", "next_number.eq(c)")
    ],
    "walk of scan_dia": [
        Mutant(
            "diagonals side by side",
            "scan_dia",
            "next_place.eq(position + self.rows)",
            "next_place.eq(position + 1)",
        )
    ],
    "keep of scan_dia": [
        Mutant(
            "the extent is a coordinate",
            "scan_dia",
            "head.payload < self.extent",
            "head.payload <= self.extent",
        )
    ],
    "accumulate of reduce_vector": [
        Mutant(
            "an update before the result that it needs",
            "bank_filler",
            "stall=is_payload(first) & self.pending",
            "stall=0",
        ),
        Mutant(
            "a list without rows keeps its bank", "bank_filler", "stop_lo(first) <= n", "stop_lo(first) < n"
        ),
    ],
    "fetch0 of reduce_vector": [
        Mutant(
            "a bank twice",
            "bitmap_walker",
            "row(TokenKind.EMPTY), m.If(flush):",
            "row(TokenKind.EMPTY), m.If(0):",
        )
    ],
    "iterate0 of reduce_vector": [
        Mutant(
            "a word stays with its last bit", "bitmap_walker", "else ~more_than_one(left)", "else Const(0)"
        )
    ],
    "emit of reduce_vector": [
        Mutant(
            "a row within a new row is not due",
            "row_emitter",
            "~emitted | (fresh >= s)",
            "~emitted | (fresh == s)",
        ),
        Mutant("a bank twice", "row_emitter", "next_bank(self.drain_bank, self.banks)", "self.drain_bank"),
    ],
}


@pytest.mark.parametrize(
    ("name", "mutant"),
    [pytest.param(name, mutant, id=f"{name}-{mutant.name}") for name in MUTANTS for mutant in MUTANTS[name]],
)
def test_mutants_break_it(name: str, mutant: Mutant) -> None:
    with mutant.applied():
        outcome = check(ACTORS[name].contract(), Mode.BOUNDED, CYCLES.get(name, SOON))
    assert outcome.answer == "broken", outcome
