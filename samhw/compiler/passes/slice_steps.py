"""Scans: what a step reads and writes of tensors that have all steps becomes tensors of their own, without
the scan's index, which lie in the memories of the whole ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TypeVar

from samhw.compiler.passes.lowerable import Lowerable, StepSlice
from samhw.errors import InputError
from samhw.lang import Access, Region, Scan, Statement, StepIndex, TensorDecl
from samhw.names import Names
from samhw.tensors import Format

__all__ = ["slice_steps"]

T = TypeVar("T")


def slice_steps(lowerable: Lowerable) -> Lowerable:
    """The program in which the statements of scans are over slices alone.

    Of `H[t, h] = X[t, k] * W[k, h] + H[t-1, h]`, in a scan over t, come slices that are read, `X_now[k] =
    X[t, k]` and `H_before[h] = H[t-1, h]`, then the statement `H_now[h] = X_now[k] * W[k, h] + H_before[h]`,
    and the slice that is written, `H[t, h] = H_now[h]`. For the slices no region has anything to do: the
    machine reads and writes the steps of the whole tensors where they lie. What stores t in a level that is
    not the outermost one, or in a compressed one, is copied before the scan; a state that does is written in
    another mode order, and copied from it after the scan.

    Raises:
        InputError: for a tensor in blocks, or of a format whose steps cannot be reached.
    """
    if all(region.scan is None for region in lowerable.program.regions):
        return lowerable
    return _Slicer(lowerable).sliced()


@dataclass
class _Slicer:
    """A program in the making."""

    given: Lowerable
    tensors: dict[str, TensorDecl] = field(default_factory=dict)
    regions: list[Region] = field(default_factory=list)
    slices: dict[str, StepSlice] = field(default_factory=dict)
    entries: dict[str, int] = field(default_factory=dict)
    """The most entries of further tensors."""

    def __post_init__(self) -> None:
        self.program = self.given.program
        self.names = Names(self.program.tensors)
        self.counters = Names()

    def sliced(self) -> Lowerable:
        for scan, regions in groupby(self.program.regions, lambda region: region.scan):
            if scan is None:
                self.regions += regions
            else:
                _Block(self, scan, tuple(regions)).add()
        tensors = {**self.program.tensors, **self.tensors}
        written = tuple(s.lhs.tensor for region in self.regions for s in region.statements)
        made = replace(self.program, tensors=tensors, regions=tuple(self.regions), written=written).bind({})
        found = self.given.with_program(made, entries=self.entries)
        return replace(found, slices={**self.given.slices, **self.slices})

    def declare(self, wish: str, indices: Sequence[str], storage: Format | None, of: str) -> str:
        """A further tensor, of whose entries another one has all."""
        name = self.names.fresh(wish)
        assert storage is not None
        if not storage.is_all_dense:
            self.entries[name] = self.given.capacity.entries_of(of)
        value = (self.tensors.get(of) or self.program.tensors[of]).value
        self.tensors[name] = TensorDecl(name, tuple(indices), (None,) * len(indices), storage, value)
        return name


class _Block:
    """A scan, whose statements are taken over."""

    def __init__(self, slicer: _Slicer, scan: Scan, regions: Sequence[Region]):
        self.slicer = slicer
        self.program = slicer.program
        self.regions = regions
        self.counter = slicer.counters.fresh(scan.index)
        self.statements = [s for region in regions for s in region.statements]
        self.before: list[Region] = []
        self.after: list[Region] = []
        self.read: dict[tuple[str, int, int], str] = {}
        """The slices that are read, by tensor, mode and offset."""
        self.written: dict[str, str] = {}
        """The slice in whose place the steps of a state are written, by the tensor in which they lie."""
        self.ready: dict[str, str] = {}
        """For what is copied before the scan, the copy."""
        self.copied: dict[str, str] = {}
        """For each tensor that is added to have the steps outermost, the one that it stands for."""
        self.found: list[Statement] = []
        """The statements that are slices already, as this pass leaves them."""
        self.check_blocks(scan)
        self.states = {
            s.lhs.tensor: self.state(s.lhs.tensor, s.lhs.step[0]) for s in self.statements if s.lhs.step
        }
        """For each tensor that the scan writes step by step, the one in which the steps lie."""
        self.started: set[tuple[str, str]] = set()
        """The states with the tensors that they start from as they are."""
        starts = tuple(self.start(scan, start) for start in scan.starts)
        self.scan = replace(scan, starts=starts)

    def check_blocks(self, scan: Scan) -> None:
        """Raises InputError for a tensor in blocks, of which a step would be a part of some."""
        for access in (access for s in self.statements for access in s.accesses if access.step is not None):
            decl = self.program.tensors[access.tensor]
            if decl.format.block is not None:
                dimensions = self.program.dimensions.of_tensor(decl.name)
                along = dict.fromkeys(d for m, d in enumerate(dimensions) if decl.format.block_of(m) > 1)
                raise self.program.error(
                    decl.span,
                    f"'{decl.name}' is stored in blocks along {' and '.join(along)}, and '{scan}' steps "
                    "through it; store it without blocks",
                )

    def state(self, tensor: str, mode: int) -> str:
        """The tensor, if it has the steps outermost, or else one that does, from which it is copied."""
        decl = self.program.tensors[tensor]
        if decl.format.mode_order[0] == mode:
            return tensor
        steps = self.slicer.declare(f"{tensor}_steps", decl.indices, _steps_first(decl.format, mode), tensor)
        maker = Statement(Access.of(tensor, decl.indices), Access.of(steps, decl.indices))
        self.after.append(Region((maker,)))
        self.copied[steps] = tensor
        return steps

    def add(self) -> None:
        """Adds the block to the program."""
        self.find()
        inside = [
            replace(region, statements=statements)
            for region in self.regions
            if (statements := tuple(self.statement(s) for s in region.statements if s not in self.found))
        ]
        reads = [
            self.alone(self.whole_access(tensor, mode, offset), name, before=True)
            for (tensor, mode, offset), name in self.read.items()
        ]
        writes = [
            self.alone(
                self.whole_access(tensor, self.decl(tensor).format.mode_order[0], 0), name, before=False
            )
            for tensor, name in self.written.items()
        ]
        self.slicer.regions += [*self.before, *reads, *inside, *writes, *self.after]
        for (tensor, _, offset), name in self.read.items():
            behind = self.scan.behind(offset)
            found = ((self.scan.start(tensor, n), behind - n) for n in range(1, behind + 1))
            starts = tuple((s.rhs.tensor, n) for s, n in found if s is not None and isinstance(s.rhs, Access))
            self.slicer.slices[name] = StepSlice(
                tensor, self.copied.get(tensor, tensor), self.scan, self.counter, offset, starts=starts
            )
        for tensor, name in self.written.items():
            of = self.copied.get(tensor, tensor)
            self.slicer.slices[name] = StepSlice(tensor, of, self.scan, self.counter, is_written=True)

    def find(self) -> None:
        """Notes the statements that are slices already."""
        readers, made = self.program.readers, {s.lhs.tensor for s in self.statements}
        for s in self.statements:
            rhs = s.rhs
            if (
                not isinstance(rhs, Access)
                or s.mask is not None
                or s.reduction != "sum"
                or s.order is not None
            ):
                continue
            if s.lhs.step is None and rhs.step is not None and readers(s.lhs.tensor) <= made:
                mode, step = rhs.step
                names = tuple(name for name in rhs.own_names if name is not None)
                storage = self.program.tensors[s.lhs.tensor].format
                key = (rhs.tensor, mode, step.offset)
                fits = self.slice_format(rhs.tensor, mode) == storage and self.is_at_hand(rhs.tensor, mode)
                fits = fits and (step.offset != 0 or rhs.tensor not in self.states)
                if fits and names == s.lhs.names and readers(s.lhs.tensor) and key not in self.read:
                    self.read[key] = s.lhs.tensor
                    self.found.append(s)
            elif s.lhs.step is not None and rhs.step is None and rhs.is_plain and readers(rhs.tensor) <= made:
                names = tuple(name for name in s.lhs.own_names if name is not None)
                storage = self.program.tensors[rhs.tensor].format
                fits = self.slice_format(s.lhs.tensor, s.lhs.step[0]) == storage
                fits = fits and rhs.tensor in made and rhs.tensor not in self.written.values()
                if fits and names == rhs.names:
                    self.written[s.lhs.tensor] = rhs.tensor
                    self.found.append(s)

    def statement(self, statement: Statement) -> Statement:
        """A statement of the block over slices."""
        lhs = statement.lhs
        changed = statement.with_accesses(lambda a: a if a is lhs else self.slice(a))
        changed = replace(changed, scan=self.scan)
        if lhs.step is None:
            return changed
        mode, _ = lhs.step
        state = self.states[lhs.tensor]
        if state not in self.written:
            indices = _without(self.decl(state).indices, mode)
            storage = self.slice_format(state, mode)
            self.written[state] = self.slicer.declare(f"{lhs.tensor}_now", indices, storage, lhs.tensor)
        return replace(changed, lhs=Access(self.written[state], _without(lhs.indices, mode)))

    def slice(self, access: Access) -> Access:
        """An access of a step as one of its slice."""
        if access.step is None:
            return access
        mode, step = access.step
        left = _without(access.indices, mode)
        tensor = self.states.get(access.tensor) or self.at_hand(access.tensor, mode)
        if tensor in self.written and not step.offset:
            return replace(access, tensor=self.written[tensor], indices=left)
        key = (tensor, mode, step.offset)
        if key not in self.read:
            behind = self.scan.behind(step.offset)
            wish = f"{access.tensor}_{'now' if not behind else 'before' if behind > 0 else 'behind'}"
            indices = _without(self.decl(tensor).indices, mode)
            storage = self.slice_format(tensor, mode)
            self.read[key] = self.slicer.declare(wish, indices, storage, access.tensor)
        return replace(access, tensor=self.read[key], indices=left)

    def decl(self, tensor: str) -> TensorDecl:
        """The declaration of a tensor, of the program or added."""
        return self.slicer.tensors.get(tensor) or self.program.tensors[tensor]

    def slice_format(self, tensor: str, mode: int) -> Format | None:
        """The format of a step of a tensor; None where it has none."""
        fmt = self.decl(tensor).format
        if fmt.mode_order[0] != mode:
            return None
        order = tuple(other - (other > mode) for other in fmt.mode_order[1:])
        return Format(fmt.levels[1:], order)

    def is_at_hand(self, tensor: str, mode: int) -> bool:
        """Whether the steps of a tensor lie one after the other, where the machine can reach them."""
        fmt = self.decl(tensor).format
        # What a step stores of a level is what a region writes of it.
        is_written = all(level.writer is not None for level in fmt.levels)
        return fmt.mode_order[0] == mode and fmt.levels[0].is_full and is_written

    def at_hand(self, tensor: str, mode: int) -> str:
        """The tensor, or its copy with the steps outermost."""
        if self.is_at_hand(tensor, mode) and tensor not in self.slicer.given.schedule.split:
            return tensor
        if tensor in self.slicer.given.schedule.split:
            raise InputError(
                f"'{tensor}' is split into parts, and '{self.scan}' steps through it; leave the split out."
            )
        if tensor not in self.ready:
            decl = self.program.tensors[tensor]
            storage = _steps_first(decl.format, mode)
            copy = self.slicer.declare(f"{tensor}_steps", decl.indices, storage, tensor)
            maker = Statement(Access.of(copy, decl.indices), Access.of(tensor, decl.indices))
            self.ready[tensor], self.copied[copy] = copy, tensor
            self.before.append(Region((maker,)))
        return self.ready[tensor]

    def start(self, scan: Scan, start: Statement) -> Statement:
        """What the scan starts from as a tensor that lies as a step of the state does; a statement before the
        scan computes it, unless it does so already."""
        lhs, rhs = start.lhs, start.rhs
        mode = next(n for n, name in enumerate(lhs.own_names) if name is None)
        names = tuple(name for name in lhs.own_names if name is not None)
        state = self.states[lhs.tensor]
        lhs = replace(lhs, tensor=state)
        storage = self.slice_format(state, mode)
        if (
            isinstance(rhs, Access)
            and start.mask is None
            and rhs.is_plain
            and rhs.names == names
            and self.program.tensors[rhs.tensor].format == storage
            and (state, rhs.tensor) not in self.started
        ):
            # A state finds each of its starts in a tensor of its own.
            self.started.add((state, rhs.tensor))
            return Statement(lhs, rhs)
        indices = _without(self.decl(state).indices, mode)
        name = self.slicer.declare(f"{start.lhs.tensor}_start", indices, storage, state)
        self.before.append(Region((replace(start, lhs=Access.of(name, names)),)))
        return Statement(lhs, Access.of(name, names))

    def whole_access(self, tensor: str, mode: int, offset: int) -> Access:
        """A step of a tensor, under the names of its modes."""
        indices = self.decl(tensor).indices
        at = Access.of(tensor, indices).indices
        return Access(tensor, (*at[:mode], StepIndex(self.scan.index, offset), *at[mode + 1 :]))

    def alone(self, whole: Access, name: str, *, before: bool) -> Region:
        """The region of a slice, which is read before the others, or written after them."""
        names = tuple(name for name in whole.own_names if name is not None)
        sides = (Access.of(name, names), whole) if before else (whole, Access.of(name, names))
        return Region((Statement(*sides, scan=self.scan),))


def _steps_first(storage: Format, mode: int) -> Format:
    """That of the same modes with the steps in a dense level outermost; further in, levels are dense if all
    are, and compressed otherwise."""
    order = (mode, *(other for other in storage.mode_order if other != mode))
    return Format.sparse_in([False, *[not storage.is_all_dense] * (storage.rank - 1)], order)


def _without(things: tuple[T, ...], mode: int) -> tuple[T, ...]:
    return (*things[:mode], *things[mode + 1 :])
