"""The machine code of actors and of phases.

The commonest operations on f32, by the processor's own arithmetic.

They stand in for `samhw.graph.numerics`' scalar forms, which hold integers only, and give the same words: a
subnormal counts as a zero, and so does a result that IEEE rounding makes one; there is one NaN; a product
with a zero is one.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from types import FunctionType
from weakref import WeakKeyDictionary

from samhw.graph.numerics import Float
from samhw.graph.numerics.float_format import F32
from samhw.sim import machine_code
from samhw.sim.compiled.actor_shapes import careful_shape, finder_shape, timer_shape, wiring_of
from samhw.sim.compiled.careful import careful_timer
from samhw.sim.compiled.finding import finder
from samhw.sim.compiled.many_firings import time_many
from samhw.sim.compiled.off_chip import make_line_room, serve_lines
from samhw.sim.compiled.phases import run_phases
from samhw.sim.compiled.timing import timer
from samhw.sim.machine_code import Untranslatable, function_key, real_of, word_of
from samhw.sim.network import Actor
from samhw.sim.worker import Worker

__all__ = [
    "STAND_INS",
    "codes_of",
    "f32_add",
    "f32_mul",
    "f32_sub",
    "lines_addresses",
    "many_address",
    "phases_address",
]

SIGN, INFINITY, NAN, HIDDEN = F32.sign, F32.infinity, F32.nan, F32.hidden
NORMAL = 2.0 ** (1 - F32.bias)
"""The smallest normal number."""
ALMOST = NORMAL * (1 - 2.0 ** (-1 - F32.mantissa))
"""From here on IEEE rounds up to it."""


def _flushed(word: int) -> int:
    """A word, or a zero of its sign if it is subnormal."""
    return word if word & INFINITY != 0 else word & SIGN


def _one_nan(word: int) -> int:
    return NAN if word & SIGN - 1 > INFINITY else word


def f32_add(a: int, b: int) -> int:
    """a + b."""
    # Rounded twice, to double and to single precision, a sum is as if rounded once. A subnormal sum of normal
    # numbers is exact, so that it makes no difference when it is flushed.
    return _one_nan(_flushed(word_of(real_of(_flushed(a)) + real_of(_flushed(b)))))


def f32_sub(a: int, b: int) -> int:
    """a - b."""
    return f32_add(a, b ^ SIGN)


def f32_mul(a: int, b: int) -> int:
    """a * b; a zero if either is, whatever the other one is."""
    # Exact in double precision. No instruction sees a subnormal, which some libraries have flushed otherwise.
    product = real_of(_flushed(a)) * real_of(_flushed(b))
    size = abs(product)
    if size < NORMAL:
        return (a ^ b) & SIGN | (HIDDEN if size >= ALMOST else 0)
    return word_of(product) if product == product else _no_number(a, b)


def _no_number(a: int, b: int) -> int:
    """a * b where IEEE says NaN, which it is but for a zero with infinity or NaN."""
    if a & INFINITY != 0 and b & INFINITY != 0:
        return NAN
    return 0 if a & SIGN - 1 > INFINITY or b & SIGN - 1 > INFINITY else (a ^ b) & SIGN


_f32 = Float("f32")
STAND_INS = {_f32.scalar("add"): f32_add, _f32.scalar("sub"): f32_sub, _f32.scalar("mul"): f32_mul}
"""By the scalar form that each stands in for."""


Function = Callable[[int, int], int]

LINES: tuple[Function, ...] = serve_lines, make_line_room
"""What runs with off-chip memory need."""


_functions: dict[object, Function] = {}
"""Functions by what they are made from. They hold their step functions, so that keys stay good."""

_codes: WeakKeyDictionary[Actor, dict[object, tuple[int, int]]] = WeakKeyDictionary()
"""What `codes_of` gave, by what it depends on besides the actor."""


def codes_of(workers: Sequence[Worker], careful: bool) -> list[tuple[int, int]]:
    """For each worker the addresses of the code that finds its firings, and of that which finds their cycles,
    with assumptions or carefully without.

    Raises:
        Untranslatable: if there can be none.
    """
    wirings = [(wiring_of(worker), careful) for worker in workers]
    new = {}
    for worker, wiring in zip(workers, wirings, strict=True):
        if wiring not in _codes.setdefault(worker.actor, {}):
            new[worker.actor, wiring] = worker
    made = {key: (finder_of(worker), timer_of(worker, careful)) for key, worker in new.items()}
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
    step, shape = worker.actor.step, finder_shape(worker)
    assert isinstance(step, FunctionType)
    return function_of(("find", function_key(step), shape), partial(finder, step, shape))


def timer_of(worker: Worker, careful: bool) -> Function:
    """What finds their cycles."""
    if careful:
        team = careful_shape(worker)
        return function_of(("careful", team), partial(careful_timer, team))
    shape = timer_shape(worker)
    return function_of(("time", shape), partial(timer, shape))


def phases_address() -> int:
    """The address of the code of `run_phases`."""
    return address_of(run_phases, "phases")


def many_address() -> int:
    """The address of the code of `time_many`."""
    return address_of(time_many, "many firings")


def lines_addresses() -> tuple[int, int]:
    """The addresses of the code of `serve_lines` and `make_line_room`."""
    serve, room = (address_of(function, "off-chip memory") for function in LINES)
    return serve, room


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
