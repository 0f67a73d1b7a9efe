"""A host at the AXI4-Lite port of `square.ein`, as in docs/host_port.md. `run.py` runs it."""

import json
import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster

X = {3: 7, 5: -2, 999: 11}
MAP = json.loads((Path(os.environ["BUILD"]) / "address_map.json").read_text())
ADDRESS = {memory["name"]: memory["address"] for memory in MAP["memories"]}


class Host:
    """Words through the port."""

    def __init__(self, dut: Any) -> None:
        bus = AxiLiteBus.from_prefix(dut, "s_axi")
        self.axi = AxiLiteMaster(bus, dut.aclk, dut.aresetn, reset_active_level=False)

    async def write(self, address: int, *words: int) -> None:
        await self.axi.write(address, b"".join((word % 2**32).to_bytes(4, "little") for word in words))

    async def read(self, address: int, count: int = 1) -> list[int]:
        data = bytes((await self.axi.read(address, 4 * count)).data)
        return [int.from_bytes(data[at : at + 4], "little") for at in range(0, 4 * count, 4)]


@cocotb.test()
async def squares(dut: Any) -> None:
    """Loads x, starts a run, waits for its end, and reads y."""
    registers = MAP["registers"]
    cocotb.start_soon(Clock(dut.aclk, 10, unit="ns").start())
    dut.aresetn.value = 0
    for _ in range(4):
        await FallingEdge(dut.aclk)
    dut.aresetn.value = 1
    host = Host(dut)
    assert await host.read(registers["IDENTITY"]) == [MAP["identity"]]
    await host.write(MAP["extents"]["i"]["address"], 1000)
    await host.write(ADDRESS["x.pos0"], 0, len(X))
    await host.write(ADDRESS["x.crd0"], *X)
    await host.write(ADDRESS["x.vals"], *X.values())
    await host.write(registers["CONTROL"], 1)
    while dut.running.value:
        await FallingEdge(dut.aclk)
    assert dut.done.value
    _, count = await host.read(ADDRESS["y.pos0"], 2)
    assert await host.read(ADDRESS["y.crd0"], count) == list(X)
    assert await host.read(ADDRESS["y.vals"], count) == [value**2 for value in X.values()]
    cycles = await host.read(registers["CYCLES_LO"])
    dut._log.info("%d cycles", cycles[0])
