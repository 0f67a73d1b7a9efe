"""From statements in the making to a program: storage orders, formats and names."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from samhw.graph.numerics.operations import vanishes_by_first
from samhw.importers.core.draft import Build, Made
from samhw.importers.core.element_types import settle
from samhw.importers.core.rewrites import loop_order, push_masks, without_deep
from samhw.importers.core.value import ScanBlock, Stored, TensorStep
from samhw.lang.check import check_program
from samhw.lang.declaration import TensorDecl
from samhw.lang.expr import Access, Call, Concat, Div, Expr, Mul, Neg, Reshape
from samhw.lang.index import ComputedIndex, Name, StepIndex
from samhw.lang.program import Program
from samhw.lang.statement import Region, Scan, Statement
from samhw.lang.traverse import with_accesses
from samhw.tensors import Format, LevelType

__all__ = ["Emitted", "Placed", "emit"]

Indices = tuple[str, ...]

SPARSE = 0.5
"""The share of a tensor's points up to which what follows its pattern is stored by it."""

_LETTERS = "ijklmnpqruvwxyzabcdefgh"


@dataclass(frozen=True)
class Placed:
    """How a tensor is stored: its own indices from the outermost level inwards, and its levels."""

    indices: Indices
    levels: tuple[LevelType, ...]

    @property
    def format(self) -> Format:
        return Format(self.levels, tuple(range(len(self.levels))))

    @property
    def is_sparse(self) -> bool:
        return not self.format.is_all_dense


@dataclass
class Emitted:
    """A program, how its tensors are stored, and which module computes each."""

    program: Program
    placed: dict[str, Placed]
    scopes: dict[str, str]


def emit(build: Build, name: str, outputs: Sequence[str]) -> Emitted:
    """The program that computes the outputs, and nothing that they do not need."""
    return _Emitter(build, name, outputs).program()


@dataclass
class _Emitter:
    build: Build
    name: str
    outputs: Sequence[str]
    placed: dict[str, Placed] = field(default_factory=dict)
    regions: list[Region] = field(default_factory=list)
    tensors: dict[str, TensorDecl] = field(default_factory=dict)
    scopes: dict[str, str] = field(default_factory=dict)
    letters: dict[int, str] = field(default_factory=dict)
    blocks: list[ScanBlock] = field(default_factory=list)
    reading: set[ScanBlock] = field(default_factory=set)
    """Scans that read present steps, so that something gives them their number."""

    def program(self) -> Emitted:
        made = [self.resolved(statement) for statement in self.needed()]
        push_masks(made)
        made = settle(self.build, without_deep(self.build, made))
        hinted = self.hinted_orders(made)
        self.blocks = list(dict.fromkeys(s.block for s in made if s.block is not None))
        for statement in made:
            steps = [step for read in statement.reads if (step := self.step(read.tensor)) is not None]
            self.reading |= {step.block for step in steps if not step.offset}
        for statement in made:
            self.place(statement, hinted.get(statement.lhs.tensor, ()))
        self.start()
        program = Program(self.name, self.tensors, tuple(self.regions))
        check_program(program)
        return Emitted(program, self.placed, self.scopes)

    def needed(self) -> list[Made]:
        """The statements that an output depends on."""
        wanted = set(self.outputs)
        known = -1
        # What a step reads of the one before is written after it: until nothing more is wanted.
        while known != len(wanted):
            known = len(wanted)
            for made in reversed(self.build.statements):
                if self.whole(made.lhs.tensor) in wanted:
                    wanted |= {self.whole(read.tensor) for read in made.reads}
                    if made.block is not None:
                        starts = made.block.starts.items()
                        wanted |= {start.tensor for tensor, start in starts if tensor in wanted}
        return [made for made in self.build.statements if self.whole(made.lhs.tensor) in wanted]

    def resolved(self, made: Made) -> Made:
        build = self.build
        mask = None if made.mask is None else build.resolve_access(made.mask)
        return replace(made, lhs=build.resolve_access(made.lhs), rhs=build.resolve_expr(made.rhs), mask=mask)

    def own(self, tensor: str) -> Indices:
        """A tensor's own indices."""
        return self.build.axes.resolved(self.build.stored[tensor].modes)

    def step(self, tensor: str) -> TensorStep | None:
        """Of which other tensor it is a step."""
        return self.build.stored[tensor].step

    def whole(self, tensor: str) -> str:
        """The tensor that has all steps of one; most tensors themselves."""
        step = self.step(tensor)
        return tensor if step is None else step.of

    def hinted_orders(self, made: Sequence[Made]) -> dict[str, Indices]:
        """By result, the order that its readers would like, handed on to what has the same indices."""
        orders: dict[str, Indices] = {}
        for statement in reversed(made):
            name = statement.lhs.tensor
            own = self.build.axes.resolved(self.build.stored[name].hints.order)
            if own:
                orders.setdefault(name, own)
            if name not in orders or statement.reduction != "sum":
                continue
            theirs = dict(zip(self.own(name), statement.lhs.names, strict=True))
            order = [theirs[index] for index in orders[name]]
            for read in statement.reads:
                if self.build.stored[read.tensor].fetch is None and set(order) <= set(read.names):
                    mine = dict(zip(read.names, self.own(read.tensor), strict=True))
                    orders.setdefault(read.tensor, tuple(mine[index] for index in order))
        return orders

    # One statement

    def place(self, made: Made, hinted: Indices) -> None:
        """Emits a statement, its result stored in the order of its loops."""
        if isinstance(made.rhs, Reshape):
            self.place_reshape(made, made.rhs)
            return
        if (step := self.step(made.lhs.tensor)) is not None:
            self.place_step(made, step)
            return
        theirs = dict(zip(self.own(made.lhs.tensor), made.lhs.names, strict=True))
        wanted = [theirs[index] for index in hinted]
        read = made.reads
        storage = [self.storage(access) for access in read]
        rows = [found or access.names for found, access in zip(storage, read, strict=True)]
        indices = tuple(dict.fromkeys(index for row in (*rows, made.lhs.names) for index in row))
        kept = indices if isinstance(made.rhs, Concat) else made.lhs.names
        ranks = () if made.rank is None else (made.rank,)
        indices, kept = (tuple(i for i in row if i not in ranks) for row in (indices, kept))
        wanted = [index for index in wanted if index not in ranks]
        order, against = loop_order(indices, storage, wanted, kept, innermost=made.innermost)
        order = (*order, *ranks)
        for number in against:
            made = self.transposed(made, read[number], order)
        self.write(made, order, self.pattern(made))

    def storage(self, access: Access) -> Indices:
        """The indices of an access in the order of its tensor's storage; none where that is free."""
        place = self.place_of(access.tensor)
        if place is None:
            return ()
        names = dict(zip(self.own(access.tensor), access.names, strict=True))
        return tuple(names[index] for index in place.indices)

    def place_of(self, tensor: str) -> Placed | None:
        """How a tensor is stored, if that is known; a step as the whole tensor without the steps."""
        step = self.step(tensor)
        if step is None:
            return self.placed.get(tensor) or self.fixed(tensor)
        whole = self.place_of(step.of)
        if whole is None:
            return None
        names = dict(zip(self.left(step), self.own(tensor), strict=True))
        rows = [row for row in zip(whole.indices, whole.levels, strict=True) if row[0] != step.index]
        kept = [(names[index], level.loaded) for index, level in rows]
        return Placed(tuple(i for i, _ in kept), tuple(level for _, level in kept))

    def left(self, step: TensorStep) -> Indices:
        """The own indices of a tensor but for that of its steps."""
        return tuple(index for index in self.own(step.of) if index != step.index)

    def fixed(self, tensor: str) -> Placed | None:
        """How an input is stored that has a format; None for any other tensor."""
        stored = self.build.stored[tensor]
        if stored.fetch is None or stored.hints.format is None:
            return None
        assert stored.example is not None
        shape = stored.example.shape
        fmt = Format.parse(stored.hints.format, len(shape))
        groups = iter(stored.modes)
        modes = [() if size == 1 else self.build.axes.resolved([next(groups)]) for size in shape]
        indices = [
            (index, level) for level, m in zip(fmt.levels, fmt.mode_order, strict=True) for index in modes[m]
        ]
        levels = tuple(level for _, level in indices)
        if any(level.misplaced(levels, depth) for depth, level in enumerate(levels)):
            # Modes of extent 1 have no index, and there is no level for it to be below.
            levels = Format.compressed(len(levels)).levels
        place = Placed(tuple(i for i, _ in indices), levels)
        self.placed[tensor] = place
        return place

    def transposed(self, made: Made, access: Access, order: Indices) -> Made:
        """The statement with a copy of an operand in the order of the loops."""
        build = self.build
        wanted = tuple(index for index in order if index in access.names)
        own = {index: build.axes.like(index) for index in wanted}
        scope = build.stored[made.lhs.tensor].scope
        name = build.name(f"{access.tensor}_t")
        modes = tuple(own[index] for index in wanted)
        build.stored[name] = Stored(name, modes, scope=scope, kind=build.stored[access.tensor].kind)
        copy = Made(Access.of(name, modes), access.renamed(own), block=made.block)
        place = self.place_of(access.tensor)
        assert place is not None
        levels = Format.sparse_in([place.is_sparse] * len(modes)).levels
        self.write(copy, modes, dict(zip(modes, levels, strict=True)))
        swap = Access.of(name, wanted)
        rhs = with_accesses(made.rhs, lambda read: swap if read == access else read)
        mask = swap if made.mask == access else made.mask
        return replace(made, rhs=rhs, mask=mask)

    def place_step(self, made: Made, step: TensorStep) -> None:
        """Emits the statement that writes the present step of a tensor: what that is as it is stored, so that
        nothing moves where the first reader of the tensor would have it so."""
        (read,) = made.reads
        if self.place_of(read.tensor) is None:
            self.free(read, made.lhs.names)
        if step.of not in self.placed:
            self.free(made.lhs, self.storage(read))
        order = self.storage(made.lhs)
        if self.storage(read) != order:
            made = self.transposed(made, read, order)
        self.write(made, (), {})

    def place_reshape(self, made: Made, rhs: Reshape) -> None:
        access = rhs.operand
        place = self.placed.get(access.tensor)
        if place is None or place.is_sparse or self.storage(access) != access.names:
            if place is None:
                self.free(access, access.names)
            else:
                made = self.dense_copy(made, access)
        self.write(made, made.lhs.names, {})

    def dense_copy(self, made: Made, access: Access) -> Made:
        """A reshape of a copy that is dense and in the order of the access."""
        build = self.build
        name = build.name(f"{access.tensor}_d")
        kind = build.stored[access.tensor].kind
        build.stored[name] = Stored(name, access.names, scope=build.stored[made.lhs.tensor].scope, kind=kind)
        copy = replace(access, tensor=name)
        self.write(Made(copy, access), access.names, {})
        return replace(made, rhs=Reshape(copy))

    def free(self, access: Access, order: Indices) -> None:
        """Stores an input that may be stored anyhow in the order of loops."""
        step = self.step(access.tensor)
        own = self.own(access.tensor) if step is None else self.left(step)
        names = dict(zip(access.names, own, strict=True))
        indices = tuple(names[index] for index in order if index in names)
        if step is not None:
            indices = (step.index, *indices)
        self.placed[self.whole(access.tensor)] = Placed(indices, Format.dense(len(indices)).levels)

    def write(self, made: Made, order: Indices, levels: Mapping[str, LevelType]) -> None:
        """Adds the declarations and the statement."""
        for access in made.reads:
            if self.place_of(access.tensor) is None:
                self.free(access, order)
        own = dict(zip(made.lhs.names, self.own(made.lhs.tensor), strict=True))
        if self.step(made.lhs.tensor) is None:
            lhs = tuple(index for index in order if index in made.lhs.names)
            dense = zip(lhs, Format.dense(len(lhs)).levels, strict=True)
            kinds = tuple(levels.get(index, level) for index, level in dense)
            self.placed[made.lhs.tensor] = Placed(tuple(own[index] for index in lhs), kinds)
        self.scopes[self.whole(made.lhs.tensor)] = self.build.stored[made.lhs.tensor].scope
        for access in made.reads:
            self.declare(access.tensor)
        # Nothing else gives these modes an extent.
        sized = made.lhs.names if isinstance(made.rhs, Reshape) else (made.rank,)
        self.declare(made.lhs.tensor, [own[index] for index in sized if index is not None])
        moves = isinstance(made.rhs, Reshape | Concat)
        statement = Statement(
            made.lhs,
            made.rhs,
            None if moves else order or None,
            reduction=made.reduction,
            mask=made.mask,
            scan=None if made.block is None else self.scan(made.block),
        )
        statement = statement.with_accesses(self.as_stored).renamed(self.named(made, order))
        self.regions.append(Region((statement.with_accesses(self.at_step),)))

    def as_stored(self, access: Access) -> Access:
        """The access with its indices in the order of the tensor's storage."""
        return Access.of(access.tensor, self.storage(access))

    # Scans

    def at_step(self, access: Access) -> Access:
        """A step as that of the tensor that has all of them."""
        step = self.step(access.tensor)
        if step is None:
            return access
        left = iter(access.indices)
        at = StepIndex(self.letter(step.block.index), step.offset)
        place = self.placed[step.of]
        return Access(step.of, tuple(at if index == step.index else next(left) for index in place.indices))

    def scan(self, block: ScanBlock) -> Scan:
        return Scan(self.letter(block.index), block.down, self.blocks.index(block))

    def start(self) -> None:
        """Says what scans start from."""
        scans = {
            n: replace(self.scan(block), starts=self.starts(block)) for n, block in enumerate(self.blocks)
        }
        for place, region in enumerate(self.regions):
            statements = (
                s if s.scan is None else replace(s, scan=scans[s.scan.number]) for s in region.statements
            )
            self.regions[place] = replace(region, statements=tuple(statements))

    def starts(self, block: ScanBlock) -> tuple[Statement, ...]:
        found = []
        for tensor, start in block.starts.items():
            if tensor in self.placed:
                access = self.build.resolve_access(start)
                names = dict(zip(self.own(tensor)[1:], access.names, strict=True))
                order = tuple(names[index] for index in self.placed[tensor].indices[1:])
                if self.place_of(access.tensor) is None:
                    self.free(access, order)
                self.declare(access.tensor)
                letters = self.letters_of(order)
                lhs = Access(tensor, (ComputedIndex((), -1), *(Name(letters[index]) for index in order)))
                found.append(Statement(lhs, self.as_stored(access).renamed(letters)))
        return tuple(found)

    # Names

    def named(self, made: Made, order: Indices) -> dict[str, str]:
        """Names for the indices of a statement: an axis has a letter, further indices on it a number too."""
        every = (*order, *made.lhs.names, *(i for access in made.reads for i in access.names))
        return self.letters_of(every, () if made.block is None else (self.letter(made.block.index),))

    def letters_of(self, indices: Sequence[str], taken: Collection[str] = ()) -> dict[str, str]:
        """The letters of the axes of indices, with numbers after those that others have, or that are
        taken."""
        names: dict[str, str] = {}
        for index in dict.fromkeys(indices):
            name, number = self.letter(index), 1
            while name in names.values() or name in taken:
                number += 1
                name = f"{self.letter(index)}{number}"
            names[index] = name
        return names

    def letter(self, index: str) -> str:
        key = self.build.axes.key(index)
        if key not in self.letters:
            number, place = divmod(len(self.letters), len(_LETTERS))
            self.letters[key] = _LETTERS[place] + (f"{number}_" if number else "")
        return self.letters[key]

    def declare(self, tensor: str, sized: Collection[str] = ()) -> None:
        """Declares a tensor, with the extents of some of its own indices."""
        step = self.step(tensor)
        if step is not None:
            tensor = step.of
            sized = sized if step.block in self.reading else (*sized, step.index)
        if tensor in self.tensors:
            return
        place = self.placed[tensor]
        names = self.letters_of(place.indices)
        shape = tuple(self.build.axes.size([i]) if i in sized else None for i in place.indices)
        kind = self.build.stored[tensor].kind
        self.tensors[tensor] = TensorDecl(tensor, tuple(names.values()), shape, place.format, kind)

    # Patterns

    def pattern(self, made: Made) -> dict[str, LevelType]:
        """The levels of a result that follows the pattern of its mask, or of a factor."""
        followed = [made.mask] if made.mask is not None else list(followed_by(made.rhs))
        lhs = set(made.lhs.names)
        for access in followed:
            if access is None:
                continue
            place = self.place_of(access.tensor)
            if place is None or not place.is_sparse or not set(access.names) <= lhs:
                continue
            if self.density(access.tensor) > SPARSE:
                continue
            return dict(zip(self.storage(access), place.format.of_result.levels, strict=True))
        return {}

    def density(self, tensor: str) -> float:
        """The share of an input's points that its example stores; of a result, whatever it was decided by."""
        example = self.build.stored[self.whole(tensor)].example
        return 0.0 if example is None else example.density


def followed_by(expr: Expr) -> Collection[Access]:
    """The accesses at whose zeros an expression is zero."""
    match expr:
        case Access():
            return [expr]
        case Mul(left, right):
            return [*followed_by(left), *followed_by(right)]
        case Div(left, _) | Neg(left):
            return followed_by(left)
        case Call(function, arguments) if vanishes_by_first(function):
            return followed_by(arguments[0])
    return []
