"""Blocks ``scan t { .. }``: how their statements and what they start from are read."""

from collections.abc import Sequence
from dataclasses import replace

from samhw.lang.expr import Access
from samhw.lang.index import ComputedIndex, IndexExpr, Name, StepIndex
from samhw.lang.statement import Region, Scan, Statement, start_distance

__all__ = ["scanned", "with_starts"]


def scanned(regions: Sequence[Region], scan: Scan) -> list[Region]:
    """Regions as those of a block, in which the scan's index names the step."""

    def change(access: Access) -> Access:
        return replace(access, indices=tuple(_step(index, scan.index) for index in access.indices))

    return [
        replace(
            region,
            statements=tuple(replace(s.with_accesses(change), scan=scan) for s in region.statements),
        )
        for region in regions
    ]


def with_starts(regions: Sequence[Region]) -> list[Region]:
    """Regions in which each statement that says what a scan starts from, such as ``H[-1, h] = H0[h]``, has
    gone to its scan."""
    scans = {
        statement.lhs.tensor: statement.scan
        for region in regions
        for statement in region.statements
        if statement.scan is not None and statement.lhs.step is not None
    }
    starts: dict[int, list[Statement]] = {}
    kept = []
    for region in regions:
        first = region.statements[0] if region.statements else None
        if (
            first is not None
            and first.scan is None
            and start_distance(first.lhs)
            and first.lhs.tensor in scans
        ):
            starts.setdefault(scans[first.lhs.tensor].number, []).extend(region.statements)
        else:
            kept.append(region)
    if not starts:
        return kept
    return [
        replace(
            region,
            statements=tuple(
                statement
                if statement.scan is None
                else replace(
                    statement,
                    scan=replace(statement.scan, starts=tuple(starts.get(statement.scan.number, ()))),
                )
                for statement in region.statements
            ),
        )
        for region in kept
    ]


def _step(index: IndexExpr, of: str) -> IndexExpr:
    match index:
        case Name(variable) if variable == of:
            return StepIndex(of)
        case ComputedIndex(terms, offset, "zero") if terms == ((of, 1),):
            return StepIndex(of, offset)
    return index
