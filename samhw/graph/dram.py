"""Off-chip memory as data (docs/memory.md): organisation and timing of a DRAM, and what is placed there."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from samhw.errors import InputError, shown
from samhw.files import check_readable

__all__ = ["DDR4", "DRAM_PRESETS", "HBM2", "Dram", "OffChip"]


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
    prefetch: int = 2
    """Lines that a read port asks for ahead."""
    outstanding: int = 16
    """Most requests of one port on their way."""

    def __post_init__(self) -> None:
        zero = {"cwl", "frontend", "backend", "prefetch"}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "name":
                if not isinstance(value, str) or not value:
                    raise InputError(f"Dram.name is {shown(value)}; give a name.")
                continue
            least = 0 if field.name in zero else 1
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
                raise InputError(f"Dram.{field.name} is {shown(value)}; give a whole number from {least} on.")
            object.__setattr__(self, field.name, int(value))
            most = LONGEST_PS if field.name.endswith("_ps") else GREATEST
            if value > most:
                raise InputError(f"Dram.{field.name} is {shown(value)}; give at most {most}.")
        for given, text, good in (
            ("channels", f"at most {MOST:,} banks in all", self.channels * self.groups * self.banks <= MOST),
            ("outstanding", f"at most {MOST:,}", self.outstanding <= MOST),
            ("burst_bytes", "a multiple of 4", self.burst_bytes % 4 == 0),
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
            ("outstanding", "at least 2 * (1 + prefetch)", self.outstanding >= 2 * (1 + self.prefetch)),
        ):
            if not good:
                raise InputError(f"Dram.{given} is {getattr(self, given)}; give {text}.")

    @property
    def peak(self) -> float:
        """The most bytes that all channels together can move in a cycle of the accelerator."""
        return self.channels * self.burst_bytes / self.ccd_s * self.cycle_ps / self.clock_ps

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
        if unknown := [name for name in given if name not in known]:
            raise InputError(f"Dram has no field {shown(unknown[0])}; the fields are {', '.join(known)}.")
        if preset is not None:
            if not isinstance(preset, str) or preset not in DRAM_PRESETS:
                raise InputError(
                    f"There is no memory preset {shown(preset)}; choose one of {', '.join(DRAM_PRESETS)}."
                )
            return replace(DRAM_PRESETS[preset], **given)
        required = [f.name for f in fields(cls) if f.name not in ("cycle_ps", "prefetch", "outstanding")]
        if missing := [name for name in required if name not in given]:
            raise InputError(f"Dram lacks the field {missing[0]!r}; give it, or a 'preset' to start from.")
        return cls(**given)

    @classmethod
    def load(cls, spec: str) -> "Dram":
        """The preset of that name, or the JSON object in that file.

        Raises:
            InputError: if there is neither, or the file holds no DRAM.
        """
        if spec in DRAM_PRESETS:
            return DRAM_PRESETS[spec]
        if not spec.endswith(".json"):
            raise InputError(
                f"There is no memory {spec!r}; choose one of {', '.join(DRAM_PRESETS)}, or name a .json file."
            )
        try:
            data = json.loads(check_readable(Path(spec)).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"{spec} cannot be read ({error.strerror}); name another file.") from error
        except (ValueError, RecursionError) as error:
            raise InputError(f"{spec} is no JSON ({error}); fix it.") from error
        if not isinstance(data, dict):
            raise InputError(f"{spec} holds no JSON object; give the fields of a memory by name.")
        return cls.from_json(data)


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
)

# One stack of HBM2 at 2 Gb/s a pin, as 16 pseudo channels of 64 bits (JESD235). Timing is that of
# `HBM_2000_4H_1x64` in gem5, src/mem/DRAMInterface.py: a pseudo channel of 64 bits in bursts of 4 with rows
# of 1 KB. tCCD_S is the burst. The controller is as above.
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
    rcd=12,
    rp=14,
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
    frontend=10,
    backend=10,
)

DRAM_PRESETS: Mapping[str, Dram] = {"hbm2": HBM2, "ddr4": DDR4}


@dataclass(frozen=True)
class OffChip:
    """Tensors of a graph that lie in a DRAM: those of that name, or all."""

    dram: Dram
    tensors: tuple[str, ...] | None = None

    def holds(self, tensor: str) -> bool:
        """Whether a tensor lies off chip."""
        return self.tensors is None or tensor in self.tensors
