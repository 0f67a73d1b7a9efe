"""What the operands of an operation have to say in its coordinates at a row.

`roles` is the table of docs/compiler.md, *Who has a say*, in code.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from samhw.compiler.einsum import CONCAT, EVERYWHERE, MASK, MUL, Apply, Einsum, Number, vanishes
from samhw.compiler.lowering.lockstep import Bundle

__all__ = ["Roles", "Rule", "roles"]


class Rule(Enum):
    """Whose coordinates an operation has."""

    INTERSECTION = "all leaders'"
    UNION = "any leader's"
    CONCATENATION = "its parts'"
    LEADER = "its leader's"
    ITSELF = "its operand's"
    EVERYWHERE = "everywhere"


@dataclass(frozen=True)
class Roles:
    """The operands that lead, and those that count as zero where they have no coordinate."""

    rule: Rule
    leaders: tuple[Bundle, ...]
    optional: tuple[Bundle, ...] = ()


def roles(e: Apply, bundles: Sequence[Bundle | None]) -> Roles | None:
    """The roles of e's operands; None if e has no such row.

    Args:
        bundles: what each operand has at the row; None if nothing.
    """
    parts = _once(bundles)
    if not parts:
        return None
    match e.op:
        case op if op == MUL:
            bounded = not all(part.everywhere for part in parts)
            return Roles(Rule.INTERSECTION if bounded else Rule.EVERYWHERE, parts)
        case op if op == CONCAT:
            everywhere = any(part.everywhere for part in parts)
            return Roles(Rule.EVERYWHERE if everywhere else Rule.CONCATENATION, parts)
        case op if op == MASK and bundles[1] is not None:
            return Roles(Rule.LEADER, (bundles[1],), _once(bundles[:1]))
        case op if op in (MASK, EVERYWHERE):
            return Roles(Rule.ITSELF if parts[0].full else Rule.EVERYWHERE, parts)
        case "div" if bundles[0] is not None:
            return Roles(Rule.LEADER, (bundles[0],), parts[1:])
        case "select" if _is_led_by_branches(e, bundles):
            # Zero where both branches are, whatever the condition.
            branches = _once(bundles[1:])
            return Roles(_united(branches), branches, _once(bundles[:1]))
    # What lacks the row has one value all along it, zero or not.
    if any(part.full for part in parts) or (vanishes(e) and not _lacks(e.operands, bundles)):
        return Roles(_united(parts), parts)
    return Roles(Rule.EVERYWHERE, parts)


def _united(parts: Sequence[Bundle]) -> Rule:
    return Rule.EVERYWHERE if any(part.everywhere for part in parts) else Rule.UNION


def _is_led_by_branches(select: Apply, bundles: Sequence[Bundle | None]) -> bool:
    """The branches of a `select` have this row and are zero elsewhere, and so is the `select`."""
    branches = select.operands[1:]
    numbers = [o.value for o in branches if isinstance(o, Number)]
    return not any(numbers) and len(numbers) < len(branches) and not _lacks(branches, bundles[1:])


def _lacks(operands: Sequence[Einsum], bundles: Sequence[Bundle | None]) -> bool:
    """An operand has no such row, and so may be nonzero all along it."""
    return any(
        bundle is None and not isinstance(operand, Number)
        for operand, bundle in zip(operands, bundles, strict=True)
    )


def _once(bundles: Iterable[Bundle | None]) -> tuple[Bundle, ...]:
    """An operand that stands in several places joins once."""
    return tuple({id(bundle): bundle for bundle in bundles if bundle is not None}.values())
