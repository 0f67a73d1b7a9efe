"""Drives a design with an AXI master that samhw did not write, and watches every stream.

Runs inside the simulator. `SAMHW_JOB` names the file in which test_cocotb.py left the graph, its data, and
what the model makes of them.
"""

import os
import pickle
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiMaster, AxiResp

from samhw.graph import GrammarChecker, Graph, Kind, MemoryRole, Token
from samhw.graph.address_map import Register, Status

from .job import Job

PATIENCE = 100_000
"""Cycles after which a run has got stuck."""


class Host:
    """A host at the port: with bursts, where it takes them."""

    def __init__(self, dut: Any, job: Job):
        self.dut = dut
        master, bus = (AxiMaster, AxiBus) if job.host.bursts else (AxiLiteMaster, AxiLiteBus)
        pins = bus.from_prefix(dut, "s_axi")
        self.axi = master(pins, dut.aclk, dut.aresetn, reset_active_level=False)

    async def reset(self) -> None:
        """Starts the clock and holds reset for some cycles."""
        cocotb.start_soon(Clock(self.dut.aclk, 10, unit="ns").start())
        self.dut.aresetn.value = 0
        for _ in range(4):
            await FallingEdge(self.dut.aclk)
        self.dut.aresetn.value = 1

    async def write(self, address: int, words: list[int]) -> AxiResp:
        """Writes words back to back; gives the response."""
        data = b"".join(word.to_bytes(4, "little") for word in words)
        return (await self.axi.write(address, data)).resp

    async def read(self, address: int, count: int = 1) -> list[int]:
        """Reads words back to back."""
        answer = await self.axi.read(address, 4 * count)
        assert answer.resp == AxiResp.OKAY
        return [int.from_bytes(answer.data[k : k + 4], "little") for k in range(0, 4 * count, 4)]

    async def load(self, job: Job) -> None:
        """Writes extents and input memories."""
        map = job.map
        for index, extent in job.extents.items():
            assert await self.write(map.extents[index], [extent]) == AxiResp.OKAY
        for name, words in job.memories.items():
            if words:
                assert await self.write(map.windows[name].base, words) == AxiResp.OKAY


async def watch(dut: Any, graph: Graph, k: int, trace: list[tuple[int, Token]]) -> None:
    """Records the tokens that leave a channel with their cycles, and checks the stream.

    Samples in the middle of the clock cycle, where every signal is settled.
    """
    channel = graph.channels[k]
    sink = graph.node[channel.sink.node]
    in_order = sink.spec.ordered(channel.sink.port, sink.params)
    checker = GrammarChecker(graph.stream(channel).depth, ordered=in_order, name=channel.name)
    valid, kind, payload = (getattr(dut, f"probe{k}_{part}") for part in ("valid", "kind", "payload"))
    while True:
        await FallingEdge(dut.aclk)
        if valid.value:
            token = Token(Kind(int(kind.value)), int(payload.value))
            checker.push(token)
            trace.append((int(dut.cycle.value), token))


async def run(dut: Any, host: Host) -> None:
    """Starts a run and waits for its end."""
    assert await host.write(Register.CONTROL, [1]) == AxiResp.OKAY
    for _ in range(PATIENCE):
        await FallingEdge(dut.aclk)
        if not dut.running.value:
            return
    raise AssertionError("the run does not end")


def load_job() -> Job:
    """What test_cocotb.py left."""
    with open(os.environ["SAMHW_JOB"], "rb") as file:
        job = pickle.load(file)
    assert isinstance(job, Job)
    return job


@cocotb.test()
async def agrees_with_the_model(dut: Any) -> None:
    """Two runs after each other: tokens and cycles of every channel, results, cycles of the run."""
    job = load_job()
    graph, map = job.design.regions[0], job.map
    host = Host(dut, job)
    await host.reset()
    traces: list[list[tuple[int, Token]]] = [[] for _ in graph.channels]
    for _ in range(2):
        watchers = [cocotb.start_soon(watch(dut, graph, k, trace)) for k, trace in enumerate(traces)]
        await host.load(job)
        await run(dut, host)
        for watcher in watchers:
            watcher.cancel()
        assert await host.read(Register.STATUS) == [Status.DONE]
        assert await host.read(Register.ERROR) == [0]
        low, high = await host.read(Register.CYCLES_LO, 2)
        assert low + (high << 32) == job.cycles
        for channel, trace in zip(graph.channels, traces, strict=True):
            assert trace == job.traces[channel.name], channel.name
            trace.clear()
        for name, words in job.results.items():
            assert await host.read(map.windows[name].base, len(words)) == words, name


@cocotb.test()
async def refuses_what_is_not_allowed(dut: Any) -> None:
    """Reading what only the host writes, writing what only the graph writes, addresses of nothing."""
    job = load_job()
    map = job.map
    host = Host(dut, job)
    await host.reset()
    assert await host.read(Register.IDENTITY) == [map.identity]
    windows = {role: [w for w in map.windows.values() if w.memory.role is role] for role in MemoryRole}
    for window in windows[MemoryRole.OUTPUT]:
        assert await host.write(window.base, [1]) == AxiResp.SLVERR
    for window in windows[MemoryRole.INPUT]:
        assert (await host.axi.read(window.base, 4)).resp == AxiResp.SLVERR
    assert await host.write(Register.STATUS, [0]) == AxiResp.SLVERR
    last = (1 << map.address_bits) - 4
    assert all(window.base + window.size <= last for window in map.windows.values())
    assert (await host.axi.read(last, 4)).resp == AxiResp.SLVERR
    assert await host.read(Register.STATUS) == [0]
