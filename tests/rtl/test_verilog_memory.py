"""Memories in generated Verilog: which become instances of a module of ours, and that it does what Amaranth's
memories do."""

import subprocess

import pytest
from amaranth.back import verilog as verilog_backend
from amaranth.hdl import Cat, Elaboratable, Module, Signal
from amaranth.lib import memory

from samhw.rtl.verilog_platform import VerilogMemories
from samhw.targets.building.verilator import build_program

DEPTH, WIDTH, READS = 100, 9, 2
MEMORIES = VerilogMemories("our_memory")


class SideBySide(Elaboratable):
    """A memory of either form with the same ports; the second read port is transparent."""

    def __init__(self) -> None:
        self.write_en = Signal()
        self.write_addr = Signal(range(DEPTH))
        self.write_data = Signal(WIDTH)
        self.read_en = Signal(READS)
        self.read_addr = [Signal(range(DEPTH), name=f"read_addr{k}") for k in range(READS)]
        self.ours = Signal(READS * WIDTH)
        self.theirs = Signal(READS * WIDTH)
        self.ports = [self.write_en, self.write_addr, self.write_data, self.read_en, *self.read_addr]
        self.ports += [self.ours, self.theirs]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name, result in (("ours", self.ours), ("theirs", self.theirs)):
            store = memory.Memory(shape=WIDTH, depth=DEPTH, init=[])
            write = store.write_port()
            reads = [store.read_port(), store.read_port(transparent_for=(write,))]
            m.d.comb += [
                write.en.eq(self.write_en),
                write.addr.eq(self.write_addr),
                write.data.eq(self.write_data),
                Cat(read.en for read in reads).eq(self.read_en),
                *(read.addr.eq(addr) for read, addr in zip(reads, self.read_addr, strict=True)),
                result.eq(Cat(read.data for read in reads)),
            ]
            m.submodules[name] = MEMORIES.get_memory(store) if name == "ours" else store
        return m


MAIN = """
#include <cstdio>
#include <random>
#include "Vtop.h"

int main() {
    VerilatedContext context;
    Vtop top{&context};
    std::mt19937 random{1};
    int differences = 0, collisions = 0, zeros = 0;
    top.eval();
    for (int cycle = 0; cycle < 20000; ++cycle) {
        top.write_en = random() % 4 == 0;
        top.write_addr = random() % 100;
        top.write_data = random() % 512;
        top.read_en = random() % 4;
        top.read_addr0 = random() % 100;
        top.read_addr1 = random() % 8 ? random() % 100 : top.write_addr;
        collisions += top.write_en && top.read_en == 3 && top.read_addr1 == top.write_addr;
        top.clk = 1;
        top.eval();
        top.clk = 0;
        top.eval();
        differences += top.ours != top.theirs;
        zeros += top.ours == 0;
    }
    std::printf("%d %d %d", differences, collisions > 100, zeros > 0 && zeros < 1000);
}
"""


@pytest.mark.slow
@pytest.mark.verilator
def test_it_does_what_a_memory_of_amaranth_does():
    design = SideBySide()
    text = verilog_backend.convert(design, name="bench", ports=design.ports, emit_src=False)
    assert text.count("our_memory #(") == 1
    program = build_program(text + MEMORIES.text, MAIN, harness=None, top="bench").path
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "1", "1"]


def converted(
    *, depth: int = 64, init: tuple[int, ...] = (), comb: bool = False, granularity: int | None = None
):
    """The Verilog of a memory."""
    m = Module()
    m.submodules.store = store = memory.Memory(shape=8, depth=depth, init=init)
    write = store.write_port(granularity=granularity)
    read = store.read_port(domain="comb" if comb else "sync")
    ports = [write.en, write.addr, write.data, read.addr, read.data, *([] if comb else [read.en])]
    return verilog_backend.convert(m, name="top", platform=MEMORIES, ports=ports, emit_src=False)


def test_which_memories_become_instances():
    assert "our_memory #(" in converted()
    assert len(converted(depth=1 << 16)) < 5000
    for other in (converted(depth=63), converted(init=(1,)), converted(comb=True), converted(granularity=4)):
        assert "our_memory" not in other
        assert "reg [7:0]" in other
