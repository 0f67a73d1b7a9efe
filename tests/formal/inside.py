"""What is inside of a component: its registers, for what an induction has to know, and what parts give."""

from amaranth.hdl import Fragment, Signal

__all__ = ["given", "registers"]


def registers(fragment: Fragment) -> dict[str, Signal]:
    """Those of a component and of its parts, by `name` or `part.name`."""
    return _driven(fragment, "sync")


def given(fragment: Fragment) -> dict[str, Signal]:
    """What follows from the heads and the registers within a cycle, by the same names."""
    return _driven(fragment, "comb")


def _driven(fragment: Fragment, domain: str) -> dict[str, Signal]:
    """Amaranth has no public way to them. Tests alone use this one."""
    statements = fragment.statements.get(domain)
    driven = statements._lhs_signals() if statements else ()
    found = {signal.name: signal for signal in driven}
    for part, name, _ in fragment.subfragments:
        found |= {f"{name}.{inner}": signal for inner, signal in _driven(part, domain).items()}
    return found
