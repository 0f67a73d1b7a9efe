"""The sharing of hardware that a search tries: on the fewest fabrics, at whatever cost in cycles."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from samhw.choices.choice import AUTO
from samhw.choices.schedule import Schedule
from samhw.choices.share_hardware import ALL
from samhw.compiler.search.tried import AutoChoice, Search, Stage, Start

__all__ = ["STAGES", "neighbours"]


def _folded(search: Search, best: AutoChoice, notes: list[str]) -> AutoChoice:
    """Where what was tried is larger than it may be, the regions of each way on the fewest fabrics, and those
    of single statements, of which most are equal; the fastest that has room."""
    if search.given.share_hardware != AUTO or search.has_room(best):
        return best
    search.tried(replace(best.schedule, fuse="none"))
    ways = search.fastest_first()
    if any(map(search.has_room, ways)):
        return best
    folded = (search.tried(replace(way.schedule, share_hardware=ALL)) for way in ways)
    small = [way for way in folded if way is not None and search.has_room(way)]
    found = min(small, key=lambda way: way.cycles, default=best)
    if found is not best:
        notes.append(f"shared hardware: as much as there can be, about {found.cycles:,.0f} cycles")
    return found


STAGES: Mapping[str, Stage] = {"folded": _folded}


def neighbours(at: Start) -> Iterator[Schedule]:
    """On the fewest fabrics, or where it costs no cycle."""
    if at.job.schedule.share_hardware == AUTO:
        yield from (replace(at.schedule, share_hardware=way) for way in (AUTO, ALL))
