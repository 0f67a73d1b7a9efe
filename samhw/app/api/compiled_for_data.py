"""What of a program has been compiled for the data that it was run on."""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from samhw.app.api.arguments import arch_of, entries_of, extents_of, value_of
from samhw.app.checking.advice import sampled_note, zeros_note
from samhw.app.workload import Workload, job_of
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled, with_memory
from samhw.compiler.idle import idle_choices
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.faces import in_words
from samhw.graph import Arch, OffChipMemory
from samhw.graph.numerics import Integer, ValueType
from samhw.lang import Capacity, Program

__all__ = ["CompiledForData"]


class CompiledForData:
    """A program with its schedule, which is compiled as often as its data need it. Arguments as of
    `RunnableDesign`."""

    def __init__(
        self,
        program: Program,
        schedule: Schedule,
        *,
        value: ValueType | str | None = None,
        arch: Arch | Mapping[str, object] | Path | str | None = None,
        extents: Mapping[str, int] | None = None,
        entries: Mapping[str, int] | None = None,
        scopes: Mapping[str, str] | None = None,
        constants: frozenset[str] | None = None,
        source: str = "",
    ) -> None:
        self.program = program
        self.schedule = schedule
        self.scopes = scopes
        self.constants = constants
        self.value = value_of(value)
        self.arch = arch_of(arch)
        self.extents = extents_of(extents)
        self.entries = entries_of(entries)
        self.source = source
        self._compiled: Compiled | None = None
        self._capacity = Capacity()
        self._last: Workload | None = None
        self._chosen: Schedule | None = None
        self._why: tuple[str, ...] = ()
        self._is_tuned = False
        self._is_warned = False

    @property
    def name(self) -> str:
        """The program's."""
        return self.program.name

    @property
    def compiled(self) -> Compiled:
        """What runs, as the compiler gave it.

        Raises:
            InputError: before the first run, if the program does not say how large everything is.
        """
        if self._compiled is None:
            program = self.program.with_extents(self.extents)
            return self._compile(program, self.value, Capacity(entries=self.entries))
        return self._compiled

    def compile_for(self, workload: Workload, memory: OffChipMemory | None = None) -> Compiled:
        """What runs that workload: what there is if it fits, else compiled with room for both; with a memory
        off chip, the same beside it. Raises `InputError` for a program that cannot be lowered."""
        compiled = self._compiled_for(workload, memory)
        return compiled if memory is None else with_memory(compiled, memory)

    def _compiled_for(self, workload: Workload, memory: OffChipMemory | None) -> Compiled:
        used, value = self._chosen or self.schedule, self._value(workload)
        typed = workload.in_types(value)
        needed = typed.capacity(used) | Capacity().with_entries(used.apply(typed.program), self.entries)
        fits = needed | self._capacity == self._capacity
        if self._compiled is None or not fits or value != self._compiled.value:
            program = workload.program.unbound
            if self.schedule.is_open and not self._is_tuned:
                compiled = self._choose(workload, value, memory)
            else:
                compiled = self._compile(program, value, needed | self._capacity)
                self._warn(workload, value)
            self.program = program
            return compiled
        return self._compiled

    def _warn(self, workload: Workload, value: ValueType) -> None:
        """Says once what of the schedule counts for nothing, and what storing weights of many zeros, or
        results, by their nonzeros would bring."""
        if self._is_warned or self._compiled is None:
            return
        self._is_warned = True
        for _, sentence in () if self._is_tuned else idle_choices(self._compiled):
            warnings.warn(in_words(sentence), stacklevel=2)
        job = job_of(workload, self._chosen or self.schedule, value=value, arch=self.arch)
        for noted in (zeros_note, sampled_note) if self.constants is not None else (sampled_note,):
            if note := noted(job, self._compiled, as_option=False):
                warnings.warn(f"{note}.", stacklevel=2)

    def _choose(self, workload: Workload, value: ValueType, memory: OffChipMemory | None) -> Compiled:
        """Chooses a schedule for a workload, which a memory may hold, and keeps the design that was compiled
        for it."""
        given = Capacity().with_entries(self.schedule.apply(workload.program), self.entries) | self._capacity
        job = job_of(workload, self.schedule, value=value, capacity=given, arch=self.arch, is_open=True)
        job = replace(job, memory=memory)
        found = compile_job(job)
        self._chosen, self._why = found.schedule, found.why
        self._compiled = found if memory is None else self._on_chip(job, found)
        self._capacity = workload.in_types(value).capacity(self._chosen) | given
        return self._compiled

    def _on_chip(self, job: Job, found: Compiled) -> Compiled:
        """What a job was compiled to with a memory, without it."""
        alone = compile_job(replace(job.under(found.schedule), memory=None))
        return replace(alone, decision=replace(alone.decision, why=found.why))

    def _compile(self, program: Program, value: ValueType | None, capacity: Capacity) -> Compiled:
        chosen = self._chosen or self.schedule
        found = compile_job(Job(program, chosen, value=value, capacity=capacity, arch=self.arch))
        if self._why:
            found = replace(found, decision=replace(found.decision, why=self._why))
        self._compiled, self._capacity = found, capacity
        return found

    def _value(self, workload: Workload) -> ValueType:
        """The value type for a workload: one that was compiled for fractions takes whole numbers too."""
        value = workload.value(self.value)
        if self._compiled is None or self.value is not None or not isinstance(value, Integer):
            return value
        return self._compiled.value
