"""The Python form of programs, one to one with the ``.ein`` text."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from samhw.errors import InputError
from samhw.graph.numerics import ValueType, value_type
from samhw.lang.assemble import Declaration, assemble, scanned
from samhw.lang.expr import Access, Arithmetic, Operand, as_expr
from samhw.lang.index import ComputedIndex, IndexExpr, Indirect, LinearIndex, Name
from samhw.lang.program import Program
from samhw.lang.statement import Region, Scan, Statement
from samhw.tensors import Format

__all__ = ["DeclaredTensor", "Index", "ProgramBuilder"]


@dataclass(frozen=True)
class Index(LinearIndex):
    """An index name. Its extent, where given, goes to the modes that are declared with it, and to whatever
    statement computes with it: ``X[2*i + d - 1]``."""

    name: str
    extent: int | None = None

    def linear(self) -> ComputedIndex:
        return ComputedIndex(((self.name, 1),))


class DeclaredTensor(Arithmetic):
    """A declared tensor: ``A[i, k]`` is an operand, ``A[i, k] = ...`` a statement.

    A scalar stands for itself (``alpha * A[i, k]``) and is assigned by ``x[()] = ...``.
    """

    def __init__(self, builder: "ProgramBuilder", name: str, indices: tuple[Index, ...]) -> None:
        self.name = name
        self.indices = indices
        self._builder = builder

    def __getitem__(self, key: "Place | tuple[Place, ...]") -> Access:
        indices = key if isinstance(key, tuple) else (key,)
        for position, index in enumerate(indices):
            if isinstance(index, ComputedIndex) or (
                isinstance(index, Access) and index.indices and index.is_plain
            ):
                continue
            if not isinstance(index, Index):
                raise InputError(
                    f"tensor '{self.name}' is indexed by {index!r}; use indices made by index() or indices()"
                )
            declared = self.indices[position] if position < len(self.indices) else index
            if None not in (index.extent, declared.extent) and index.extent != declared.extent:
                raise InputError(
                    f"index '{index.name}' has extent {index.extent}, but mode {position} of tensor "
                    f"'{self.name}' has {declared.extent}; use an index of the same extent"
                )
        return Access(self.name, tuple(map(_index_of, indices)))

    def __setitem__(self, key: "Place | tuple[Place, ...]", value: Operand) -> None:
        self._builder.assign(self[key], value)

    def as_expr(self) -> Access:
        if self.indices:
            modes = ", ".join(index.name for index in self.indices)
            raise InputError(f"tensor '{self.name}' is used without indices; write {self.name}[{modes}]")
        return Access(self.name)


Place = Index | ComputedIndex | Access
"""What stands for a mode: an index, what is computed of indices, or an index tensor under its own."""


def _index_of(place: Place) -> IndexExpr:
    match place:
        case ComputedIndex():
            return place
        case Index():
            return Name(place.name)
    return Indirect(place.tensor, place.names)


class ProgramBuilder:
    """Collects declarations and statements in the order of the calls; `program` checks and returns the whole.

    >>> p = ProgramBuilder("spmm")
    >>> i, j, k = p.indices("i j k")
    >>> A = p.tensor("A", (i, k), "csr")
    >>> X = p.tensor("X", (k, j), "dense")
    >>> T = p.tensor("T", (i, j))
    >>> p.assign(T[i, j], A[i, k] * X[k, j], order=(i, k, j))
    >>> print(p.program().statements[0])
    T[i, j] = A[i, k] * X[k, j]    order i, k, j
    """

    def __init__(self, name: str = "program", *, value: ValueType | str | None = None) -> None:
        self.name = name
        self.value = value
        """The value type, or its name; None leaves it to what the program and its data need."""
        self._declarations: list[Declaration] = []
        self._regions: list[Region] = []
        self._extents: dict[str, set[int]] = {}
        self._fused: list[Statement] | None = None  # the statements of the open fuse block
        self._scanned: list[Region] | None = None  # the regions of the open scan block
        self._scans = 0

    def index(self, name: str, extent: int | None = None) -> Index:
        """An index; with an extent, ``p.index("i", 34)`` is the text's ``i=34``."""
        if extent is not None:
            self._extents.setdefault(name, set()).add(extent)
        return Index(name, extent)

    def indices(self, names: str) -> tuple[Index, ...]:
        """Indices of unknown extent, from names separated by blanks: ``i, j = p.indices("i j")``."""
        return tuple(map(Index, names.split()))

    def tensor(
        self,
        name: str,
        indices: Index | tuple[Index, ...] = (),
        format: str | Format | None = None,
        *,
        value: ValueType | str | None = None,
    ) -> DeclaredTensor:
        """Declare a tensor; without indices, a scalar.

        Without a format it is dense; where a statement with an order writes it, its modes are stored in
        that order. `value` is the type of its values, where it has one of its own.
        """
        modes = indices if isinstance(indices, tuple) else (indices,)
        names = tuple(mode.name for mode in modes)
        shape = tuple(mode.extent for mode in modes)
        kind = value_type(value) if isinstance(value, str) else value
        self._declarations.append(Declaration(name, names, shape, format, value=kind))
        return DeclaredTensor(self, name, modes)

    def assign(
        self,
        target: Access | DeclaredTensor,
        value: Operand,
        order: Sequence[Index] | None = None,
        *,
        where: Access | DeclaredTensor | None = None,
        reduction: str = "sum",
    ) -> None:
        """Add the statement ``target = value``; ``T[i, j] = value`` does the same, without an order.

        `where` is the mask. `reduction` is what happens to indices that `target` lacks: ``"sum"``,
        ``"max"``, ``"min"``, ``"prod"``, ``"argmax"`` or ``"argmin"``;
        ``p.assign(m[i], S[i, j], reduction="max")`` is the text's ``m[i] max= S[i, j]``.
        """
        lhs = target.as_expr()
        try:
            rhs = as_expr(value)
        except TypeError:
            raise InputError(
                f"'{lhs}' is assigned a {type(value).__name__}; assign an expression of tensors and numbers"
            ) from None
        names = None if order is None else tuple(index.name for index in order)
        mask = None if where is None else where.as_expr()
        statement = Statement(lhs, rhs, names, reduction=reduction, mask=mask)
        if self._fused is None:
            self._add(Region((statement,)))
        else:
            self._fused.append(statement)

    def _add(self, region: Region) -> None:
        (self._regions if self._scanned is None else self._scanned).append(region)

    @contextmanager
    def fuse(self) -> Iterator[None]:
        """The statements of the ``with`` block become one region."""
        if self._fused is not None:
            raise InputError("fuse blocks do not nest; end the outer one first")
        self._fused = []
        try:
            yield
            self._add(Region(tuple(self._fused)))
        finally:
            self._fused = None

    @contextmanager
    def scan(self, index: Index, *, down: bool = False) -> Iterator[None]:
        """The statements of the ``with`` block are computed for one step of the index after another, from the
        first one up or from the last one `down`."""
        if self._scanned is not None or self._fused is not None:
            raise InputError("scan blocks do not nest, nor stand in fuse blocks; end the outer one first")
        self._scanned = []
        try:
            yield
            self._regions += scanned(self._scanned, Scan(index.name, down, self._scans))
            self._scans += 1
        finally:
            self._scanned = None

    def program(self) -> Program:
        """The program built so far. Raises InputError when it breaks a rule (see `check_program`)."""
        value = value_type(self.value) if isinstance(self.value, str) else self.value
        return assemble(
            self.name, self._declarations, self._regions, value=value, extents=self._computed_extents()
        )

    def _computed_extents(self) -> dict[str, int]:
        """The extents of the indices that statements compute with, and of those of scans."""
        statements = (statement for region in self._regions for statement in region.statements)
        read = (access for statement in statements for access in statement.accesses)
        found = {}
        computing = [name for a in read for index in a.computed for name in index.variables]
        computing += [region.scan.index for region in self._regions if region.scan is not None]
        for name in dict.fromkeys(computing):
            extents = self._extents.get(name, set())
            if len(extents) > 1:
                raise InputError(f"index '{name}' gets several extents; give it one, or use two indices")
            if extents:
                (found[name],) = extents
        return found
