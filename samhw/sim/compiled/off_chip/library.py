"""The engine's functions in machine code."""

from collections.abc import Callable
from types import FunctionType
from typing import Any

from samhw import machine_code
from samhw.machine_code import Untranslatable
from samhw.sim.compiled.floats import STAND_INS
from samhw.sim.worker import Worker

__all__ = ["address_of", "function_of", "name_of"]

_functions: dict[Any, FunctionType] = {}
"""Functions by what they are made from. They hold their step functions, so that keys stay good."""


def function_of(made_from: Any, make: Callable[[], Any]) -> FunctionType:
    """The function that `make` gives, which is made once for all that is made from the same."""
    if made_from not in _functions:
        _functions[made_from] = make()
    return _functions[made_from]


def name_of(worker: Worker) -> str:
    """What messages call a worker."""
    return f"the actor {worker.actor.name!r} of node {worker.node!r}"


def address_of(function: FunctionType, where: str) -> int:
    """Address of a function in machine code.

    Raises:
        Untranslatable: if it is not in the subset; `where` says what it belongs to.
    """
    try:
        return machine_code.address_of(function, STAND_INS)
    except Untranslatable as error:
        raise Untranslatable(f"{where}: {error}") from error
