"""The compiled functions that run a machine with tensors off chip."""

from collections.abc import Callable
from types import FunctionType
from typing import cast

from samhw.machine_code import function_key
from samhw.sim.compiled.functions import compiled, name_of, ports_of
from samhw.sim.compiled.gate import GateKind
from samhw.sim.compiled.off_chip.actor import traits_of
from samhw.sim.compiled.off_chip.firing import OffChipUse
from samhw.sim.compiled.off_chip.loop import actor_loop
from samhw.sim.compiled.off_chip.ports import look_at
from samhw.sim.compiled.off_chip.sweeps import sweep_and_serve
from samhw.sim.worker import Worker

__all__ = ["loop_address", "other_addresses"]


def loop_address(worker: Worker, logs: bool) -> int:
    """Address of the compiled loop of a worker. Raises `Untranslatable`."""
    actor = worker.actor
    ports = ports_of(worker)
    off_chip = _off_chip(worker)
    traits = traits_of(worker) | {"gate": GateKind.of(worker), "logs": logs}
    want = off_chip.want and function_key(cast(FunctionType, off_chip.want))
    step = function_key(cast(FunctionType, actor.step))
    made_from = actor_loop, step, ports, *traits.values(), off_chip.late, want, off_chip.carried
    return compiled(
        made_from, lambda: actor_loop(actor.step, ports, **traits, off_chip=off_chip), name_of(worker)
    )


def other_addresses() -> tuple[int, ...]:
    """The addresses of what is compiled besides loops: `look_at`, and the sweeps."""
    return _address(look_at), _address(sweep_and_serve)


def _address(function: Callable[[int, int], int]) -> int:
    return compiled(function, lambda: function, "off-chip memory")


def _off_chip(worker: Worker) -> OffChipUse:
    late = sum(queue.off_chip << i for i, queue in worker.inputs.items())
    access = worker.access
    if access is None:
        return OffChipUse(late)
    carried = tuple(access.carried[j] for j in ports_of(worker))
    return OffChipUse(late, access.want, carried)
