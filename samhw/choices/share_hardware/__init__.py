"""Shared hardware: which regions run on one fabric."""

from collections.abc import Iterable

from samhw.choices.choice import AUTO, RegionLists, all_numbered

__all__ = ["ALL", "CHOICE", "NONE"]

ALL, NONE = "all", "none"


class SharedHardware(RegionLists):
    """which equal regions run on one fabric ([compiler.md](compiler.md#fabrics)): `"auto"`, where that costs
    no cycle; `"all"`, and fabrics have nodes in common; `"none"`, or lists of results of those that share
    one"""

    name = "share_hardware"
    by_default = '`"auto"`'
    several = "auto,none,.."
    help = (
        "Which equal regions run on one fabric: auto (the default), where it costs no cycle; all, and "
        "fabrics have nodes in common; none; or "
        "results of the regions that share one, such as Q+K+V, several with commas."
    )
    known = (AUTO, ALL, NONE)

    def with_numbers(
        self, value: str | tuple[tuple[str, ...], ...], names: Iterable[str]
    ) -> str | tuple[tuple[str, ...], ...]:
        """Those of all numbers share one fabric."""
        if isinstance(value, str):
            return value
        return tuple(all_numbered(own, names) for own in value)


CHOICE = SharedHardware()
