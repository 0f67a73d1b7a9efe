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
    """Amaranth has no public way to them. Tests alone use this one. Of signals of one name in one component,
    the further ones are `name$1` and so on, in the order in which they are made."""
    statements = fragment.statements.get(domain)
    found: dict[str, Signal] = {}
    for signal in statements._lhs_signals() if statements else ():
        name, further = signal.name, 0
        while name in found:
            further += 1
            name = f"{signal.name}${further}"
        found[name] = signal
    for part, name, _ in fragment.subfragments:
        found |= {f"{name}.{inner}": signal for inner, signal in _driven(part, domain).items()}
    return found
