"""From what an author wrote, as text or in Python, to a complete and checked program; blocks ``scan t { ..
}`` among it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from samhw.errors import InputError
from samhw.graph.numerics import ValueType
from samhw.lang.check import check_program
from samhw.lang.declaration import TensorDecl
from samhw.lang.expr import Access, Reshape
from samhw.lang.index import ComputedIndex, IndexExpr, Name, StepIndex
from samhw.lang.program import Program
from samhw.lang.source import Source, Span
from samhw.lang.statement import Region, Scan, Statement, start_distance
from samhw.names import Names
from samhw.tensors import Format

__all__ = ["Declaration", "assemble", "scanned"]


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
        computed = []
        for statement in region.statements:
            lhs = statement.lhs
            if statement.scan is None and start_distance(lhs) and lhs.tensor in scans:
                starts.setdefault(scans[lhs.tensor].number, []).append(statement)
            else:
                computed.append(statement)
        if computed or not region.statements:
            kept.append(replace(region, statements=tuple(computed)))
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


@dataclass(frozen=True)
class Declaration:
    """A tensor as its author declared it. A format of None is left to the default."""

    name: str
    indices: tuple[str, ...]
    shape: tuple[int | None, ...]
    format: str | Format | None = None
    span: Span | None = None
    format_span: Span | None = None
    value: ValueType | None = None


def assemble(
    name: str,
    declarations: Iterable[Declaration],
    regions: Sequence[Region],
    source: Source | None = None,
    value: ValueType | None = None,
    *,
    implied: bool = False,
    extents: Mapping[str, int] | None = None,
    types: Mapping[str, tuple[ValueType, Span]] | None = None,
) -> Program:
    """The checked program of these parts.

    A result that is not declared gets a declaration with the left side's index names. A tensor without a
    format is dense; where a statement with an order writes it, its modes are stored in that order. With
    `implied`, inputs need no declaration either: one that is reshaped is dense, and the storage of the others
    may be that of their data. `extents` are those of indices that no tensor need have, and `types` those
    that statements give their results. Raises InputError when the program breaks a rule.
    """
    regions = with_starts([_with_diagonals(region) for region in regions])
    writers = {statement.lhs.tensor: statement for region in regions for statement in region.statements}
    tensors: dict[str, TensorDecl] = {}
    program = Program(name, tensors, tuple(regions), source, value, index_extents=extents or {})
    for declaration in declarations:
        if declaration.name in tensors:
            raise program.error(
                declaration.span, f"tensor '{declaration.name}' is declared twice; remove one declaration"
            )
        try:
            storage = _format(declaration, writers.get(declaration.name))
        except InputError as error:
            raise program.error(declaration.format_span, f"tensor '{declaration.name}': {error}") from None
        tensors[declaration.name] = TensorDecl(
            declaration.name,
            declaration.indices,
            declaration.shape,
            storage,
            declaration.value,
            declaration.span,
        )
    for result, statement in writers.items():
        if result not in tensors:
            if not all(isinstance(index, Name | StepIndex) for index in statement.lhs.indices):
                raise program.error(
                    statement.lhs.span,
                    f"'{statement.lhs}' computes places of '{result}', which fixes no extent; declare it, as "
                    f"in 'tensor {result}[n=10, ...]'",
                )
            indices = _mode_names(statement.lhs)
            storage = _default_format(indices, statement)
            tensors[result] = TensorDecl(
                result, indices, (None,) * len(indices), storage, span=statement.lhs.span
            )
    for result, (kind, span) in (types or {}).items():
        if tensors[result].value not in (None, kind):
            raise program.error(
                span,
                f"tensor '{result}' is declared as {tensors[result].value}, and not as {kind}; give one type",
            )
        tensors[result] = replace(tensors[result], value=kind)
    if implied:
        _imply(program, tensors)
    check_program(program)
    return program


def _with_diagonals(region: Region) -> Region:
    """Where an access names an index again, a computed index in its place: `A[i, i]` is `A[i, i + 0]`."""

    def again(index: IndexExpr, before: tuple[IndexExpr, ...]) -> IndexExpr:
        if isinstance(index, Name) and index in before:
            return ComputedIndex.of([(index.variable, 1)])
        return index

    def change(access: Access) -> Access:
        indices = access.indices
        return replace(access, indices=tuple(again(index, indices[:n]) for n, index in enumerate(indices)))

    return replace(region, statements=tuple(one.with_accesses(change) for one in region.statements))


def _imply(program: Program, tensors: dict[str, TensorDecl]) -> None:
    """Declares the inputs that are not declared."""
    reshaped = {s.rhs.operand.tensor for s in program.statements if isinstance(s.rhs, Reshape)}
    for access in (read for statement in program.statements for read in statement.reads):
        if access.tensor not in tensors:
            rank = len(access.indices)
            storage = Format.dense(rank)
            is_free = access.tensor not in reshaped
            tensors[access.tensor] = TensorDecl(
                access.tensor, _mode_names(access), (None,) * rank, storage, span=access.span, implied=is_free
            )


def _mode_names(access: Access) -> tuple[str, ...]:
    """Names for the modes of a tensor: the indices of an access, others where more than a name stands."""
    names = Names(access.variables)
    return tuple(
        name or names.fresh(index.index if isinstance(index, StepIndex) else f"{access.tensor}_{mode}")
        for mode, (index, name) in enumerate(zip(access.indices, access.own_names, strict=True))
    )


def _format(declaration: Declaration, writer: Statement | None) -> Format:
    if declaration.format is None:
        return _default_format(declaration.indices, writer)
    return Format.of(declaration.format, len(declaration.indices))


def _default_format(indices: tuple[str, ...], writer: Statement | None) -> Format:
    rank = len(indices)
    modes = list(range(rank))
    if writer is not None and len(writer.lhs.indices) == rank:
        depth = {index: depth for depth, index in enumerate(writer.order or ())}
        lhs = writer.lhs.own_names
        # A left side that does not fit the declaration or the order is the check's to report.
        if writer.order is not None and depth.keys() >= {name for name in lhs if name is not None}:
            modes.sort(key=lambda mode: depth.get(lhs[mode] or "", mode))
        if writer.lhs.step is not None:
            # What is written step by step has the steps outermost.
            modes.sort(key=lambda mode: writer.lhs.step is not None and mode != writer.lhs.step[0])
    return Format.dense(rank, modes)
