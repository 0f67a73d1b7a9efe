"""The machine code of actors and of phases."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from samhw import machine_code
from samhw.machine_code import Untranslatable, function_key
from samhw.primitives import Actor
from samhw.primitives.step import Words
from samhw.sim.compiled.find import Shape, finder
from samhw.sim.compiled.floats import STAND_INS
from samhw.sim.compiled.gate import GateKind
from samhw.sim.compiled.many_firings import time_many
from samhw.sim.compiled.off_chip import make_line_room, note_lines, serve_lines
from samhw.sim.compiled.phases import run_phases
from samhw.sim.compiled.timing import timer
from samhw.sim.port_rule import DATA, USE, USE_SIZE
from samhw.sim.worker import Worker

__all__ = [
    "circles_of",
    "codes_of",
    "key_of",
    "lines_addresses",
    "many_address",
    "phases_address",
    "ports_of",
]

Function = Callable[[int, int], int]

LINES: tuple[Function, ...] = note_lines, serve_lines, make_line_room
"""What runs with off-chip memory need."""

_functions: dict[Any, Function] = {}
"""Functions by what they are made from. They hold their step functions, so that keys stay good."""

_codes: WeakKeyDictionary[Actor, dict[Any, tuple[int, int]]] = WeakKeyDictionary()
"""What `codes_of` gave, by what it depends on besides the actor."""


def codes_of(workers: Sequence[Worker]) -> list[tuple[int, int]]:
    """For each worker the addresses of the code that finds its firings, and of that which finds their cycles.

    Raises:
        Untranslatable: if there can be none.
    """
    wirings = [_wiring_of(worker) for worker in workers]
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


def _wiring_of(worker: Worker) -> Any:
    """What a worker's code depends on besides its actor."""
    late, want, brings = late_of(worker), function_key(want_of(worker)), brings_of(worker)
    return ports_of(worker), circles_of(worker), GateKind.of(worker), late, want, brings


def finder_of(worker: Worker) -> Function:
    """What finds a worker's firings."""
    step, want, shape = worker.actor.step, want_of(worker), shape_of(worker)
    assert isinstance(step, FunctionType)
    made_from = "find", function_key(step), function_key(want), shape
    return function_of(made_from, lambda: finder(step, want, shape))


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
    inputs, ports, gate, late = len(worker.inputs), ports_of(worker), GateKind.of(worker), late_of(worker)
    traits = {
        "circular": bool(circles_of(worker)),
        "spaced": key_of(worker) is not None,
        "accesses": worker.access is not None,
    }
    made_from = "time", inputs, ports, *traits.values(), gate, late
    return function_of(made_from, partial(timer, inputs, ports, gate=gate, late=late, **traits))


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


def function_of(made_from: Any, make: Callable[[], Function]) -> Function:
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


def shape_of(worker: Worker) -> Shape:
    """What the code that finds a worker's firings depends on besides its step function."""
    return Shape(
        inputs=len(worker.inputs),
        ports=ports_of(worker),
        outputs=len(worker.outputs),
        states=len(worker.state),
        stores=len(worker.memory),
        circles=circles_of(worker),
        key=key_of(worker),
        brings=brings_of(worker),
    )


def ports_of(worker: Worker) -> tuple[int, ...]:
    """For each channel that a worker pushes to, the output that it belongs to."""
    return tuple(j for j, queues in enumerate(worker.outputs) for _ in queues)


def circles_of(worker: Worker) -> tuple[tuple[int, int], ...]:
    """The channels from a worker to itself: input, and number among those that it pushes to."""
    pushed_to = [queue for queues in worker.outputs for queue in queues]
    return tuple((i, pushed_to.index(q)) for i, q in worker.inputs.items() if q.producer is worker)


def key_of(worker: Worker) -> int | None:
    """Place in the state of the key of a worker's spacing, if it has one that matters."""
    spacing = worker.actor.spacing
    # Firings are a cycle apart anyway.
    return spacing.key if spacing and spacing.latency > 1 else None


def late_of(worker: Worker) -> int:
    """The set of a worker's inputs whose tokens may come with data from off-chip memory."""
    return sum(queue.off_chip << i for i, queue in worker.inputs.items())


def brings_of(worker: Worker) -> tuple[tuple[int, int], ...] | None:
    """`Shape.brings` of a worker."""
    access = worker.access
    if access is None:
        return None
    reads = enumerate(access.carried[output] for output in ports_of(worker))
    return tuple((q, USE + USE_SIZE * read + DATA) for q, read in reads if read >= 0)
