"""The cycle-accurate simulator: it computes the firing times of docs/timing.md, exactly.

Step functions become machine code (`machine_code`), and so does the engine (`compiled`).
"""

from samhw.graph.liveness import DeadlockError
from samhw.sim.account import CAUSES, Account, account, percents
from samhw.sim.bottleneck import Bottleneck, bottleneck
from samhw.sim.design_run import SimulatedRegion, joined, simulate_regions, simulated_regions, total_cycles
from samhw.sim.engines import ENGINES, Engine
from samhw.sim.memory_stats import DramChannelStats, MemoryStats, PortStats
from samhw.sim.off_chip import MemorySystem
from samhw.sim.result import ActorStats, ChannelStats, NodeStats, Passage, Result
from samhw.sim.run_work import LaneLoads, Traffic, lane_loads, operations, traffic
from samhw.sim.simulate import InterruptedRunError, Progress, simulate
from samhw.sim.token_traces import load_perfetto, write_chrome_trace, write_perfetto_trace
from samhw.sim.waveform import load_fst, write_fst, write_gtkwave, write_surfer, write_vcd

__all__ = [
    "CAUSES",
    "ENGINES",
    "Account",
    "ActorStats",
    "Bottleneck",
    "ChannelStats",
    "DeadlockError",
    "DramChannelStats",
    "Engine",
    "InterruptedRunError",
    "LaneLoads",
    "MemoryStats",
    "MemorySystem",
    "NodeStats",
    "Passage",
    "PortStats",
    "Progress",
    "Result",
    "SimulatedRegion",
    "Traffic",
    "account",
    "bottleneck",
    "joined",
    "lane_loads",
    "load_fst",
    "load_perfetto",
    "operations",
    "percents",
    "simulate",
    "simulate_regions",
    "simulated_regions",
    "total_cycles",
    "traffic",
    "write_chrome_trace",
    "write_fst",
    "write_gtkwave",
    "write_perfetto_trace",
    "write_surfer",
    "write_vcd",
]
