"""Shared hardware: which regions run on one fabric."""

from samhw.choices.choice import AUTO, RegionLists

__all__ = ["ALL", "CHOICE", "NONE"]

ALL, NONE = "all", "none"


class SharedHardware(RegionLists):
    """which equal regions run on one fabric ([compiler.md](compiler.md#fabrics)): `"auto"`, where that costs
    no cycle; `"all"`, `"none"`, or lists of results of those that share one"""

    name = "share_hardware"
    by_default = '`"auto"`'
    several = "auto,none,.."
    help = (
        "Which equal regions run on one fabric: auto (the default), where it costs no cycle; all; none; or "
        "results of the regions that share one, such as Q+K+V, several with commas."
    )
    known = (AUTO, ALL, NONE)


CHOICE = SharedHardware()
