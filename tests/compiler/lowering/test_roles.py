"""The table *Who has a say* of docs/compiler.md, row by row."""

from collections.abc import Mapping

import pytest

from samhw.compiler.einsum import CONCAT, EVERYWHERE, MASK, MUL, Apply, Einsum, Number
from samhw.compiler.fusion_table import PlannedNode
from samhw.compiler.lowering.bundles import Rule, roles
from samhw.compiler.lowering.lockstep import Bundle, Lockstep
from tests.compiler.lowering.document import table
from tests.compiler.lowering.row import DENSE, A, B, Row, view

SOME = Bundle(Lockstep(PlannedNode("scan_compressed", "some", 1, {}).output("crd"), ("some",)))
MORE = Bundle(Lockstep(PlannedNode("scan_compressed", "more", 1, {}).output("crd"), ("more",)))
ALL = Bundle(complete=True)
ANYWHERE = Bundle(everywhere=True)

Case = tuple[Apply, list[Bundle | None], list[Bundle]]
OPERATIONS: Mapping[str, list[Case]] = {
    "product": [(Apply(MUL, (A, B)), [SOME, ANYWHERE], [])],
    "concatenation": [(Apply(CONCAT, (A, B)), [SOME, ALL], [])],
    "maximum under a mask that has the row": [(Apply(MASK, (A, B)), [SOME, MORE], [SOME])],
    "other maximum, of what has every coordinate": [
        (Apply(MASK, (A, B)), [ALL, None], []),
        (Apply(EVERYWHERE, (A,)), [ALL], []),
    ],
    "other maximum": [(Apply(MASK, (A, B)), [SOME, None], []), (Apply(EVERYWHERE, (A,)), [SOME], [])],
    "division, the numerator has the row": [(Apply("div", (A, B)), [SOME, MORE], [MORE])],
    "`select` whose branches have the row or are zero": [
        (Apply("select", (A, B, Number(0))), [SOME, MORE, None], [SOME]),
    ],
    "any other, an operand has every coordinate": [(Apply("exp", (A,)), [ALL], [])],
    "any other, zero where all operands are, all have the row": [(Apply("add", (A, B)), [SOME, MORE], [])],
    "anything else": [(Apply("add", (A, B)), [SOME, None], []), (Apply("exp", (A,)), [SOME], [])],
}
"""Operations, what their operands have at the row, and the operands that are optional."""


def test_every_operation_of_the_table_is_tried() -> None:
    assert [row[0] for row in table("Who has a say")] == list(OPERATIONS)


@pytest.mark.parametrize(
    ("case", "coordinates", "optional"),
    [
        (case, coordinates, optional)
        for operation, coordinates, optional in table("Who has a say")
        for case in OPERATIONS[operation]
    ],
)
def test_who_has_a_say(case: Case, coordinates: str, optional: str) -> None:
    e, bundles, without_say = case
    found = roles(e, bundles)
    assert found is not None
    assert found.rule.value == coordinates
    assert list(found.optional) == without_say
    # Which factors of a product are optional is known when their coordinates meet.
    assert bool(optional) == bool(without_say or e.op == MUL)


@pytest.mark.parametrize(
    ("e", "bundles"),
    [
        (Apply(MUL, (A, B)), [ANYWHERE, ANYWHERE]),
        (Apply(CONCAT, (A, B)), [SOME, ANYWHERE]),
        (Apply("select", (A, B, Number(0))), [SOME, ANYWHERE, None]),
        (Apply("add", (A, B)), [SOME, ANYWHERE]),
        (Apply("add", (A, B)), [ALL, ANYWHERE]),
    ],
)
def test_what_leaders_that_are_everywhere_lead_is_everywhere(e: Apply, bundles: list[Bundle | None]) -> None:
    found = roles(e, bundles)
    assert found is not None
    assert found.rule is Rule.EVERYWHERE


def test_an_operation_without_the_row_has_no_coordinates() -> None:
    assert roles(Apply(MUL, (A, B)), [None, None]) is None


def test_a_factor_that_is_everywhere_is_optional() -> None:
    row, c = Row(), view("C", DENSE)
    bundle = row.bundle(Apply(MUL, (A, Apply("exp", (B,)), c)))
    assert bundle.stream is not None
    assert bundle.stream.payloads.operands == {A}
    assert [b.stream.payloads.operands for b in bundle.optional if b.stream] == [{B}]
    assert bundle.located == (c,)


@pytest.mark.parametrize("branch", [Number(1), view("S", index="j")])
def test_the_condition_leads_where_a_branch_is_a_number_or_lacks_the_row(branch: Einsum) -> None:
    found = roles(Apply("select", (A, branch, B)), [SOME, None, MORE])
    assert found is not None
    assert not found.optional
    assert found.rule is (Rule.UNION if isinstance(branch, Number) else Rule.EVERYWHERE)
