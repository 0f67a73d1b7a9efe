"""A DRAM as data: its organisation and timing; and the rule by which it moves bursts (docs/memory.md).

Clock c of the memory begins at c * clock_ps picoseconds, cycle t of a run at t * cycle_ps. Burst i of a
master's addresses is found by division, from the lowest digit: channel of the master's, bank group, column in
the row, bank of the group, row.

A request of cycle t reaches its channel at the clock `arrival`, the first that does not begin before the
cycle, plus `frontend`. With `column` the clock of its RD or WR, it ends at clock column + CL + burst (a read)
or column + CWL + burst (a write), plus `backend`; it is done in the first cycle that does not begin before
that. The channel gives each request the earliest clocks that these allow:

* PRE, if another row of the bank is open, not before: arrival; ACT of the bank + tRAS; last RD of the bank +
  tRTP; last WR of the bank + CWL + burst + tWR.
* ACT, if the row is not open: arrival; PRE + tRP; the ACT served before + tRRD_S, or, for the last one of the
  same bank group, + tRRD_L; the fourth ACT back + tFAW.
* RD: arrival; ACT + tRCD; the last RD + tCCD_S, in the group + tCCD_L; the last WR + CWL + burst + tWTR_S, in
  the group + CWL + burst + tWTR_L.
* WR: arrival; ACT + tRCD; the last WR + tCCD_S, in the group + tCCD_L; the last RD + CL + burst + 2 - CWL, or
  + tCCD_S if that is later.

A row stays open until a request for another row of its bank. A request is a hit if its row is open, a miss if
no row of its bank is, and else a conflict. At each clock k * tREFI, k >= 1, every channel closes all of its
rows, and gives no command for tRP + tRFC clocks. A request whose RD or WR would come at or after that clock
starts again after the refresh, and its earlier commands are forgotten. Data on their way arrive. At first no
row is open. The memory does not reorder, and its command bus takes any number of commands in a clock.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np

from samhw.errors import InputError, shown
from samhw.graph.off_chip_numbers import Ports, other_ports
from samhw.words import did_you_mean

__all__ = ["DDR4", "DRAM_PRESETS", "HBM2", "Dram"]


LONGEST_PS, GREATEST = 10**6, 10**11
"""The longest period of a clock, and the greatest of the other numbers: 64 bits then do for 10^12 cycles."""

MOST = 1 << 16
"""Banks, and requests on their way, that a simulation keeps account of."""


@dataclass(frozen=True)
class Dram:
    """A DRAM with its controller, beside an accelerator of a given clock. Times are in clocks of the DRAM.

    `groups` are the bank groups of a channel, `banks` the banks of a group, `row_bytes` what a row holds of
    one channel. A burst moves `burst_bytes` in `burst` clocks. The names in capitals are those of the JEDEC
    standards JESD79-4 (DDR4) and JESD235 (HBM), `_s` and `_l` standing for another and the same bank group.

    Raises:
        InputError: for numbers that docs/memory.md gives no meaning.
    """

    name: str
    clock_ps: int
    """Period of the DRAM's clock, picoseconds. Data move twice in a clock."""
    channels: int
    groups: int
    banks: int
    row_bytes: int
    burst_bytes: int
    burst: int
    cl: int
    """CL: RD to data."""
    cwl: int
    """CWL: WR to data."""
    rcd: int
    """tRCD: ACT to RD or WR."""
    rp: int
    """tRP: PRE to ACT."""
    ras: int
    """tRAS: ACT to PRE."""
    rtp: int
    """tRTP: RD to PRE."""
    wr: int
    """tWR: end of the data of a WR to PRE."""
    ccd_s: int
    ccd_l: int
    """tCCD: RD to RD, WR to WR."""
    rrd_s: int
    rrd_l: int
    """tRRD: ACT to ACT."""
    faw: int
    """tFAW: ACT to the fourth ACT after it."""
    wtr_s: int
    wtr_l: int
    """tWTR: end of the data of a WR to RD."""
    rfc: int
    """tRFC: a refresh."""
    refi: int
    """tREFI: from a refresh to the next."""
    frontend: int
    """From a port to the channel."""
    backend: int
    """From the end of a burst to the port."""
    cycle_ps: int = 4000
    """Period of the accelerator's clock, picoseconds."""
    ports: Ports = field(default_factory=Ports)
    """Those to it."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InputError(f"Dram.name is {shown(self.name)}; give a name.")
        if not isinstance(self.ports, Ports):
            raise InputError(f"Dram.ports is {shown(self.ports)}; give Ports.")
        for name in NUMBERS:
            value = getattr(self, name)
            least = 0 if name in ("cwl", "frontend", "backend") else 1
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
                raise InputError(f"Dram.{name} is {shown(value)}; give a whole number from {least} on.")
            object.__setattr__(self, name, int(value))
            most = LONGEST_PS if name.endswith("_ps") else GREATEST
            if value > most:
                raise InputError(f"Dram.{name} is {shown(value)}; give at most {most}.")
        line, masters = self.ports.line, self.ports.masters
        for given, text, good in (
            ("channels", f"at most {MOST:,} banks in all", self.channels * self.groups * self.banks <= MOST),
            ("channels", f"a multiple of the {masters} masters", self.channels % masters == 0),
            (
                "burst_bytes",
                f"a power of two from 4 on, which divides or is divided by a line of {line}",
                self.burst_bytes >= 4 and self.burst_bytes & (self.burst_bytes - 1) == 0,
            ),
            ("row_bytes", "a multiple of burst_bytes", self.row_bytes % self.burst_bytes == 0),
            ("ccd_s", "at least burst, so that data do not collide", self.ccd_s >= self.burst),
            ("ccd_l", "at least ccd_s", self.ccd_l >= self.ccd_s),
            ("rrd_l", "at least rrd_s", self.rrd_l >= self.rrd_s),
            ("wtr_l", "at least wtr_s", self.wtr_l >= self.wtr_s),
            ("rfc", "at least faw and rrd_l", self.rfc >= max(self.faw, self.rrd_l)),
            (
                "refi",
                "more than a refresh and an access take",
                self.refi > 2 * (self.rp + self.rfc + self.rcd),
            ),
        ):
            if not good:
                raise InputError(f"Dram.{given} is {getattr(self, given)}; give {text}.")

    @property
    def peak(self) -> float:
        """The most bytes that all channels together can move in a cycle of the accelerator."""
        return self.channels * self.burst_bytes / self.ccd_s * self.cycle_ps / self.clock_ps

    def latency(self, rows: int, *, write: bool = False) -> int:
        """The cycles from the acceptance of a request to the last beat of its line, or to its answer, with
        nothing else under way.

        Args:
            rows: the commands that its row takes: 0 if it is open, 1 if none is, 2 if another one is.
        """
        bursts = max(1, self.ports.line // self.burst_bytes)
        clocks = (self.cwl if write else self.cl) + (bursts - 1) * self.ccd_l + self.burst
        clocks += (0, self.rcd, self.rcd + self.rp)[rows]
        return -(-(self.frontend + clocks + self.backend) * self.clock_ps // self.cycle_ps)

    def to_json(self) -> dict[str, Any]:
        """A JSON object; `from_json` is its inverse."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Dram":
        """A DRAM from all of its fields, or from `preset` and those that differ from that one.

        Raises:
            InputError: for a field that is unknown, missing or has no meaning, or an unknown preset.
        """
        given = dict(data)
        known = [f.name for f in fields(cls)]
        preset = given.pop("preset", None)
        numbers = given.pop("ports", {})
        if not isinstance(numbers, Mapping):
            raise InputError(f"The ports of a Dram are {shown(numbers)}; give their numbers by name.")
        if unknown := [name for name in given if name not in known]:
            raise InputError(
                f"Dram has no field {shown(unknown[0])}{did_you_mean(unknown[0], known)}; the fields are "
                f"{', '.join(known)}."
            )
        if preset is not None:
            if not isinstance(preset, str) or preset not in DRAM_PRESETS:
                raise InputError(
                    f"There is no memory preset {shown(preset)}{did_you_mean(preset, DRAM_PRESETS)}; choose "
                    f"one of {', '.join(DRAM_PRESETS)}."
                )
            dram = DRAM_PRESETS[preset]
            return replace(dram, **given, ports=other_ports(dram.ports, numbers))
        required = [f.name for f in fields(cls) if f.name not in ("cycle_ps", "ports")]
        if missing := [name for name in required if name not in given]:
            raise InputError(f"Dram lacks the field {missing[0]!r}; give it, or a 'preset' to start from.")
        return cls(**given, ports=other_ports(Ports(), numbers))


NUMBERS = tuple(f.name for f in fields(Dram) if f.name not in ("name", "ports"))
"""The fields that are numbers, in their order."""


# One channel of DDR4-2400R: a DIMM of eight 8 Gb x8 devices, whose rows of 1 KB make 8 KB. Timing is that of
# the preset `DDR4_2400R` and of the tables for x8 devices (there after JESD79-4C) in Ramulator 2,
# src/dram/impl/DDR4.cpp; tRFC (350 ns), tREFI and the organisation are those of DRAMsim3,
# configs/DDR4_8Gb_x8_2400.ini, for Micron's MT40A1G8PM-083E. The controller takes 10 ns each way, as gem5's
# static_frontend_latency and static_backend_latency do.
DDR4 = Dram(
    name="ddr4",
    clock_ps=833,
    channels=1,
    groups=4,
    banks=4,
    row_bytes=8192,
    burst_bytes=64,
    burst=4,
    cl=16,
    cwl=12,
    rcd=16,
    rp=16,
    ras=39,
    rtp=9,
    wr=18,
    ccd_s=4,
    ccd_l=6,
    rrd_s=4,
    rrd_l=6,
    faw=26,
    wtr_s=3,
    wtr_l=9,
    rfc=420,
    refi=9364,
    frontend=12,
    backend=12,
    ports=Ports(beat=64, lines=32),
)

# One stack of HBM2 at 2 Gb/s a pin, as 16 pseudo channels of 64 bits (JESD235). Timing is that of
# `HBM_2000_4H_1x64` in gem5, src/mem/DRAMInterface.py: a pseudo channel of 64 bits in bursts of 4 with rows
# of 1 KB. tCCD_S is the burst. Shuhai (FCCM 2020, arXiv:2005.04324) measured 106.7 ns for a read of an open
# page from an AXI port of a U280, 122.2 ns if no page was open, and 137.8 ns if another one was: `frontend`,
# `backend`, tRCD and tRP are such that it takes 107, 122 and 138 ns here.
HBM2 = Dram(
    name="hbm2",
    clock_ps=1000,
    channels=16,
    groups=4,
    banks=4,
    row_bytes=1024,
    burst_bytes=32,
    burst=2,
    cl=18,
    cwl=7,
    rcd=15,
    rp=16,
    ras=28,
    rtp=5,
    wr=14,
    ccd_s=2,
    ccd_l=3,
    rrd_s=4,
    rrd_l=6,
    faw=16,
    wtr_s=4,
    wtr_l=9,
    rfc=220,
    refi=3900,
    frontend=43,
    backend=44,
    ports=Ports(beat=32, lines=64, masters=16),
)

DRAM_PRESETS: Mapping[str, Dram] = {"hbm2": HBM2, "ddr4": DDR4}
