"""A channel of off-chip memory: requests worked out by hand, and against a clock; memories as data."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samhw.errors import InputError
from samhw.graph import DDR4, HBM2, Dram, load_memory
from samhw.sim.dram import Counts, channel_at, dram_counts, dram_words, serve
from tests.sim.clocked_memory import ClockedChannel, Request
from tests.sim.drams import SMALL, drams


@settings(max_examples=150)
@given(drams(), st.integers(0, 2**32 - 1))
def test_requests_agree_with_the_clock(dram: Dram, seed: int) -> None:
    """A channel alone, under more requests than actors make, in bursts and with rests."""
    rng = np.random.default_rng(seed)
    count = 60
    gaps = rng.choice([0, 1, 2, 40], count, p=[0.6, 0.2, 0.15, 0.05])
    arrivals = np.cumsum(gaps).tolist()
    rows = rng.integers(int(rng.integers(1, 4)), size=count).tolist()
    groups = rng.integers(dram.groups, size=count).tolist()
    banks = rng.integers(dram.banks, size=count).tolist()
    writes = (rng.random(count) < rng.choice([0.0, 0.2, 0.5])).tolist()
    requests = list(zip(arrivals, groups, banks, rows, writes, strict=True))

    ends, counts = served(dram, *requests)
    reference = ClockedChannel(dram)
    reference.queue = [
        Request(write, arrival, group, bank, row) for arrival, group, bank, row, write in requests
    ]
    for clock in range(max(ends)):
        reference.tick(clock)
    columns = [request.column for request in reference.queue]
    latency = [(dram.cwl if request.write else dram.cl) + dram.burst for request in reference.queue]
    assert [end - cycles for end, cycles in zip(ends, latency, strict=True)] == columns
    assert tuple(vars(counts).values()) == reference.counts()


def served(dram: Dram, *requests: tuple[int, int, int, int, bool]) -> tuple[list[int], Counts]:
    """When the data of requests (arrival, group, bank, row, write) have passed, and the counts."""
    memory = dram_words(dram)
    ends = [serve(memory, channel_at(memory, 0), *request) for request in requests]
    return ends, dram_counts(memory)[0]


def test_hit_miss_and_conflict_by_hand() -> None:
    """A miss: ACT in 10, RD in 14, data until 14 + 5 + 2. A hit: RD in 30. A conflict: PRE in 40, ACT in 46,
    RD in 50."""
    ends, counts = served(SMALL, (10, 0, 0, 1, False), (30, 0, 0, 1, False), (40, 0, 0, 2, False))
    assert ends == [21, 37, 57]
    assert (counts.reads, counts.hits, counts.misses, counts.conflicts) == (3, 1, 1, 1)


def test_a_row_stays_open_for_its_time() -> None:
    """ACT in 0, RD in 4; PRE not before 0 + tRAS = 20, so ACT in 26 and RD in 30."""
    assert served(SMALL, (0, 0, 0, 1, False), (5, 0, 0, 2, False))[0] == [11, 37]
    # A write: WR in 4, its data until 4 + 3 + 2 = 9, PRE not before 9 + tWR = 16: tRAS is later. With a short
    # tRAS it is not: PRE in 16, ACT in 22, RD in 26.
    short = replace(SMALL, ras=1)
    assert served(short, (0, 0, 0, 1, True), (5, 0, 0, 2, False))[0] == [9, 33]


def test_banks_work_side_by_side() -> None:
    """ACTs of two groups in 0 and 2 (tRRD_S), RDs in 4 and 6; of one group in 0 and 5 (tRRD_L), RDs in 4, 9.
    In one bank the second has to wait for tRAS: RD in 30."""
    assert served(SMALL, (0, 0, 0, 1, False), (0, 1, 0, 1, False))[0] == [11, 13]
    assert served(SMALL, (0, 0, 0, 1, False), (0, 0, 1, 1, False))[0] == [11, 16]
    assert served(SMALL, (0, 0, 0, 1, False), (0, 0, 0, 2, False))[0] == [11, 37]


def test_hits_follow_each_other_at_the_rate_of_the_bus() -> None:
    """RDs of one group are tCCD_L = 3 apart, those of two groups in turn tCCD_S = 2."""
    same = served(SMALL, *((0, 0, 0, 1, False) for _ in range(3)))[0]
    assert same == [11, 14, 17]
    # The ACT of the other group comes in 2.
    turns = served(SMALL, *((0, n % 2, 0, 1, False) for n in range(4)))[0]
    assert turns == [11, 13, 15, 17]


def test_four_activations_in_a_window() -> None:
    """ACTs in 0, 2, 5, 7; the fifth not before 0 + tFAW = 15, though tRRD would allow 10."""
    dram = replace(SMALL, banks=4)
    requests = ((0, n % 2, n // 2, 1, False) for n in range(5))
    # RDs 4 after the ACTs, data 7 after those.
    assert served(dram, *requests)[0] == [11, 13, 16, 18, 26]


def test_the_bus_turns_round() -> None:
    """RD in 4, WR in 4 + CL + 2 + 2 - CWL = 10, its data until 15; RD in 15 + tWTR_L = 19, data until 26."""
    requests = ((0, 0, 0, 1, False), (0, 0, 0, 1, True), (0, 0, 0, 1, False))
    assert served(SMALL, *requests)[0] == [11, 15, 26]


def test_a_refresh_closes_rows_and_takes_its_time() -> None:
    """The refresh at 1000 ends at 1000 + tRP + tRFC = 1056. ACT in 1056, RD in 1060."""
    ends, counts = served(SMALL, (900, 0, 0, 1, False), (1010, 0, 0, 1, False))
    assert ends == [911, 1067]
    assert (counts.misses, counts.refreshing) == (2, 46)
    # A RD in 999 is in time, one in 1000 is not, and starts again.
    for arrival, end, waited in ((995, 1006, 0), (996, 1067, 56)):
        ends, counts = served(SMALL, (arrival, 0, 0, 1, False))
        assert (ends, counts.refreshing) == ([end], waited)


@pytest.mark.parametrize("dram", [DDR4, HBM2])
def test_presets(dram: Dram) -> None:
    assert Dram.from_json(dram.to_json()) == dram
    assert load_memory(dram.name) == dram
    # 19.2 GB/s, 256 GB/s; a cycle is 4 ns.
    assert dram.peak / 4 == pytest.approx({"ddr4": 19.2, "hbm2": 256}[dram.name], rel=0.001)


def test_a_memory_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text('{"preset": "ddr4", "name": "two", "channels": 2}')
    assert load_memory(str(path)) == replace(DDR4, name="two", channels=2)


def test_memories_that_are_refused(tmp_path: Path) -> None:
    for name, text, message in (
        ("a.json", "{", "a.json is no JSON"),
        ("b.json", "[]", "b.json holds no JSON object"),
        (
            "c.json",
            '{"preset": "ddr9"}',
            "no memory preset 'ddr9' (did you mean 'ddr4'?); choose one of hbm2",
        ),
        ("d.json", '{"banks": 4}', "lacks the field 'name'"),
        ("e.json", '{"preset": "ddr4", "tRP": 4}', "has no field 'tRP'"),
        ("i.json", '{"preset": "ddr4", "name": 5}', "Dram.name is 5; give a name"),
        ("f.json", '{"preset": "ddr4", "rp": 0}', "Dram.rp is 0; give a whole number from 1 on"),
        (
            "j.json",
            '{"preset": "ddr4", "refi": 100000000001}',
            "refi is 100000000001; give at most 1000",
        ),
        (
            "k.json",
            '{"preset": "ddr4", "clock_ps": 1000001}',
            "clock_ps is 1000001; give at most 1000000",
        ),
        ("g.json", '{"preset": "ddr4", "ports": {"lines": 3}}', "Ports.lines is 3; give a power of two"),
        ("l.json", '{"preset": "ddr4", "ports": {"ahead": 31}}', "lines is 32; give at least ahead + 2 = 33"),
        (
            "m.json",
            '{"preset": "ddr4", "ports": {"depth": 3}}',
            "Ports have no number 'depth'; they have",
        ),
        ("n.json", '{"preset": "ddr4", "ports": {"masters": 2}}', "channels is 1; give a multiple of the 2"),
        ("h.json", '{"preset": "ddr4", "burst_bytes": 6}', "burst_bytes is 6; give a power of two"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError, match=re.escape(message)):
            load_memory(str(tmp_path / name))
    with pytest.raises(
        InputError,
        match=r"no memory 'hbm9' \(did you mean 'hbm2'\?\); choose one of hbm2, ddr4, sdram, constant:T,",
    ):
        load_memory("hbm9")
    with pytest.raises(InputError, match=r"cannot be read"):
        load_memory(str(tmp_path / "none.json"))
