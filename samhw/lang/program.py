"""A program: einsum statements over named tensors, grouped into the regions that are fused."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from operator import index as as_int

from samhw.errors import InputError
from samhw.graph.numerics import ValueType
from samhw.lang.declaration import MAX_EXTENT, TensorDecl
from samhw.lang.dimensions import Dimensions
from samhw.lang.expr import TYPED, Call
from samhw.lang.index import Indirect
from samhw.lang.source import Source, Span, error_at
from samhw.lang.statement import Region, Statement
from samhw.lang.traverse import walk
from samhw.words import did_you_mean, html_scroll, html_text

__all__ = ["Program"]


@dataclass(frozen=True)
class Program:
    """Regions in the order in which they run, over `tensors`: a declaration for every tensor, by name.

    The name is a label for reports and takes no part in equality. `source` is the text of a parsed program.
    """

    name: str = field(compare=False)
    tensors: Mapping[str, TensorDecl] = field(hash=False)
    regions: tuple[Region, ...]
    source: Source | None = field(default=None, compare=False, repr=False)
    value: ValueType | None = None
    """The value type that its text asks for: of all tensors that have none of their own."""
    is_typed: bool = field(default=False, compare=False, repr=False)
    """Its types are written out (`samhw.lang.typed`): every tensor of its text has one, and every operation
    is on operands of one type."""
    written: tuple[str, ...] | None = field(default=None, compare=False, repr=False)
    """The results in the order of the text, where the statements have another one: dimensions are named by
    it."""
    named: Mapping[tuple[str, int], str] = field(default_factory=dict, compare=False, repr=False)
    """By tensor and mode, how dimensions were called before the program was rewritten, and are called
    still."""
    index_extents: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Extents of indices, in whatever statement they are."""

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """The statements of all regions, in order."""
        return tuple(statement for region in self.regions for statement in region.statements)

    @property
    def starts(self) -> tuple[Statement, ...]:
        """The statements that say what scans start from."""
        scans = dict.fromkeys(region.scan for region in self.regions if region.scan is not None)
        return tuple(start for scan in scans for start in scan.starts)

    @cached_property
    def inputs(self) -> tuple[TensorDecl, ...]:
        """The tensors that no statement writes: they come from the user."""
        written = self._written
        return tuple(decl for decl in self.tensors.values() if decl.name not in written)

    @property
    def operands(self) -> tuple[TensorDecl, ...]:
        """The inputs that a statement reads: those that a run takes data for."""
        read = self._read()
        return tuple(decl for decl in self.inputs if decl.name in read)

    @cached_property
    def is_mixed(self) -> bool:
        """Whether tensors have types of their own, or expressions name types."""
        nodes = (node for statement in self.statements for node in walk(statement.rhs))
        return any(decl.value is not None for decl in self.tensors.values()) or any(
            isinstance(node, Call) and node.function in TYPED for node in nodes
        )

    @cached_property
    def index_tensors(self) -> frozenset[str]:
        """The inputs whose numbers are coordinates of other tensors."""
        return frozenset(
            index.tensor
            for statement in self.statements
            for access in statement.accesses
            for index in access.index_tensors
        )

    def places(self, index_tensor: str) -> int | None:
        """How many places an index tensor may name: the least extent of the modes whose coordinates it gives;
        None where nothing fixes them."""
        extents = [
            self.tensors[access.tensor].shape[mode]
            for statement in self.statements
            for access in statement.accesses
            for mode, index in enumerate(access.indices)
            if isinstance(index, Indirect) and index.tensor == index_tensor
        ]
        return min((extent for extent in extents if extent is not None), default=None)

    @property
    def outputs(self) -> tuple[TensorDecl, ...]:
        """The tensors that a statement writes and none reads: the program's results. What a scan alone reads
        of earlier steps is one."""
        read = self._read(earlier_steps=False)
        return tuple(self.tensors[name] for name in self._written if name not in read)

    @property
    def intermediates(self) -> tuple[TensorDecl, ...]:
        """The tensors that one statement writes and another reads."""
        read = self._read()
        return tuple(self.tensors[name] for name in self._written if name in read)

    @cached_property
    def dimensions(self) -> Dimensions:
        """Which modes of which tensors share an extent, and which it is.

        Raises InputError, naming two tensors, when an index would need two extents, or when a reshape or a
        concatenation does not add up. A program that has been checked has none of that.
        """
        statements = (*self.statements, *self.starts)
        if self.written is not None:
            place = {tensor: n for n, tensor in enumerate(self.written)}
            statements = tuple(sorted(statements, key=lambda s: place.get(s.lhs.tensor, len(place))))
        return Dimensions(self.tensors, statements, self.source, self.named, self.index_extents)

    def extents(self, statement: Statement) -> dict[str, int | None]:
        """The extent of each index of `statement`, in the order of `Statement.indices`; None where nothing
        fixes it."""
        dimension = self.dimensions.of_statement(statement)
        return {index: self.dimensions.extents[dimension[index]] for index in statement.indices}

    def steps(self, statement: Statement) -> int | None:
        """How many steps the scan of a statement has; None where nothing fixes that, or where it has none."""
        if statement.scan is None:
            return None
        return self.dimensions.extents[self.dimensions.of_statement(statement)[statement.scan.index]]

    def bind(self, shapes: Mapping[str, tuple[int, ...]]) -> "Program":
        """This program with the extents that `shapes` (tensor name -> shape) and the statements fix.

        An index gives its extent to every tensor that uses it, so the shapes of the inputs are enough to know
        the shapes of all results. Raises InputError when a name is unknown or when shapes disagree.
        """
        tensors = dict(self.tensors)
        for name, shape in shapes.items():
            if name not in tensors:
                raise InputError(
                    f"program '{self.name}' has no tensor '{name}'{did_you_mean(name, tensors)}; its tensors "
                    f"are {', '.join(tensors)}"
                )
            tensors[name] = tensors[name].of_shape(tuple(map(as_int, shape)))
        bound = self if tensors == self.tensors else replace(self, tensors=tensors)
        dimensions = bound.dimensions
        found = replace(
            bound,
            tensors={
                name: replace(
                    decl,
                    shape=tuple(dimensions.extents[d] for d in dimensions.of_tensor(name)),
                    declared=self.tensors[name].unbound.shape,
                )
                for name, decl in tensors.items()
            },
        )
        # The shapes are those that its dimensions have given it.
        vars(found)["dimensions"] = dimensions
        return found

    def in_regions(self, regions: Iterable[Region]) -> "Program":
        """The same statements in the same order, in other regions."""
        other = replace(self, regions=tuple(regions))
        # What follows from the statements alone need not be found again.
        vars(other).update(dimensions=self.dimensions, inputs=self.inputs, _readers=self._readers)
        return other

    def regrouped(self, regions: Iterable[Region]) -> "Program":
        """The same statements in other regions, in any order that the data flow permits. Dimensions keep
        their names."""
        other = replace(self, regions=tuple(regions))
        if tuple(other._written) != tuple(self._written):
            other = replace(other, written=self.written or tuple(self._written))
        # They follow from the statements as they were written.
        vars(other)["dimensions"] = self.dimensions
        return other

    def with_alike(
        self, tensors: Iterable[TensorDecl], like: Mapping[str, str], regions: Iterable[Region]
    ) -> "Program":
        """A program with further tensors, each with the modes of another one, in whose place its statements
        may use it."""
        added = {decl.name: decl for decl in tensors}
        other = replace(self, tensors={**self.tensors, **added}, regions=tuple(regions))
        vars(other)["dimensions"] = self.dimensions.extended(like)
        return other

    def leaving(self, region: Region) -> tuple[str, ...]:
        """The results of a region that are stored: others read them, or nobody does."""
        written = set(region.written)
        return tuple(
            tensor
            for tensor in region.written
            if not self.readers(tensor) <= written or tensor not in self._readers
        )

    def readers(self, tensor: str) -> frozenset[str]:
        """The results of the statements that read a tensor."""
        return self._readers.get(tensor, frozenset())

    def is_read(self, tensor: str) -> bool:
        """Whether a statement reads a tensor."""
        return tensor in self._readers

    def with_extents(self, extents: Mapping[str, int]) -> "Program":
        """This program with these extents of its dimensions, as if its text declared them. Those that
        reshapes and concatenations leave open follow.

        Raises InputError for a name that no dimension has, one that has another extent, or extents that do
        not go together.
        """
        dimensions = self.dimensions
        for name, extent in extents.items():
            if name not in dimensions.extents:
                raise InputError(
                    f"'{self.name}' has no index '{name}' to give an "
                    f"extent{did_you_mean(name, dimensions.extents)}; it has "
                    f"{', '.join(dimensions.extents)}."
                )
            if not 1 <= extent <= MAX_EXTENT:
                raise InputError(f"Index {name} cannot have extent {extent}; give 1 to {MAX_EXTENT:,}.")
            if dimensions.extents[name] not in (None, extent):
                has = dimensions.extents[name]
                raise InputError(
                    f"'{self.name}' says that {name}={has}, and not {extent}; change it there, or give {has}."
                )
        tensors = {
            name: replace(
                decl, shape=tuple(extents.get(d, dimensions.extents[d]) for d in dimensions.of_tensor(name))
            )
            for name, decl in self.tensors.items()
        }
        return replace(self, tensors=tensors).bind({})

    def check_operand(self, name: str) -> None:
        """Raises `InputError` for a name that is not that of an operand."""
        names = [decl.name for decl in self.operands]
        if name not in names:
            raise InputError(f"'{self.name}' reads no tensor '{name}'; it reads {', '.join(names)}.")

    def check_computed(self, table: str, names: Iterable[str]) -> None:
        """Raises `InputError` if one of the names in a table of a schedule is that of no result."""
        computed = self._written
        for name in names:
            if name not in computed:
                raise InputError(
                    f"'{table}' names '{name}', which no statement of '{self.name}' computes; its statements "
                    f"compute {', '.join(computed)}."
                )

    @property
    def unbound(self) -> "Program":
        """This program as it was before `bind`: with no extents but those of its text."""
        return replace(self, tensors={name: decl.unbound for name, decl in self.tensors.items()})

    @property
    def text(self) -> str:
        """This program in its text form."""
        lines = [] if self.value is None else [f"value {self.value}"]
        if self.index_extents:
            lines.append(f"index {', '.join(f'{i}={extent}' for i, extent in self.index_extents.items())}")
        lines += [str(decl) for decl in self.tensors.values()]
        for scan, regions in groupby(self.regions, lambda region: region.scan):
            own = [line for region in regions for line in region.lines]
            lines += own if scan is None else [f"{scan} {{", *(f"  {line}" for line in own), "}"]
            lines += [] if scan is None else map(str, scan.starts)
        return "\n".join(lines) + "\n"

    @property
    def summary(self) -> str:
        """It in a few words: its name, and its statement if there is one."""
        statements = self.statements
        return f"{self.name}, {statements[0] if len(statements) == 1 else f'{len(statements)} statements'}"

    def __repr__(self) -> str:
        return f"<Program {self.summary}>"

    def _repr_html_(self) -> str:
        return html_scroll(html_text(self.text))

    def error(self, span: Span | None, message: str) -> InputError:
        """`message` as an error about this program, with the place in its text where there is one."""
        return error_at(self.source, span, message)

    @cached_property
    def _readers(self) -> dict[str, frozenset[str]]:
        """For each tensor that is read, the results of the statements that do."""
        readers: dict[str, set[str]] = {}
        for statement in (*self.statements, *self.starts):
            for access in statement.reads:
                readers.setdefault(access.tensor, set()).add(statement.lhs.tensor)
        return {tensor: frozenset(names) for tensor, names in readers.items()}

    @cached_property
    def _written(self) -> dict[str, None]:
        return dict.fromkeys(statement.lhs.tensor for statement in self.statements)

    def _read(self, *, earlier_steps: bool = True) -> set[str]:
        """The tensors that are read, or that are but for earlier steps by the scan that writes them."""
        home = {s.lhs.tensor: s.scan for s in self.statements if s.lhs.step is not None}
        return {
            access.tensor
            for statement in (*self.statements, *self.starts)
            for access in statement.reads
            if earlier_steps
            or access.step is None
            or not access.step[1].offset
            or statement.scan is None
            or home.get(access.tensor) != statement.scan
        }
