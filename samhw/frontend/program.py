"""A program: einsum statements over named tensors, grouped into the regions that are fused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import index as as_int

from samhw.errors import InputError
from samhw.frontend.check import MAX_EXTENT, check_program
from samhw.frontend.expr import Access, Concat, Expr, Reshape, accesses, free_indices
from samhw.frontend.extents import unify
from samhw.frontend.source import Source, Span
from samhw.tensors import Format

__all__ = ["Program", "Region", "Statement", "TensorDecl"]


@dataclass(frozen=True)
class TensorDecl:
    """A tensor's name, modes and storage. An extent of None is not known yet: `Program.bind` fills it in.

    The index names only label the modes; a statement may access the tensor under other names.
    """

    name: str
    indices: tuple[str, ...]
    shape: tuple[int | None, ...]
    format: Format
    span: Span | None = field(default=None, compare=False, repr=False)
    declared: tuple[int | None, ...] | None = field(default=None, compare=False, repr=False)
    """The extents of the program's text, where `shape` has been filled in."""

    @property
    def rank(self) -> int:
        return len(self.indices)

    @property
    def unbound(self) -> "TensorDecl":
        """The declaration with no extents but those of the program's text."""
        return self if self.declared is None else replace(self, shape=self.declared, declared=None)

    def __str__(self) -> str:
        if not self.indices:
            return f"tensor {self.name}"
        modes = (
            index if extent is None else f"{index}={extent}"
            for index, extent in zip(self.indices, self.shape, strict=True)
        )
        return f"tensor {self.name}[{', '.join(modes)}] : {self.format}"


@dataclass(frozen=True)
class Statement:
    """``lhs = rhs``, reduced over the indices that are missing on the left.

    `order` is the nest of loops, outermost first, over all indices of the statement; None leaves it to the
    compiler. It never changes the result. With a `mask` the statement is computed where that tensor is not
    zero: the result is zero elsewhere, and a reduction runs over those points only.
    """

    lhs: Access
    rhs: Expr
    order: tuple[str, ...] | None = None
    order_span: Span | None = field(default=None, compare=False, repr=False)
    reduction: str = field(default="sum", kw_only=True)
    """How missing indices are reduced, one of `REDUCTIONS`: each term is summed over its own indices; "max"
    and "min" take the whole right side."""
    mask: Access | None = field(default=None, kw_only=True)

    @property
    def indices(self) -> tuple[str, ...]:
        """All index names: those on the left, then the others in order of appearance."""
        return tuple(dict.fromkeys(self.lhs.indices + free_indices(self.rhs)))

    @property
    def reduction_indices(self) -> tuple[str, ...]:
        """The index names that are missing on the left, in order of appearance; none in a reshape."""
        if isinstance(self.rhs, Reshape):
            return ()
        return tuple(index for index in free_indices(self.rhs) if index not in self.lhs.indices)

    @property
    def reads(self) -> tuple[Access, ...]:
        """The tensor accesses of the right side from left to right, then the mask."""
        return (*accesses(self.rhs), *(() if self.mask is None else (self.mask,)))

    @property
    def accesses(self) -> tuple[Access, ...]:
        """The left side, then `reads`."""
        return (self.lhs, *self.reads)

    @property
    def is_move(self) -> bool:
        """Whether this is a reshape or a concatenation, which only moves elements."""
        return isinstance(self.rhs, Reshape | Concat)

    def joins(self, before: Sequence["Statement"]) -> bool:
        """Whether this may be in one region with the statements before it: a reshape is a region of its own,
        and a concatenation reads no tensor that its region computes."""
        if before and any(isinstance(s.rhs, Reshape) for s in (self, *before)):
            return False
        written = {s.lhs.tensor for s in before}
        return not (isinstance(self.rhs, Concat) and any(a.tensor in written for a in self.reads))

    def __str__(self) -> str:
        assign = "=" if self.reduction == "sum" else f"{self.reduction}="
        where = "" if self.mask is None else f" where {self.mask}"
        order = "" if self.order is None else f"    order {', '.join(self.order)}"
        return f"{self.lhs} {assign} {self.rhs}{where}{order}"


@dataclass(frozen=True)
class Region:
    """Statements that become one dataflow graph: a ``fuse`` block, or a statement that stands alone."""

    statements: tuple[Statement, ...]
    order: tuple[str, ...] | None = None
    """That of the indices of the whole region, outermost first, where a schedule gives one: it stands in the
    place of the statements' own."""
    label: str | None = field(default=None, compare=False)
    """The last result, by which a schedule names the region, even where the compiler writes another tensor in
    its place; None for a region that the compiler has added."""


@dataclass(frozen=True)
class Program:
    """Regions in the order in which they run, over `tensors`: a declaration for every tensor, by name.

    The name is a label for reports and takes no part in equality. `source` is the text of a parsed program.
    """

    name: str = field(compare=False)
    tensors: Mapping[str, TensorDecl] = field(hash=False)
    regions: tuple[Region, ...]
    source: Source | None = field(default=None, compare=False, repr=False)
    value: str | None = None
    """The name of the value type that its text asks for."""

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements of all regions, in order."""
        return tuple(statement for region in self.regions for statement in region.statements)

    @property
    def inputs(self) -> tuple[TensorDecl, ...]:
        """The tensors that no statement writes: they come from the user."""
        written = self._written()
        return tuple(decl for decl in self.tensors.values() if decl.name not in written)

    @property
    def outputs(self) -> tuple[TensorDecl, ...]:
        """The tensors that a statement writes and none reads: the program's results."""
        read = self._read()
        return tuple(self.tensors[name] for name in self._written() if name not in read)

    @property
    def intermediates(self) -> tuple[TensorDecl, ...]:
        """The tensors that one statement writes and another reads."""
        read = self._read()
        return tuple(self.tensors[name] for name in self._written() if name in read)

    def extents(self, statement: Statement) -> dict[str, int | None]:
        """The extent of each index of `statement`, in the order of `Statement.indices`; None where no tensor
        of the statement has it. `bind` makes what other statements know available here."""
        extents: dict[str, int | None] = dict.fromkeys(statement.indices)
        # Along the index of a concatenation only the result has the whole extent.
        concatenated = statement.rhs.index if isinstance(statement.rhs, Concat) else None
        for access in statement.accesses:
            for index, extent in zip(access.indices, self.tensors[access.tensor].shape, strict=True):
                if extent is not None and (index != concatenated or access is statement.lhs):
                    extents[index] = extent
        return extents

    def bind(self, shapes: Mapping[str, tuple[int, ...]]) -> "Program":
        """This program with the extents that `shapes` (tensor name -> shape) and the statements fix.

        An index gives its extent to every tensor that uses it, so the shapes of the inputs are enough to know
        the shapes of all results. Raises InputError when a name is unknown or when shapes disagree.
        """
        tensors = dict(self.tensors)
        for name, shape in shapes.items():
            if name not in tensors:
                raise InputError(
                    f"program '{self.name}' has no tensor '{name}'; its tensors are {', '.join(tensors)}"
                )
            tensors[name] = _bind_shape(tensors[name], tuple(map(as_int, shape)))
        bound = replace(self, tensors=tensors)
        extents = unify(bound)
        return replace(
            bound,
            tensors={
                name: replace(
                    decl,
                    shape=tuple(extents[name, mode] for mode in range(decl.rank)),
                    declared=self.tensors[name].unbound.shape,
                )
                for name, decl in tensors.items()
            },
        )

    @property
    def unbound(self) -> "Program":
        """This program as it was before `bind`: with no extents but those of its text."""
        return replace(self, tensors={name: decl.unbound for name, decl in self.tensors.items()})

    @property
    def has_extents(self) -> bool:
        """Its text, or `bind`, says how large every tensor is."""
        return None not in unify(self).values()

    def check(self) -> None:
        """Raise InputError unless every statement is well-formed and all statements fit together.

        `parse`, `load` and `ProgramBuilder.program` have done so already.
        """
        check_program(self)

    def error(self, span: Span | None, message: str) -> InputError:
        """`message` as an error about this program, with the place in its text where there is one."""
        if self.source is None or span is None:
            return InputError(message)
        return self.source.error(span, message)

    def _written(self) -> dict[str, None]:
        return dict.fromkeys(statement.lhs.tensor for statement in self.statements)

    def _read(self) -> set[str]:
        return {access.tensor for statement in self.statements for access in statement.reads}


def _bind_shape(decl: TensorDecl, shape: tuple[int, ...]) -> TensorDecl:
    """`decl` with its data's shape, which must agree with what is declared."""
    if len(shape) != decl.rank:
        raise InputError(
            f"tensor '{decl.name}' has rank {decl.rank}, but its data has shape {shape}; change one of them"
        )
    for index, declared, given in zip(decl.indices, decl.shape, shape, strict=True):
        if declared is not None and declared != given:
            raise InputError(
                f"tensor '{decl.name}' is declared with {index}={declared}, but its data has {given} there; "
                "change one of them"
            )
        if not 1 <= given <= MAX_EXTENT:
            raise InputError(
                f"tensor '{decl.name}' has data with {index}={given}; an extent is from 1 to {MAX_EXTENT:,}"
            )
    return replace(decl, shape=shape)
