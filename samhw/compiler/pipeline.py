"""The one way through the compiler: a job is planned, and the plan is lowered.

>>> job = Job(parse(text), Schedule(fuse="auto"))
>>> lower(job, plan(job))
"""

from collections.abc import Callable
from dataclasses import replace

from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled, Decision, Lowerings, lower_program
from samhw.compiler.search.auto import choose
from samhw.compiler.search.decide import decide
from samhw.compiler.search.job import Job
from samhw.compiler.search.tried import AutoChoice
from samhw.interpreter import deep_recursion, no_collection, old_objects_left_alone
from samhw.lang.decision import Refusal

__all__ = ["Job", "candidates", "choose_schedule", "compile_job", "lower", "plan", "settled"]


def plan(job: Job) -> Decision:
    """All that the job leaves open, decided: regions, orders, what uses share; under `auto` the schedule too.

    Raises:
        InputError: for a program that cannot be lowered, with the reason and the way out. It is a
            `ScheduleError` if another order, other regions or other formats would do.
    """
    if not job.schedule.is_open:
        with old_objects_left_alone():
            return _planned(job, Lowerings())
    found = choose_schedule(job)
    decision = replace(found.compiled.decision, why=found.why)
    return replace(decision, design=replace(found.compiled, decision=decision))


def lower(job: Job, decision: Decision, last: str | None = None) -> Compiled | Refusal:
    """The design of what is decided about a job. Nothing is chosen.

    Args:
        last: the pass of graphs after which to stop, by its name.

    Raises:
        InputError: for what no decision would make possible.
    """
    if decision.design is not None and last is None:
        return decision.design
    with deep_recursion(), no_collection():
        return lower_program(decision, job.arch, last, job.memory)


def compile_job(job: Job, last: str | None = None) -> Compiled:
    """Plans a job, and lowers the plan; `last` as for `lower`. Raises `InputError` as both do, and for what
    is refused."""
    return _lowered(job, plan(job), last)


def choose_schedule(job: Job) -> AutoChoice:
    """The schedule that is expected to take the fewest cycles.

    Raises:
        InputError: if none of the candidates can be lowered, for the first reason.
    """
    lowerings = Lowerings()
    with old_objects_left_alone():
        return choose(job, candidates(job, lowerings), lowerings)


def settled(job: Job) -> Job:
    """The job under the schedule that is chosen for it, where it leaves that open. Raises as
    `choose_schedule`."""
    return job.under(choose_schedule(job).schedule) if job.schedule.is_open else job


def candidates(job: Job, lowerings: Lowerings) -> Callable[[Schedule], Compiled]:
    """What compiles a job under one schedule after another, with nothing left to be chosen in them, and
    lowers no region twice. Raises as `compile_job`, and `OutOfStepsError`."""

    def compiled(schedule: Schedule) -> Compiled:
        one = job.under(schedule)
        return _lowered(one, _planned(one, lowerings))

    return compiled


def _planned(job: Job, lowerings: Lowerings) -> Decision:
    with deep_recursion():
        found = decide(job, lowerings)
    if isinstance(found, Refusal):
        raise found.error()
    return found


def _lowered(job: Job, decision: Decision, last: str | None = None) -> Compiled:
    found = lower(job, decision, last)
    if isinstance(found, Refusal):
        raise found.error()
    return found
