"""One extent for each index: what the declared shapes say about the modes of all tensors."""

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

from samhw.frontend.expr import Access, Concat, Reshape

if TYPE_CHECKING:
    from samhw.frontend.program import Program, Statement

__all__ = ["unify"]

Mode = tuple[str, int]


def unify(program: "Program") -> dict[Mode, int | None]:
    """The extent of every mode, by (tensor name, position); None where no shape of the program fixes it.

    Modes that share an index in some statement share their extent (union-find over the modes). Reshapes and
    concatenations give the one extent that they leave open. Raises InputError, naming two tensors, when an
    index would need two extents, or when a reshape or a concatenation does not add up.
    """
    unifier = _Unifier(program)
    moves = []
    for statement in program.statements:
        unifier.share(statement)
        if statement.is_move:
            moves.append(statement)
    # What one of them fixes may be what another one lacks.
    while any(unifier.infer(statement) for statement in moves):
        pass
    return unifier.extents()


class _Unifier:
    """Classes of modes of equal extent, and the extent of each class as far as it is known."""

    def __init__(self, program: "Program") -> None:
        self.program = program
        self.parent: dict[Mode, Mode] = {}
        # Of a class: the extent, and the tensor that has it declared.
        self.known: dict[Mode, tuple[int, str]] = {}
        for decl in program.tensors.values():
            for position, extent in enumerate(decl.shape):
                mode = (decl.name, position)
                self.parent[mode] = mode
                if extent is not None:
                    self.known[mode] = (extent, decl.name)

    def extents(self) -> dict[Mode, int | None]:
        return {mode: self.extent(mode) for mode in self.parent}

    def extent(self, mode: Mode) -> int | None:
        root = self.find(mode)
        return self.known[root][0] if root in self.known else None

    def find(self, mode: Mode) -> Mode:
        parent = self.parent
        while parent[mode] != mode:
            parent[mode] = parent[parent[mode]]
            mode = parent[mode]
        return mode

    def share(self, statement: "Statement") -> None:
        """Unite the modes that have an index in common."""
        concatenated = statement.rhs.index if isinstance(statement.rhs, Concat) else None
        first: dict[str, Mode] = {}
        for access in statement.accesses:
            for position, index in enumerate(access.indices):
                if index != concatenated:
                    mode = (access.tensor, position)
                    self.unite(first.setdefault(index, mode), mode, index, access)

    def unite(self, one: Mode, other: Mode, index: str, access: Access) -> None:
        ours, theirs = self.find(one), self.find(other)
        if ours == theirs:
            return
        known = self.known
        if ours in known and theirs in known and known[ours][0] != known[theirs][0]:
            (extent, tensor), (other_extent, name) = known[ours], known[theirs]
            raise self.program.error(
                access.span,
                f"index '{index}' has extent {extent} in '{tensor}' but {other_extent} in '{name}'; "
                "give both tensors the same extent, or use two indices",
            )
        self.parent[theirs] = ours
        if theirs in known:
            known[ours] = known[theirs]

    def infer(self, statement: "Statement") -> bool:
        """Fix the last open extent of a reshape or a concatenation; whether there was one."""
        match statement.rhs:
            case Reshape(operand):
                return self.infer_reshape(statement, operand)
            case Concat():
                return self.infer_concat(statement, statement.rhs)
        raise TypeError(f"'{statement}' is no reshape or concatenation")

    def infer_reshape(self, statement: "Statement", operand: Access) -> bool:
        sides = [list(_modes(statement.lhs)), list(_modes(operand))]
        known = [prod(self.extent(mode) or 1 for mode in side) for side in sides]
        open_modes = [[mode for mode in side if self.extent(mode) is None] for side in sides]
        match open_modes:
            case ([], []) if known[0] != known[1]:
                raise self.program.error(
                    statement.rhs.span,
                    f"'{statement}' makes {known[0]} elements of {known[1]}; make the products of the "
                    "extents equal",
                )
            case ([mode], []):
                return self.fix(mode, known[1], known[0], statement)
            case ([], [mode]):
                return self.fix(mode, known[0], known[1], statement)
        return False

    def infer_concat(self, statement: "Statement", concat: Concat) -> bool:
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
            raise self.program.error(
                statement.rhs.span,
                f"'{statement}' puts {total + len(unknown)} coordinates into {length} along "
                f"'{concat.index}'; make the extents add up",
            )
        if len(unknown) == 1:
            self.known[self.find(unknown[0])] = (length - total, unknown[0][0])
        return len(unknown) == 1

    def fix(self, mode: Mode, elements: int, others: int, statement: "Statement") -> bool:
        """Give `mode` the extent that makes `elements` of it and the `others`."""
        if elements % others:
            raise self.program.error(
                statement.rhs.span,
                f"'{statement}' cannot make {elements} elements with extents of {others}; choose extents "
                "that divide",
            )
        self.known[self.find(mode)] = (elements // others, mode[0])
        return True


def _modes(access: Access) -> Iterator[Mode]:
    return ((access.tensor, position) for position in range(len(access.indices)))


def _mode_of(access: Access, index: str) -> Mode:
    return access.tensor, access.indices.index(index)
