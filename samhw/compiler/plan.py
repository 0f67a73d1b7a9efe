"""What is known while a fusion table is filled: where every operand stands, and what each reduction gave."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from samhw.compiler.einsum import Einsum, Reduce, View, free, operands, reductions, stored_format, views
from samhw.compiler.table import CellName, FusionTable, Primitive, Source
from samhw.errors import InputError
from samhw.frontend import Program, Statement
from samhw.tensors import LevelType

__all__ = ["Plan", "Reduced"]


@dataclass
class Reduced:
    """What a reduction gave: its values, and the coordinate streams that no row has taken up yet, outermost
    first."""

    val: Source
    pending: list[tuple[str, Source]] = field(default_factory=list)


class Plan:
    """A fusion table in the making.

    Attributes:
        position: the place of each index in the order of rows.
        cursor, level: the ref stream of each view as far as its rows are done, and the level that comes next.
        missing: the views whose refs may be EMPTY, so that a dense level below has no coordinates there.
        reduced: the reductions whose spaces are lowered.
    """

    def __init__(
        self,
        program: Program,
        statement: Statement,
        tree: Einsum,
        order: Sequence[str],
        extents: dict[str, int],
    ):
        self.program = program
        self.statement = statement
        self.tree = tree
        self.position = {index: n for n, index in enumerate(order)}
        self.extents = extents
        self.result = statement.lhs.tensor
        self.root = Primitive("root", "root", 0, {}).output("out")
        self.cursor: dict[View, Source] = dict.fromkeys(views(tree), self.root)
        self.level: dict[View, int] = dict.fromkeys(views(tree), 0)
        self.missing: set[View] = set()
        self.reduced: dict[Reduce, Reduced] = {}
        columns = [c.name for c in _columns(tree)]
        self.table = FusionTable(tuple(order), (*columns, self.result))
        self._name_columns()
        self._names: set[str] = set()

    def _name_columns(self) -> None:
        headings = self.table.headings
        for view in views(self.tree):
            headings[view.name] = f"{view.name}[{','.join(view.indices)}]" if view.indices else view.name
        for reduce in reductions(self.tree):
            kept = sorted(free(reduce), key=self.position.__getitem__)
            headings[reduce.name] = f"{reduce.name}[{','.join(kept)}]" if kept else reduce.name
        headings[self.result] = str(self.statement.lhs)

    def output_level(self, row: str) -> LevelType:
        """How the result stores an index of its own."""
        lhs = self.statement.lhs
        fmt = stored_format(self.program.tensors[lhs.tensor].format)
        stored = [lhs.indices[mode] for mode in fmt.mode_order]
        return fmt.levels[stored.index(row)]

    def make(
        self, kind: str, name: str, depth: int, sources: dict[str, Source], /, **params: object
    ) -> Primitive:
        """A planned primitive with a name of its own: the kind's, then the column's and the row's."""
        base = name if kind == "alu" else f"{kind}_{name}"
        unique, n = base, 1
        while unique in self._names:
            n += 1
            unique = f"{base}_{n}"
        self._names.add(unique)
        return Primitive(kind, unique, depth, sources, params)

    def text(self, source: Source) -> str:
        if isinstance(source, CellName):
            return str(source)
        return "root" if source == self.root else f"⟨{source.primitive.name}⟩"

    def refusal(self, reduce: Reduce, row: str) -> InputError:
        """The error for a reduction that a row would have to enter from the middle."""
        inner = self.reduced[reduce].pending[-1][0]
        return InputError(
            f"The sum over {reduce.index} gives a stream over {inner} inside of {row}, which other operands "
            "share, and a stream cannot be entered "
            f"from the middle; choose an order in which {reduce.index} comes after {row}."
        )


def _columns(e: Einsum) -> Iterable[View | Reduce]:
    """Views and intermediates, each intermediate behind its operands."""
    for operand in operands(e):
        yield from _columns(operand)
    if isinstance(e, View | Reduce):
        yield e
