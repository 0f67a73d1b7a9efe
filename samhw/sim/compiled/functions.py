"""The machine code of actors and of phases."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from types import FunctionType
from weakref import WeakKeyDictionary

from samhw.sim import machine_code
from samhw.sim.compiled.find import finder
from samhw.sim.compiled.floats import STAND_INS
from samhw.sim.compiled.many_firings import time_many
from samhw.sim.compiled.off_chip import make_line_room, note_lines, serve_lines
from samhw.sim.compiled.phases import run_phases
from samhw.sim.compiled.shapes import finder_shape, timer_shape, wiring_of
from samhw.sim.compiled.timing import timer
from samhw.sim.machine_code import Untranslatable, function_key
from samhw.sim.network import Actor
from samhw.sim.step import Words
from samhw.sim.worker import Worker

__all__ = ["codes_of", "lines_addresses", "many_address", "phases_address"]

Function = Callable[[int, int], int]

LINES: tuple[Function, ...] = note_lines, serve_lines, make_line_room
"""What runs with off-chip memory need."""

_functions: dict[object, Function] = {}
"""Functions by what they are made from. They hold their step functions, so that keys stay good."""

_codes: WeakKeyDictionary[Actor, dict[object, tuple[int, int]]] = WeakKeyDictionary()
"""What `codes_of` gave, by what it depends on besides the actor."""


def codes_of(workers: Sequence[Worker]) -> list[tuple[int, int]]:
    """For each worker the addresses of the code that finds its firings, and of that which finds their cycles.

    Raises:
        Untranslatable: if there can be none.
    """
    wirings = [(wiring_of(worker), function_key(want_of(worker))) for worker in workers]
    new = {}
    for worker, wiring in zip(workers, wirings, strict=True):
        if wiring not in _codes.setdefault(worker.actor, {}):
            new[worker.actor, wiring] = worker
    made = {key: (finder_of(worker), timer_of(worker)) for key, worker in new.items()}
    if made:
        lines = LINES if any(worker.access for worker in new.values()) else ()
        needed = run_phases, time_many, *lines, *chain.from_iterable(made.values())
        # Many actors share a function.
        machine_code.prepare(dict.fromkeys(needed), STAND_INS)
    addresses: dict[Function, int] = {}
    for (actor, wiring), functions in made.items():
        where = f"the actor {actor.name!r} of node {new[actor, wiring].node!r}"
        for function in functions:
            if function not in addresses:
                addresses[function] = address_of(function, where)
        find, time = functions
        _codes[actor][wiring] = addresses[find], addresses[time]
    return [_codes[worker.actor][wiring] for worker, wiring in zip(workers, wirings, strict=True)]


def finder_of(worker: Worker) -> Function:
    """What finds a worker's firings."""
    step, want, shape = worker.actor.step, want_of(worker), finder_shape(worker)
    assert isinstance(step, FunctionType)
    made_from = "find", function_key(step), function_key(want), shape
    return function_of(made_from, partial(finder, step, want, shape))


def want_of(worker: Worker) -> FunctionType:
    """What notes the words that a worker reads from off-chip memory and writes to it."""
    want = worker.access.want if worker.access else no_want
    assert isinstance(want, FunctionType)
    return want


def no_want(
    word: int, kind: Words, data: Words, state: Words, out_kind: Words, out_data: Words, access: Words
) -> None:
    """The `Want` of an actor that has no access to off-chip memory."""


def timer_of(worker: Worker) -> Function:
    """What finds their cycles."""
    shape = timer_shape(worker)
    return function_of(("time", shape), partial(timer, shape))


def phases_address() -> int:
    """The address of the code of `run_phases`."""
    return address_of(run_phases, "phases")


def many_address() -> int:
    """The address of the code of `time_many`."""
    return address_of(time_many, "many firings")


def lines_addresses() -> tuple[int, int, int]:
    """The addresses of the code of `note_lines`, `serve_lines` and `make_line_room`."""
    note, serve, room = (address_of(function, "off-chip memory") for function in LINES)
    return note, serve, room


def function_of(made_from: object, make: Callable[[], Function]) -> Function:
    """The function that `make` gives, which is made once for all that is made from the same."""
    if made_from not in _functions:
        _functions[made_from] = make()
    return _functions[made_from]


def address_of(function: Function, where: str) -> int:
    """That of the code of a function.

    Raises:
        Untranslatable: if it is not in the subset; `where` says what it belongs to.
    """
    try:
        return machine_code.address_of(function, STAND_INS)
    except Untranslatable as error:
        raise Untranslatable(f"{where}: {error}") from error
