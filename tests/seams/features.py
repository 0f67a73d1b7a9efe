"""The features whose pairs are drawn, and how a case is seen to have one: from its program, its data and its
schedule, whatever it was drawn for."""

from collections.abc import Iterator, Mapping

import numpy as np

from samhw.lang import Program, Statement
from samhw.lang.expr import Access, Call, Concat, Expr, Recurrence, Reshape, RunningReduction
from samhw.lang.index import ComputedIndex, Indirect, Name
from samhw.lang.statement import Scan
from samhw.lang.traverse import accesses
from tests.seams import formats, operands, scans
from tests.seams.case import Case
from tests.seams.extents import index_extents
from tests.seams.moves import MOVES
from tests.seams.schedules import FIELDS

__all__ = ["FACES", "FEATURES", "VALUES", "features_of"]

VALUES = ("i8", "i16", "i32", "fixed", "saturation", "fp8", "bf16", "f32")
SIZES = ("size 0", "size 1", "empty")
FACES = ("auto", "after", "save and load", "new data", "command line", "off chip")
MASKS = ("mask", "computed mask")
PLACES = ("scatter", "affine result", "result outside")
OTHERS = ("order", "permission to copy")

FEATURES: tuple[str, ...] = (
    *formats.WISHES,
    *scans.WISHES,
    *operands.INDEX_WISHES,
    *PLACES,
    *MASKS,
    *(move for move in MOVES if move not in ("row sums", "scatter", "elementwise")),
    "function",
    *OTHERS,
    *FIELDS,
    *VALUES,
    *SIZES,
    *FACES,
    "pytorch",
)
"""All of them, by name."""


def features_of(case: Case, saturates: bool = False) -> frozenset[str]:
    """Those that a case has."""
    program = case.program
    found = set(case.faces) | set(_of_value(case, saturates)) | set(_of_schedule(case, program))
    for decl in program.operands:
        if decl.name in program.index_tensors:
            continue
        found.update(_of_format(decl.format))
        array = case.data[decl.name]
        found.update(["empty"] * (array.size > 0 and not np.any(array)))
    shapes = {name: np.shape(array) for name, array in case.data.items()}
    for array in case.data.values():
        found.update(["size 1"] * (1 in array.shape), ["size 0"] * (0 in array.shape))
    for statement in program.statements:
        extents = {**_known(program, statement, shapes)}
        found.update(_of_statement(program, statement, extents, shapes))
    read = [access.tensor for s in program.statements for access in s.reads]
    written = {s.lhs.tensor for s in program.statements}
    found.update(["sharing"] * any(read.count(name) > 1 for name in written))
    return frozenset(found)


def _known(program: Program, statement: Statement, shapes: dict[str, tuple[int, ...]]) -> Mapping[str, int]:
    """The extents of a statement; its result is known from then on, as far as it is made of them."""
    try:
        extents = index_extents(program, statement, shapes)
    except (KeyError, ValueError):
        return {}
    declared = program.tensors[statement.lhs.tensor].shape
    shape = tuple(
        extents.get(index.variable, 0) if isinstance(index, Name) else (extent or 0)
        for index, extent in zip(statement.lhs.indices, declared, strict=True)
    )
    if 0 not in shape:
        shapes[statement.lhs.tensor] = shape
    return extents


def _of_format(format) -> Iterator[str]:
    if format.block:
        yield "bcsr"
    if format.mode_order != tuple(sorted(format.mode_order)):
        yield "mode order"
    for before, level in zip((None, *format.levels), format.levels, strict=False):
        if level.is_branchless:
            yield "singleton" if before.is_full else "coo"
        else:
            yield "dense level" if level.is_full else level.name


def _of_value(case: Case, saturates: bool) -> Iterator[str]:
    if saturates:
        yield "saturation"
    if case.value.startswith("fixed"):
        yield "fixed"
    else:
        yield "fp8" if case.value.startswith("f8") else case.value


def _of_schedule(case: Case, program: Program) -> Iterator[str]:
    fields = {
        "lanes": "lanes",
        "deal": "ranges of rows",
        "blocks": "blocks",
        "split": "split",
        "partial_sums": "partial sums",
        "permute_rows": "row order",
        "cascade": "cascade form",
        "brackets": "brackets",
        "share": "share",
        "queues": "queues",
        "interleave": "banks",
        "share_hardware": "share hardware",
        "parallel": "side by side",
        "fixed_extents": "fixed extents",
        "formats": "scheduled format",
        "iteration": "global iteration",
    }
    yield from (feature for name, feature in fields.items() if name in case.schedule)
    if case.schedule.get("permute"):
        yield "permission to copy"
    if any(len(region.statements) > 1 for region in program.regions):
        yield "fused text"
    if len(program.statements) > 1:
        levels = {"full": "full fusion", "kinds": "kinds", "auto": "fuse auto"}
        fuse = case.schedule.get("fuse")
        if isinstance(fuse, list):
            yield "regions" if fuse else "no fusion"
        elif fuse in levels:
            yield levels[fuse]


def _of_statement(
    program: Program, statement: Statement, extents: Mapping[str, int], shapes: Mapping[str, tuple[int, ...]]
) -> Iterator[str]:
    written = {s.lhs.tensor for s in program.statements}
    if statement.order:
        yield "order"
    if statement.mask is not None:
        yield "computed mask" if statement.mask.tensor in written else "mask"
    reads = [*accesses(statement.rhs), *([] if statement.mask is None else [statement.mask])]
    if statement.scan is not None:
        yield from _of_scan(program, statement, statement.scan, reads)
    for access in reads:
        yield from _of_indices(access, extents, shapes.get(access.tensor))
    yield from _of_left(statement.lhs, extents, shapes.get(statement.lhs.tensor))
    yield from _of_right(program, statement)


def _of_right(program: Program, statement: Statement) -> Iterator[str]:
    match statement.rhs:
        case Concat():
            yield "concatenation"
        case Reshape():
            yield "reshape"
        case RunningReduction():
            yield "running"
        case Recurrence():
            yield "recurrence"
    if statement.reduction_indices and any(
        s.reduction_indices and statement.lhs.tensor in _read(s) for s in program.statements
    ):
        yield "cascade"
    if statement.reduction in ("max", "min", "prod"):
        yield "extreme"
    elif statement.reduction != "sum":
        yield "coordinates"
    elif statement.reduction_indices and len(_read(statement)) > 1:
        yield "contraction"
        if str(statement.rhs).count(" * ") == 2 and not list(_calls(statement.rhs)):
            yield "product of three"
    if statement.reduction == "sum" and any(f" {sign} " in str(statement.rhs) for sign in "+-"):
        yield "terms"
    if list(_calls(statement.rhs)):
        yield "function"


def _read(statement: Statement) -> list[str]:
    return [access.tensor for access in accesses(statement.rhs)]


def _calls(expr: Expr) -> Iterator[Expr]:
    if isinstance(expr, Call):
        yield expr
    for child in expr.children:
        yield from _calls(child)


def _of_scan(program: Program, statement: Statement, scan: Scan, reads: list[Access]) -> Iterator[str]:
    yield "scan down" if scan.down else "scan up"
    block = [s for s in program.statements if s.scan == scan]
    states = {s.lhs.tensor for s in block if s.lhs.step is not None}
    if len(states) > 1:
        yield "several states"
    if not any(list(_calls(s.rhs)) for s in block):
        yield "linear scan"
    if scan.starts:
        yield "start of a scan"
    if any(access.step and abs(access.step[1].offset) > 1 for access in reads):
        yield "further back"


def _of_indices(access: Access, extents: Mapping[str, int], shape: tuple[int, ...] | None) -> Iterator[str]:
    for mode, index in enumerate(access.indices):
        if isinstance(index, Indirect):
            yield "gather"
        elif isinstance(index, ComputedIndex):
            if not index.terms:
                yield "fixed place"
            elif index.outside != "zero":
                yield index.outside
            elif shape is not None:
                yield "affine outside" if _leaves(index, extents, shape[mode]) else "affine inside"


def _of_left(lhs: Access, extents: Mapping[str, int], shape: tuple[int, ...] | None) -> Iterator[str]:
    for mode, index in enumerate(lhs.indices):
        if isinstance(index, Indirect):
            yield "scatter"
        elif isinstance(index, ComputedIndex) and shape is not None:
            yield "result outside" if _leaves(index, extents, shape[mode]) else "affine result"


def _leaves(index: ComputedIndex, extents: Mapping[str, int], extent: int) -> bool:
    """Whether some of its places lie outside of the mode."""
    ends = [index.offset, index.offset]
    for name, factor in index.terms:
        far = factor * (extents.get(name, 1) - 1)
        ends = [ends[0] + min(far, 0), ends[1] + max(far, 0)]
    return ends[0] < 0 or ends[1] >= extent
