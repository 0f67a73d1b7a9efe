"""The dimensions of a program: indices that always have one extent are one dimension.

Every access of a tensor ties the indices to its modes, so `A[i,k] * A[k,j]` has a single dimension. Only the
parts of a concatenation have dimensions of their own along its index. A build has one register for the extent
of each, however many indices of however many statements run over it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from math import prod

from samhw.lang.declaration import TensorDecl
from samhw.lang.expr import Access, Concat, Reshape
from samhw.lang.index import ComputedIndex
from samhw.lang.source import Source, error_at
from samhw.lang.statement import Statement
from samhw.names import Names

__all__ = ["Dimensions"]

Mode = tuple[str, int]
"""A tensor's name, and a position among its indices."""


class Dimensions:
    """The dimension of every mode of a program's tensors, and with it of every index of its statements.

    A dimension is named like the first index that runs over it, with a number after it if that name is
    taken. `Program.dimensions` has those of a program.

    Attributes:
        extents: of each dimension, in the order of the tensors' modes; None where no shape fixes it. Reshapes
            and concatenations give the one extent that they leave open.

    Args:
        source: the program's text, for errors.
        given: names that dimensions have already, by a mode of each.
        index_extents: extents of indices, in whatever statement they are.

    Raises:
        InputError: when a dimension would need two extents, naming two tensors; and when a reshape or a
            concatenation does not add up.
    """

    def __init__(
        self,
        tensors: Mapping[str, TensorDecl],
        statements: Sequence[Statement],
        source: Source | None = None,
        given: Mapping[Mode, str] | None = None,
        index_extents: Mapping[str, int] | None = None,
    ):
        classes = _Classes(tensors, statements, source, index_extents or {})
        indices = [index for statement in statements for index in statement.indices]
        indices += [index for decl in tensors.values() for index in decl.indices]
        names = Names(indices)
        named: dict[Mode, str] = {}

        def name(mode: Mode, wish: str) -> str:
            root = classes.find(mode)
            if root not in named:
                named[root] = names.own(wish)
            return named[root]

        for mode, wish in (given or {}).items():
            if mode[0] in tensors:
                name(mode, wish)
        for statement in statements:
            modes = {index: mode for index, _, mode in _tied(statement)}
            for index in statement.indices:
                name(modes[index], index)
        self._of_mode: dict[Mode, str] = {}
        self.extents: dict[str, int | None] = {}
        for decl in tensors.values():
            for position, index in enumerate(decl.indices):
                mode = (decl.name, position)
                dimension = self._of_mode[mode] = name(mode, index)
                self.extents[dimension] = classes.extent(mode)
        for statement in statements:
            for index, mode in _own_modes(statement):
                dimension = self._of_mode[mode] = name(mode, index)
                self.extents[dimension] = classes.extent(mode)
        self._rank = {decl.name: decl.rank for decl in tensors.values()}
        self._names = frozenset((*indices, *self.extents))

    def of_tensor(self, tensor: str) -> tuple[str, ...]:
        """The dimension of each mode."""
        return tuple(self._of_mode[tensor, mode] for mode in range(self._rank[tensor]))

    def of_statement(self, statement: Statement) -> dict[str, str]:
        """The dimension of each index; of that of a concatenation, the whole's."""
        return {index: self._of_mode[mode] for index, _, mode in _tied(statement)}

    def of_index(self, access: Access, index: str) -> str:
        """The dimension of the mode that an access has an index for."""
        return self._of_mode[_mode_of(access, index)]

    def shape(self, tensor: str, extents: Mapping[str, int]) -> tuple[int, ...]:
        """The shape of a tensor, with these extents of the dimensions."""
        return tuple(extents[dimension] for dimension in self.of_tensor(tensor))

    def extended(self, like: Mapping[str, str]) -> "Dimensions":
        """With further tensors, each with the modes of another one."""
        other = copy(self)
        modes = {
            (name, mode): self._of_mode[of, mode]
            for name, of in like.items()
            for mode in range(self._rank[of])
        }
        other._of_mode = self._of_mode | modes
        other._rank = self._rank | {name: self._rank[of] for name, of in like.items()}
        return other

    def renamed(
        self, tensors: Mapping[str, str], names: Mapping[str, str], indices: Iterable[str]
    ) -> "Dimensions":
        """Those of some tensors alone, under other names.

        Args:
            tensors: the names that these have, by those that they had.
            names: likewise of their dimensions.
            indices: of the statements that are left.
        """
        other = copy(self)
        other._of_mode = {
            (name, mode): names[dimension]
            for old, name in tensors.items()
            for mode, dimension in enumerate(self.of_tensor(old))
        }
        other._rank = {name: self._rank[old] for old, name in tensors.items()}
        other.extents = {names[d]: extent for d, extent in self.extents.items() if d in names}
        other._names = frozenset((*indices, *other.extents))
        return other

    def fresh(self, wish: str) -> str:
        """A name for one more dimension: the wish, with a number after it if an index or a dimension has
        it."""
        return Names(self._names).fresh(wish)


class _Classes:
    """Classes of modes of equal extent, by union and find, and the extent of each as far as it is known."""

    def __init__(
        self,
        tensors: Mapping[str, TensorDecl],
        statements: Sequence[Statement],
        source: Source | None,
        index_extents: Mapping[str, int],
    ) -> None:
        self.source = source
        self.parent: dict[Mode, Mode] = {}
        # Of a class: the extent, and the tensor that has it declared.
        self.known: dict[Mode, tuple[int, str]] = {}
        for decl in tensors.values():
            for position, extent in enumerate(decl.shape):
                mode = (decl.name, position)
                self.parent[mode] = mode
                if extent is not None:
                    self.known[mode] = (extent, decl.name)
        for statement in statements:
            first: dict[str, Mode] = {}
            for _, mode in _own_modes(statement):
                self.parent.setdefault(mode, mode)
            for index, access, mode in _tied(statement):
                self.unite(first.setdefault(index, mode), mode, index, access)
                if index in index_extents:
                    self.fix_index(mode, index, index_extents[index], access)
        inferred = [s for s in statements if s.is_move or _computing(s)]
        # What one of them fixes may be what another one lacks.
        while any(self.infer(statement) for statement in inferred):
            pass

    def extent(self, mode: Mode) -> int | None:
        root = self.find(mode)
        return self.known[root][0] if root in self.known else None

    def find(self, mode: Mode) -> Mode:
        parent = self.parent
        while parent[mode] != mode:
            parent[mode] = parent[parent[mode]]
            mode = parent[mode]
        return mode

    def unite(self, one: Mode, other: Mode, index: str, access: Access) -> None:
        ours, theirs = self.find(one), self.find(other)
        if ours == theirs:
            return
        known = self.known
        if ours in known and theirs in known and known[ours][0] != known[theirs][0]:
            (extent, tensor), (other_extent, name) = known[ours], known[theirs]
            raise error_at(
                self.source,
                access.span,
                f"index '{index}' has extent {extent} in '{tensor}' but {other_extent} in '{name}'; "
                "give both tensors the same extent, or use two indices",
            )
        self.parent[theirs] = ours
        if theirs in known:
            known[ours] = known[theirs]

    def fix_index(self, mode: Mode, index: str, extent: int, access: Access) -> None:
        """Give an index the extent that it has wherever it is used."""
        found, tensor = self.known.setdefault(self.find(mode), (extent, f"index {index}={extent}"))
        if found != extent:
            raise error_at(
                self.source,
                access.span,
                f"index '{index}' has extent {found} in '{tensor}', and is declared with {index}={extent}; "
                "give it one extent, or use two indices",
            )

    def infer(self, statement: Statement) -> bool:
        """Fix the last open extent of a reshape or a concatenation, or of an index that a statement computes
        with; whether there was one."""
        if not statement.is_move:
            return self.infer_computed(statement)
        match statement.rhs:
            case Reshape(operand):
                return self.infer_reshape(statement, operand)
            case Concat():
                return self.infer_concat(statement, statement.rhs)
        raise TypeError(f"'{statement}' is no reshape or concatenation")

    def infer_reshape(self, statement: Statement, operand: Access) -> bool:
        stays = {*statement.lhs.names} & {*operand.names}
        sides = [
            [mode for mode, name in zip(_modes(access), access.names, strict=True) if name not in stays]
            for access in (statement.lhs, operand)
        ]
        known = [prod(self.extent(mode) or 1 for mode in side) for side in sides]
        open_modes = [[mode for mode in side if self.extent(mode) is None] for side in sides]
        match open_modes:
            case ([], []) if known[0] != known[1]:
                raise error_at(
                    self.source,
                    statement.rhs.span,
                    f"'{statement}' makes {known[0]} elements of {known[1]}; make the products of the "
                    "extents equal",
                )
            case ([mode], []):
                return self.fix(mode, known[1], known[0], statement)
            case ([], [mode]):
                return self.fix(mode, known[0], known[1], statement)
        return False

    def infer_concat(self, statement: Statement, concat: Concat) -> bool:
        whole = _mode_of(statement.lhs, concat.index)
        parts = [_mode_of(access, concat.index) for access in concat.operands]
        length = self.extent(whole)
        total = sum(self.extent(mode) or 0 for mode in parts)
        unknown = [mode for mode in parts if self.extent(mode) is None]
        if length is None:
            if not unknown:
                self.known[self.find(whole)] = (total, whole[0])
            return not unknown
        if total + len(unknown) > length or (not unknown and total != length):
            raise error_at(
                self.source,
                statement.rhs.span,
                f"'{statement}' puts {total + len(unknown)} coordinates into {length} along "
                f"'{concat.index}'; make the extents add up",
            )
        if len(unknown) == 1:
            self.known[self.find(unknown[0])] = (length - total, unknown[0][0])
        return len(unknown) == 1

    def infer_computed(self, statement: Statement) -> bool:
        """Of what each access leaves inside of its tensor, the least."""
        reads = [
            (index, (access.tensor, mode), access)
            for access in statement.reads
            for mode, index in enumerate(access.indices)
            if isinstance(index, ComputedIndex)
        ]
        for variable in dict.fromkeys(name for index, _, _ in reads for name in index.variables):
            own = _own_mode(statement, variable)
            using = [read for read in reads if variable in read[0].variables]
            if self.extent(own) is None and (found := self.extents_inside(statement, variable, using)):
                if min(found) < 1:
                    raise error_at(
                        self.source,
                        using[0][2].span,
                        f"'{using[0][2]}' lies outside of '{using[0][2].tensor}' for every {variable}; use "
                        f"smaller numbers, or declare the extent, as in 'index {variable}=8'",
                    )
                self.known[self.find(own)] = (min(found), using[0][2].tensor)
                return True
        return False

    def extents_inside(
        self, statement: Statement, variable: str, using: Sequence[tuple[ComputedIndex, Mode, Access]]
    ) -> list[int]:
        """For each use of a variable, its greatest extent; nothing, while an extent is missing or one of them
        leaves it open."""
        found = []
        for index, mode, _ in using:
            others = {n: self.extent(_own_mode(statement, n)) for n in index.variables if n != variable}
            known = {name: extent for name, extent in others.items() if extent is not None}
            extent = self.extent(mode)
            if extent is None or len(known) < len(others):
                return []
            inside = index.extent_inside(variable, extent, known)
            if inside is None:
                return []
            found.append(inside)
        return found

    def fix(self, mode: Mode, elements: int, others: int, statement: Statement) -> bool:
        """Give `mode` the extent that makes `elements` of it and the `others`."""
        if elements % others:
            raise error_at(
                self.source,
                statement.rhs.span,
                f"'{statement}' cannot make {elements} elements with extents of {others}; choose extents "
                "that divide",
            )
        self.known[self.find(mode)] = (elements // others, mode[0])
        return True


def _tied(statement: Statement) -> Iterator[tuple[str, Access, Mode]]:
    """The indices of a statement, each with an access that has it and the mode there, of one extent."""
    concatenated = statement.rhs.index if isinstance(statement.rhs, Concat) else None
    for variable, mode in _own_modes(statement):
        yield variable, statement.lhs, mode
    for access in statement.accesses:
        if access.step is not None and not access.step[1].offset:
            yield access.step[1].index, access, (access.tensor, access.step[0])
        for index, mode in zip(access.own_names, _modes(access), strict=True):
            # What an index tensor names, or an expression computes, has an extent of its own.
            if index is not None and (index != concatenated or access is statement.lhs):
                yield index, access, mode


def _computing(statement: Statement) -> tuple[str, ...]:
    """The indices that a statement computes with, which no tensor need have."""
    return tuple(
        dict.fromkeys(
            n for access in statement.accesses for index in access.computed for n in index.variables
        )
    )


def _own_modes(statement: Statement) -> list[tuple[str, Mode]]:
    """The indices of a statement that no tensor need have, and what stands for a mode of each: those that it
    computes with, and that of its scan, which all statements of the block share."""
    found = [(index, _own_mode(statement, index)) for index in _computing(statement)]
    if statement.scan is not None:
        found.append((statement.scan.index, (f"{statement.scan} {statement.scan.number}", 0)))
    return found


def _own_mode(statement: Statement, index: str) -> Mode:
    """What stands for a mode of an index that a statement computes with."""
    return f"{statement.lhs.tensor} {index}", 0


def _modes(access: Access) -> Iterator[Mode]:
    return ((access.tensor, position) for position in range(len(access.indices)))


def _mode_of(access: Access, index: str) -> Mode:
    return access.tensor, access.own_names.index(index)
