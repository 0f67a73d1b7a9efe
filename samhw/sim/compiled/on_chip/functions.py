"""The compiled functions that run a machine whose tensors all lie on chip."""

from types import FunctionType
from typing import Any, cast
from weakref import WeakKeyDictionary

from samhw.machine_code import function_key
from samhw.primitives import Actor
from samhw.sim.compiled.actor import feeds_itself, key_of, ports_of, traits_of
from samhw.sim.compiled.gate import GateKind
from samhw.sim.compiled.library import address_of, function_of, name_of
from samhw.sim.compiled.on_chip.cycles import actor_cycles
from samhw.sim.compiled.on_chip.phases import run_phases
from samhw.sim.compiled.on_chip.tokens import actor_tokens
from samhw.sim.worker import Worker

__all__ = ["actor_addresses", "phases_address"]

_addresses: WeakKeyDictionary[Actor, dict[Any, tuple[int, int]]] = WeakKeyDictionary()
"""What `actor_addresses` gave, by what the functions of an actor depend on besides."""


def actor_addresses(worker: Worker) -> tuple[int, int]:
    """The addresses of the compiled functions that find and that time a worker's firings.

    Errors as of `address_of`.
    """
    known = _addresses.setdefault(worker.actor, {})
    wiring = ports_of(worker), feeds_itself(worker), GateKind.of(worker), len(worker.memory)
    if wiring not in known:
        where = name_of(worker)
        known[wiring] = address_of(_tokens(worker), where), address_of(_cycles(worker), where)
    return known[wiring]


def phases_address() -> int:
    """Address of the compiled `run_phases`. Errors as of `address_of`."""
    return address_of(cast(FunctionType, run_phases), "phases")


def _tokens(worker: Worker) -> FunctionType:
    actor = worker.actor
    ports, traits = ports_of(worker), traits_of(worker)
    made_from = actor_tokens, function_key(cast(FunctionType, actor.step)), ports, *traits.values()
    return function_of(made_from, lambda: actor_tokens(actor.step, ports, **traits))


def _cycles(worker: Worker) -> FunctionType:
    traits: dict[str, Any] = {
        "inputs": len(worker.actor.inputs),
        "feeds_itself": feeds_itself(worker),
        "spaced": key_of(worker) is not None,
        "gate": GateKind.of(worker),
    }
    ports = ports_of(worker)
    return function_of((actor_cycles, ports, *traits.values()), lambda: actor_cycles(ports, **traits))
