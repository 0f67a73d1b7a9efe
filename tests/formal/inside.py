"""What is inside of a component: its registers, for what an induction has to know."""

from amaranth.hdl import Fragment, Signal

__all__ = ["registers"]


def registers(fragment: Fragment) -> dict[str, Signal]:
    """Those of a component and of its parts, by `name` or `part.name`.

    Amaranth has no public way to them. Tests alone use this one.
    """
    statements = fragment.statements.get("sync")
    driven = statements._lhs_signals() if statements else ()
    found = {signal.name: signal for signal in driven}
    for part, name, _ in fragment.subfragments:
        found |= {f"{name}.{inner}": signal for inner, signal in registers(part).items()}
    return found
