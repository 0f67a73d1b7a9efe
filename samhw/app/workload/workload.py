"""A program bound to data: what `--data` is by default, what reports call it, and the job that it is."""

import os
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from samhw.app.workload.effort import banks_of, greatest_entries, stored_entries
from samhw.choices.formats import with_formats
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled, choose_value
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import NO_LIMIT, Job, Room, derived_of
from samhw.cost.statistics import Kind, TensorStatistics, from_tensors
from samhw.errors import InputError
from samhw.graph import Arch, OffChipMemory
from samhw.graph.numerics import ValueType
from samhw.lang import (
    MAX_EXTENT,
    Capacity,
    Program,
    Reshape,
    greatest_extents,
    result_patterns,
    rounded_entries,
    rounded_extent,
)
from samhw.lang.splits import Busiest, SplitProgram, dealt, split_program
from samhw.lang.typed import typed, with_types
from samhw.tensors import STAND_INS, Tensor, Zeros, stand_in, zeros_of
from samhw.words import and_more, did_you_mean

__all__ = [
    "DEFAULT",
    "JUDGES",
    "SYNTHETIC",
    "Workload",
    "check_file_of_one",
    "check_free",
    "check_known",
    "compile_workload",
    "job_of",
    "short_name",
    "synthetic",
]

DEFAULT = ("auto",)
"""The data of every command: the karate club, or random tensors for a program that reads no such matrix."""


def short_name(spec: str) -> str:
    """A data set's name in reports: without the folder of its file."""
    name, equals, path = spec.partition("=")
    return f"{name}={Path(path).name}" if equals and name.isidentifier() else spec.rpartition("/")[2]


SYNTHETIC = "synthetic"
"""What stand-ins are called: `synthetic:cora`, or `synthetic:cora,seed=1`."""


_WORDS = ("karate", "random", SYNTHETIC)


def check_free(name: str, taken: Container[str]) -> None:
    """Raises `InputError` for a tensor that has data already. A file for one tensor takes the place of what a
    data set gives it, and is refused after another such file alone."""
    if name in taken:
        raise InputError(f"--data gives '{name}' data twice; leave out all but one of them.")


def check_known(spec: str) -> None:
    """Raises `InputError` for what is neither a word of --data nor like a file's name."""
    word = spec.partition(":")[0]
    if Path(word).stem in STAND_INS and not os.path.exists(word):
        raise InputError(
            f"There is no data '{spec}', as samhw brings no such sets; give the file of one, or "
            f"'{SYNTHETIC}:{Path(word).stem}', random data of its size."
        )
    if not Path(word).suffix and os.sep not in word and not os.path.exists(word):
        raise InputError(
            f"There is no data '{spec}'{did_you_mean(word, _WORDS)}; give karate, random, synthetic:NAME, a "
            "file, or NAME=FILE."
        )


def check_file_of_one(spec: str, text: str) -> None:
    """Raises `InputError` where a tensor is given a word of --data, which stands for data of a whole program,
    instead of a file."""
    word = text.partition(":")[0]
    if word in (*_WORDS, *DEFAULT) and not os.path.exists(word):
        raise InputError(
            f"--data {spec}: '{text}' is for a whole program; give it by itself, without "
            f"'{spec.removesuffix(text)}', or give the tensor a file."
        )


def synthetic(spec: str) -> dict[str, Tensor]:
    """The random data that stand for a data set (`stand_in`). Raises `InputError` for another name, or an
    option that it does not have."""
    name, *options = spec.partition(":")[2].split(",")
    sizes: dict[str, str] = {}
    for option in options:
        key, equals, text = option.partition("=")
        if not equals or key in sizes:
            raise InputError(
                f"--data {spec}: '{option}' is no option of a stand-in; write seed=1, once each."
            )
        sizes[key] = text
    seed = sizes.pop("seed", "0")
    if not (seed.isdecimal() and len(seed) < 10):
        raise InputError(f"--data {spec}: '{seed}' is no seed; give a whole number.")
    try:
        return stand_in(name, seed=int(seed), **sizes)
    except InputError as error:
        raise error.within(f"--data {spec}") from None


JUDGES = ("reference", "onnxruntime")
"""Who may compute what a network in ONNX gives."""


@dataclass(frozen=True)
class Workload:
    """A program bound to data. `tensors` holds every input, in the format that the program declares."""

    name: str
    program: Program
    tensors: dict[str, Tensor]
    oracle: Callable[[], float | None] | None = None
    """Of a program that was made of something else: how far it is from that on these data, in float64; None
    if that takes too long to find out. Raises RunError if it is further than it may be."""
    scopes: Mapping[str, str] | None = None
    """Of a program that was made of a module of PyTorch: by result, the path of the module that computes
    it."""
    notes: tuple[str, ...] = ()
    """What of the data is left out; of a program that was made of something else, what is done in another
    way than that says: in sentences."""
    greatest: Mapping[str, int] = field(default_factory=dict)
    """By dimension, the extent that a build must take at least, where that is more than the data's."""
    judges: Mapping[str, Callable[[], float | None]] = field(default_factory=dict)
    """Who else may be the oracle, by the name that --check takes."""
    drawn: tuple[str, ...] = ()
    """The inputs that nobody gave, whose data are random."""
    constants: frozenset[str] | None = None
    """The inputs whose data are the same in every run, where that is known."""

    @property
    def said(self) -> str:
        """The name of the data, and what of it is random."""
        is_mixed = 0 < len(self.drawn) < len(self.tensors)
        return f"{self.name}, {and_more(self.drawn)} random" if is_mixed else self.name

    def judged_by(self, judge: str) -> "Workload":
        """The same, compared with what another judge gives. Raises InputError for one that it has not."""
        if judge == JUDGES[0]:
            return self
        if judge not in self.judges:
            raise InputError(f"'--check {judge}' compares networks in ONNX, and this is none; leave it out.")
        return replace(self, oracle=self.judges[judge])

    def with_extents(self, extents: Mapping[str, int]) -> "Workload":
        """The same data, to be built with room for these extents of dimensions, and for what follows from
        them.

        Raises InputError for extents that the program cannot have, or that are less than the data's.
        """
        bound = self.program.dimensions.extents
        wide = self.program.unbound.with_extents(extents)
        for decl in wide.operands:
            # One tensor after another, since the extents of one may fix those of others.
            dimensions = wide.dimensions
            missing = [d for d in dimensions.of_tensor(decl.name) if dimensions.extents[d] is None]
            wide = wide.with_extents({d: bound[d] or 1 for d in missing})
        greatest = {d: extent or 1 for d, extent in wide.dimensions.extents.items()}
        for name, extent in greatest.items():
            if extent < (has := bound[name] or 1):
                raise InputError(
                    f"The data has {name}={has}, for which a build of up to {extent} has no room; give a "
                    "greater extent."
                )
        more = {d: extent for d, extent in greatest.items() if d in extents or extent != bound[d]}
        return replace(self, greatest=more)

    def value(self, asked: ValueType | None = None) -> ValueType:
        """The value type, from what is asked for, the program and its data (`choose_value`); data that have a
        type of their own do not count."""
        own = {name for name, decl in self.program.tensors.items() if decl.value is not None}
        data = (tensor.vals for name, tensor in self.tensors.items() if name not in own)
        return choose_value(asked, self.program, data)

    def with_types(self, types: Mapping[str, ValueType]) -> "Workload":
        """Another program on the same data, some of whose tensors have these types; raises as `with_types` of
        programs."""
        return replace(self, program=with_types(self.program, types)) if types else self

    @property
    def types(self) -> dict[str, ValueType]:
        """The types that tensors of the program have of their own."""
        return {name: decl.value for name, decl in self.program.tensors.items() if decl.value is not None}

    def in_types(self, value: ValueType) -> "Workload":
        """The same with the program's types written out, where it has several; `value` is the type of what
        has none of its own."""
        program = typed(self.program, value)
        return self if program is self.program else replace(self, program=program)

    def sparsified(self, share: float) -> "Workload":
        """The same with each of `zeros` stored by its nonzeros, rows of them, that has at least this share of
        zeros."""
        declared = self.program.tensors
        formats = {name: declared[name].format.rows for name in self.zeros(share)}
        tensors = dict(self.tensors)
        for name, fmt in formats.items():
            coords, vals = tensors[name].to_coo(drop_zeros=True)
            tensors[name] = Tensor.from_coo(coords, vals, tensors[name].shape, fmt)
        return replace(self, program=with_formats(self.program, formats), tensors=tensors)

    def zeros(self, least: float) -> dict[str, Zeros]:
        """The zeros of inputs of several modes that are stored dense, where these are at least this share;
        of an imported program, of constants alone. What is reshaped stays dense."""
        program = self.program
        fixed = {s.rhs.operand.tensor for s in program.statements if isinstance(s.rhs, Reshape)}
        found = {}
        for decl in program.operands:
            is_dense = decl.format.is_all_dense and decl.format.block is None
            if decl.rank < 2 or not is_dense or decl.name in fixed | program.index_tensors:
                continue
            if self.constants is not None and decl.name not in self.constants:
                continue
            zeros = zeros_of(self.tensors[decl.name], least)
            if zeros.share >= least:
                found[decl.name] = zeros
        return found

    def statistics(
        self, kind: Kind = "exact", schedule: Schedule | None = None, *, is_open: bool = False
    ) -> TensorStatistics:
        """What is known of the inputs, of that kind, and of the parts into which a schedule splits them. Ask
        once, and keep it: it keeps what it has counted. `is_open` as for `Job`."""
        masks = {statement.mask.tensor for statement in self.program.statements if statement.mask}
        stored = self.stored(schedule)
        program = self.program if schedule is None else _written(schedule, self.program)
        room = self.capacity(schedule and replace(schedule, fuse="partial", order={})) if is_open else None
        return from_tensors(
            stored | derived_of(program, stored, room) | self.parts(schedule), kind, masks=masks
        )

    def stored(self, schedule: Schedule | None) -> dict[str, Tensor]:
        """The inputs with their rows in the orders of a schedule.

        Raises InputError for data that have no such order.
        """
        if schedule is None or not schedule.permute_rows:
            return self.tensors
        return schedule.row_orders(_written(schedule, self.program)).drawn(self.tensors).there(self.tensors)

    def parts(self, schedule: Schedule | None) -> dict[str, Tensor]:
        """The parts into which a schedule splits inputs, by name.

        Raises InputError for data that its rules cannot split.
        """
        split = self._split(schedule)
        return {} if split is None else split.derived(self.stored(schedule))

    def busiest(self, split: SplitProgram, schedule: Schedule) -> Busiest:
        """What the busiest lane of each part has to do, so that each lane gets about as many of these data's
        entries.

        Args:
            split: of this program, as a schedule asks for it.
        """
        parts: dict[str, Tensor] = {}

        def of_part(part: str, mode: int) -> Callable[[int], int]:
            if not parts:
                parts.update(split.derived(self.stored(schedule)))
            coords, _ = parts[part].to_coo()
            return dealt(np.unique(coords[mode], return_counts=True)[1])

        return of_part

    def _split(self, schedule: Schedule | None) -> SplitProgram | None:
        """The program over the parts into which a schedule splits inputs, if it does."""
        if schedule is None or not schedule.split:
            return None
        return split_program(_written(schedule, self.program), schedule.split, stored=schedule.stored_terms)

    def in_whole_numbers(self, greatest: int = 4) -> "Workload":
        """The same structure with integer values, those of each tensor scaled to at most `greatest` and
        rounded away from zero: what an integer type can hold of a model."""

        def whole(tensor: Tensor) -> Tensor:
            coords, vals = tensor.to_coo()
            most = float(np.max(np.abs(vals), initial=0)) or 1.0
            scaled = np.sign(vals) * np.ceil(np.abs(vals) * (greatest / most) - 1e-9)
            return Tensor.from_coo(coords, scaled, tensor.shape, tensor.format)

        named = self.program.index_tensors
        return replace(
            self, tensors={name: t if name in named else whole(t) for name, t in self.tensors.items()}
        )

    def capacity(self, schedule: Schedule | None = None) -> Capacity:
        """What a build must hold to run this data, rounded up so that similar data share a build, but for
        extents that were asked for or are fixed. The schedule may store tensors in other formats.

        Raises `InputError` for an extent that neither the program nor the data fix.
        """
        program = (schedule or Schedule()).apply(self.program)
        program = program.bind({name: tensor.shape for name, tensor in self.tensors.items()})
        ordered = self.stored(schedule)
        stored = {
            name: tensor
            if program.tensors[name].format == self.program.tensors[name].format
            else tensor.convert(program.tensors[name].format)
            for name, tensor in ordered.items()
        }
        greatest = greatest_extents(program, Capacity(self.greatest))
        split = self._split(schedule) or SplitProgram(program, {})
        every = stored | split.derived(ordered)
        entries = {name: stored_entries(tensor) for name, tensor in every.items()}
        like = split.like()
        read = {name: tensor for name, tensor in every.items() if name in split.program.tensors}
        patterns = result_patterns(split.program, read)
        shapes = {
            name: program.dimensions.shape(like.get(name, name), greatest) for name in split.program.tensors
        }
        for name, pattern in patterns.items():
            decl = program.tensors.get(name) or split.program.tensors[name]
            entries[name] = greatest_entries(decl, shapes[name], pattern)
        is_fixed = schedule is not None and schedule.fixed_extents
        return Capacity(
            {
                d: n if is_fixed or d in self.greatest else min(rounded_extent(n), MAX_EXTENT)
                for d, n in greatest.items()
            },
            {name: rounded_entries(n) for name, n in entries.items()},
            banks_of(split.program, schedule, read, patterns, shapes) if schedule and schedule.ranged else {},
        )


def _written(schedule: Schedule, program: Program) -> Program:
    """The program with the brackets and formats of a schedule, in the regions of its text."""
    return replace(schedule, fuse="partial", order={}).apply(program)


# A workload as a job: compiled with room for its data.


def compile_workload(
    workload: Workload,
    schedule: Schedule | None = None,
    *,
    value: ValueType | None = None,
    capacity: Capacity | None = None,
    entries: Mapping[str, int] | None = None,
    arch: Arch | None = None,
    memory: OffChipMemory | None = None,
) -> Compiled:
    """Compiles a workload's program with room for its data.

    Args:
        schedule: by default the program's own. With `fuse="auto"` it is chosen for the data.
        value: the value type; None for what the program and its data need.
        capacity: greatest extents and entries that it is to have room for besides.
        entries: by tensor, the entries of its compressed levels instead of those of data and `capacity`.
        arch: the latencies.
        memory: what holds the tensors that the schedule has off chip; None if all lie on chip.

    Raises:
        InputError: for a program that cannot be lowered, with the reason and the way out. It is a
            `ScheduleError` if another order, other regions or other formats would do.
    """
    job = job_of(workload, schedule, value=value, capacity=capacity, entries=entries, arch=arch)
    return compile_job(replace(job, memory=memory))


def job_of(
    workload: Workload,
    schedule: Schedule | None = None,
    *,
    value: ValueType | None = None,
    capacity: Capacity | None = None,
    entries: Mapping[str, int] | None = None,
    arch: Arch | None = None,
    room: Room = NO_LIMIT,
    is_open: bool = False,
) -> Job:
    """The job that a workload is; `room` and `is_open` as for `Job`, the rest as for `compile_workload`."""
    schedule = schedule or Schedule()
    kind = workload.value(value)
    workload = workload.in_types(kind)
    program = workload.program
    if schedule.is_open:  # What a candidate costs depends on extents.
        program = program.bind({name: tensor.shape for name, tensor in workload.tensors.items()})
    return Job(
        program,
        schedule,
        workload,
        value=kind,
        capacity=capacity or Capacity(),
        entries=entries or {},
        arch=arch or Arch(),
        scopes=workload.scopes,
        room=room,
        is_open=is_open,
    )
