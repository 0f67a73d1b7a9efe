"""A row that is about to be entered, for tests of what lowers it."""

from samhw.compiler.einsum import Einsum, Intermediate, View
from samhw.compiler.fusion_table import Feed, PlannedNode, PlannedOutput
from samhw.compiler.lowering.advance import Goal, RowEnd
from samhw.compiler.lowering.builder import TableBuilder
from samhw.compiler.lowering.bundles import Bundles
from samhw.compiler.lowering.joiners import StreamJoiner
from samhw.compiler.lowering.lockstep import Bundle, Lockstep, Meeting
from samhw.compiler.lowering.row import OpenRow
from samhw.compiler.lowering.scans import Scanner
from samhw.compiler.lowering.space import RowStream, ValueStream
from samhw.graph.numerics import Integer
from samhw.names import Names
from samhw.tensors.formats import LevelType, level_type

COMPRESSED, DENSE = level_type("compressed"), level_type("dense")


def view(name: str, level: LevelType = COMPRESSED, *, index: str = "i") -> View:
    return View(name, name, (index,), (level,))


A, B, X = view("A"), view("B"), view("X")
D, E = view("D", DENSE), view("E", DENSE)


class Row:
    """A row i that is about to be entered, and what lowers it."""

    def __init__(self) -> None:
        dimension, extents = {"i": "i", "j": "j"}, {"i": 8, "j": 8}
        self.builder = TableBuilder("Y[i] = ..", ("i", "j"), dimension, extents, Names(), Integer(32))
        self.space = self.builder.space()
        self.open = OpenRow(self.builder, self.space, "i")
        self.scanner = Scanner(self.open)
        self.joiner = StreamJoiner(self.open)

    def bundle(self, e: Einsum) -> Bundle:
        """What e has at the row."""
        bundle = Bundles(self.open, self.scanner, self.joiner).of(e)
        assert bundle is not None
        return bundle

    def scan(self, view: View) -> Lockstep:
        """The coordinates of a view, scanned."""
        bundle = self.bundle(view)
        return bundle.stream or self.scanner.dense(bundle)

    def nested(self, name: str) -> Lockstep:
        """A stream with a further row inside."""
        operand = Intermediate(name, view(f"{name}_operand"))
        node = PlannedNode("reduce_vector", name, 1, {})
        rows = (RowStream("i", node.output("crd1"), None), RowStream("j", node.output("crd0"), None))
        self.space.streams[operand] = ValueStream(node.output("val"), rows)
        stream = self.bundle(operand).stream
        assert stream is not None
        return stream

    def finish(self, bundle: Bundle, dense: str = "") -> tuple[RowStream, Bundle]:
        """The end of the row, of a result that is dense in those indices."""
        return RowEnd(self.open, self.scanner, self.joiner, Goal("Y", frozenset(dense))).finish(bundle)


def made(source: Feed) -> PlannedOutput:
    """A stream that a node of the row gives, and no cell elsewhere."""
    assert isinstance(source, PlannedOutput)
    return source


def kind(source: Feed) -> str:
    """Of the planned node that gives a stream."""
    return made(source).node.kind


def name(source: Feed) -> str:
    """Of the planned node that gives a stream."""
    return made(source).node.name


def scans(source: Feed) -> list[str]:
    """The nodes after a joiner."""
    return [name(feed) for feed in made(source).node.inputs.values()]


def partial_leader(row: Row) -> Lockstep:
    """Every coordinate, at some of which X is EMPTY, although it has a value."""
    narrowed = row.joiner.join(Meeting.INTERSECTION, [row.scan(X), row.scan(A)])
    return row.joiner.join(Meeting.UNION, [narrowed, row.scan(view("D", DENSE))])
