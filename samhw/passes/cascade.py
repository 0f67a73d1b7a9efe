"""Cascades of reductions in one pass over their index, where the schedule asks for it."""

from samhw.passes.lowerable import Lowerable

__all__ = ["cascade"]


def cascade(lowerable: Lowerable) -> Lowerable:
    """The program in which reductions that depend on earlier ones over the same index are computed in one
    pass (`samhw.cascade`). The results are the same in real numbers, and rounded otherwise."""
    if lowerable.cascade == "off":
        return lowerable
    # SymPy takes a while to import.
    from samhw.cascade import cascaded

    found = cascaded(lowerable.program, lowerable.cascade)
    if found.program is lowerable.program:
        return lowerable
    return lowerable.with_program(found.program.bind({}))
