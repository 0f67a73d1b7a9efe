"""The cycle-accurate simulator: it computes the firing times of docs/timing.md, exactly."""

from samhw.graph.deadlock import DeadlockError
from samhw.sim.bench import Bench, bench_primitive, run_primitive
from samhw.sim.result import ActorStats, ChannelStats, NodeStats, Result
from samhw.sim.simulate import simulate

__all__ = [
    "ActorStats",
    "Bench",
    "ChannelStats",
    "DeadlockError",
    "NodeStats",
    "Result",
    "bench_primitive",
    "run_primitive",
    "simulate",
]
