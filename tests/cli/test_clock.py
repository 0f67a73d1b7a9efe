"""Cycles as time: `--clock` of run and compare, and the clocks that memory and boards have."""

from typing import Any

import pytest

from samhw.app.cli.backends import CLOCK
from samhw.app.report.time import beside, period_of
from samhw.errors import InputError
from samhw.graph import DDR4
from tests.support.command import good, refused, report


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("100MHz", 10),
        ("100 mhz", 10),
        ("0.1GHz", 10),
        ("100000kHz", 10),
        ("100000000Hz", 10),
        ("10ns", 10),
        ("12.5ns", 12.5),
    ],
)
def test_clocks(text: str, period: float) -> None:
    assert CLOCK.convert(text, None, None) == pytest.approx(period)


@pytest.mark.parametrize(
    "clock", ["0MHz", "-1MHz", "nanMHz", "1e3MHz", "MHz", "1.2.3MHz", "5THz", "\u0663MHz"]
)
def test_what_is_no_clock(clock: str) -> None:
    """A number alone may be a frequency or a period."""
    message = refused("run", "spmv", f"--clock={clock}")
    assert f"{clock} is no clock; give its frequency, as 80MHz, or its period, as 12.5ns" in message


@pytest.mark.parametrize(
    ("clock", "said"),
    [
        (250e6, "250000000.0 is no clock; give its frequency, as 250MHz, or its period, as 4ns."),
        ("100", "100 is no clock; give its frequency, as 100MHz, or its period, as 10ns."),
        (True, "True is no clock; give its frequency, as 1MHz, or its period, as 1000ns."),
        (10**400, "give its frequency, as 80MHz, or its period, as 12.5ns."),
    ],
)
def test_a_number_without_a_unit_is_refused_by_what_it_may_mean(clock: Any, said: str) -> None:
    with pytest.raises(InputError) as refusal:
        period_of(clock)
    assert said in str(refusal.value)


@pytest.mark.parametrize("clock", ["0.5Hz", "2000GHz"])
def test_what_no_hardware_has(clock: str) -> None:
    assert "is no clock of hardware; give 1Hz to 1000GHz" in refused("compare", "spmv", "--clock", clock)


def test_a_run_takes_time() -> None:
    assert "  time       27.070 µs at 100 MHz\n" in good("run", "spmm", "--clock", "100MHz").stdout
    assert "  time  " not in good("run", "spmm").stdout
    found = report("run", "spmm", "--clock", "100MHz")
    assert found["clock_hz"] == 100e6
    assert found["hardware_seconds"] == pytest.approx(found["cycles"] / 100e6)
    assert "clock_hz" not in report("run", "spmm")


def test_memory_is_given_for_a_clock() -> None:
    """By default of 4 ns. Beside a slower one the memory is quicker, in cycles."""
    plain = report("run", "spmm", "--memory", "ddr4")
    assert plain["clock_hz"] == 250e6
    same = report("run", "spmm", "--memory", "ddr4", "--clock", "250MHz")
    slow = report("run", "spmm", "--memory", "ddr4", "--clock", "100MHz")
    assert same["cycles"] == plain["cycles"]
    assert slow["cycles"] < plain["cycles"]
    assert slow["hardware_seconds"] > plain["hardware_seconds"]
    # A master takes 64 bytes a cycle, which is less than the memory could give.
    for found, peak in ((plain, 16.0), (slow, 6.4)):
        memory = found["memory"]
        assert memory["gigabytes_per_second"] == pytest.approx(
            memory["bytes"] / found["hardware_seconds"] / 1e9
        )
        assert memory["peak_gigabytes_per_second"] == pytest.approx(peak, rel=1e-3)
    output = good("run", "spmm", "--memory", "ddr4", "--clock", "100MHz").stdout
    assert "of 6.4 GB/s" in output
    assert "µs at 100 MHz" in output
    assert beside(DDR4, None) == (DDR4, 4.0)
    with pytest.raises(InputError):
        beside(DDR4, 1e9)


def test_schedules_are_compared_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    output = good("compare", "gcn", "--clock", "100MHz").stdout
    assert "gcn on karate, f32, at 100 MHz" in output
    assert "65.000 µs" in output
    found = report("compare", "gcn", "--clock", "100MHz")["outcomes"]
    assert all(o["hardware_seconds"] == pytest.approx(o["cycles"] / 100e6) for o in found)
    assert all("gigabytes_per_second" not in outcome for outcome in found)
    found = report("compare", "mlp", "--data", "random", "--memory", "hbm2")["outcomes"]
    for outcome in found:
        rate = outcome["bytes_moved"] / outcome["hardware_seconds"] / 1e9
        assert outcome["gigabytes_per_second"] == pytest.approx(rate)
    assert "GB/s" in good("compare", "mlp", "--data", "random", "--memory", "hbm2").stdout
    assert "time" not in good("compare", "spmv").stdout


@pytest.mark.slow
@pytest.mark.verilator
def test_a_board_has_a_clock() -> None:
    board = ("run", "spmv", "--backend", "board:ulx3s", "--emulate")
    found = report(*board)
    assert found["clock_hz"] == 50e6
    assert found["hardware_seconds"] == pytest.approx(found["cycles"] / 50e6)
    assert report(*board, "--clock", "40MHz")["clock_hz"] == 40e6
