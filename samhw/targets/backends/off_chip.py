"""What of a compiled program lies off the chip of its RTL."""

from samhw.compiler import Compiled
from samhw.compiler.placement import arrays_off_chip
from samhw.graph import OffChipLayout, OffChipMemory, layout_of

__all__ = ["layout_beside"]


def layout_beside(compiled: Compiled, memory: OffChipMemory | None) -> OffChipLayout | None:
    """Where arrays lie in a memory, if there is one; raises `InputError` as `OffChipLayout` does."""
    if memory is None:
        return None
    return layout_of(compiled.design, compiled.arch, memory, arrays_off_chip(compiled, memory))
