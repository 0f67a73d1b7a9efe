"""Runs a machine with tensors off chip: each actor's loop fires it until it waits (loop.py)."""

from samhw.machine_code import call
from samhw.sim.compiled.off_chip import functions
from samhw.sim.compiled.off_chip.ports import Ports
from samhw.sim.compiled.off_chip.records import Records
from samhw.sim.engine import Between
from samhw.sim.ports import Arbiter
from samhw.sim.worker import Worker

__all__ = ["functions", "run"]

BATCH = 1 << 19
"""Firings between two looks at what the caller wants: some 50 ms."""


def run(
    workers: list[Worker], limit: int, window: tuple[int, int], between: Between, arbiter: Arbiter
) -> None:
    """Runs the workers until none can fire, as `samhw.sim.compiled.run` does."""
    look, sweep = functions.other_addresses()
    records = Records(workers, limit, window, between, Ports(arbiter, look))
    try:
        while True:
            fired = call(sweep, records.arbiter, BATCH)
            seen = records.drain_log()
            between(records.firings(), records.cycle())
            if not fired and not seen and not records.grow():
                return
    finally:
        records.store()
