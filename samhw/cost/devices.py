"""FPGAs by name, with what they have; and how much of one a design may take."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from samhw.cost.components import BASE, FIGURES, Use
from samhw.errors import InputError
from samhw.graph.numerics import ValueType
from samhw.words import did_you_mean

__all__ = [
    "BEYOND_CLOCKS",
    "DEVICES",
    "FITS",
    "GREATEST_CLOCK",
    "MEASURED_ARCH",
    "NO_FIT",
    "SHOWN_DEVICES",
    "Budget",
    "Device",
    "find_device",
    "parse_budget",
    "reached_clock",
]

WORDS = {"luts": "luts", "registers": "registers", "brams": "block_rams", "dsps": "multipliers"}
"""What a budget's words limit."""

NAMES = {"luts": "LUTs", "registers": "registers", "block_rams": "block RAMs", "multipliers": "multipliers"}
"""What is limited, as people call it."""

FITS = "fits"
"""The verdict on what is small enough."""

NO_FIT = "does not fit"
"""How the verdict on what is too large begins."""


@dataclass(frozen=True)
class Budget:
    """How much of an FPGA a design may take, by estimate.

    Attributes:
        family: of the FPGA, one of `FAMILIES`.
        most: the limits, by the figures of `Use`; of what has none there may be any number.
    """

    family: str
    most: Mapping[str, float]

    def shares(self, use: Use) -> dict[str, float]:
        """What something takes of each limit; above 1 where that is too much."""
        taken = asdict(use)
        return {figure: taken[figure] / limit for figure, limit in self.most.items()}

    def share(self, use: Use) -> float:
        """The greatest of these; 0 without limits."""
        return max(self.shares(use).values(), default=0.0)

    def verdict(self, use: Use) -> str:
        """Whether something fits, such as `does not fit: block RAMs 122 %`, what lacks most first."""
        shares = self.shares(use)
        over = sorted((name for name, share in shares.items() if share > 1), key=lambda name: -shares[name])
        said = (f"{NAMES[name]} {max(100 * shares[name], 101):,.0f} %" for name in over)
        return f"{NO_FIT}: {', '.join(said)}" if over else FITS

    def verdict_with_shares(self, use: Use) -> str:
        """As `verdict`, and of what fits how much it takes, such as `fits: LUTs 4 %, block RAMs 12 %`."""
        shares = self.shares(use)
        if not shares or max(shares.values()) > 1:
            return self.verdict(use)
        said = (f"{NAMES[name]} {100 * share:,.0f} %" for name, share in shares.items())
        return f"{FITS}: {', '.join(said)}"

    def __str__(self) -> str:
        return ", ".join(f"{most:,.0f} {NAMES[figure]}" for figure, most in self.most.items())


@dataclass(frozen=True)
class Device:
    """An FPGA.

    Attributes:
        family: whose components were measured, one of `FAMILIES`.
        luts: of four inputs, or of six where the FPGA has those; or what its tools count.
        block_rams: of 36 Kb in a Xilinx FPGA, of 18 Kb in an ECP5, of 4 Kb in an iCE40.
    """

    name: str
    family: str
    luts: int
    registers: int
    block_rams: int
    multipliers: int

    def shares(self, use: Use) -> dict[str, float]:
        """What something takes of it, as fractions of all that it has."""
        return self.budget.shares(use)

    @property
    def budget(self) -> "Budget":
        """All that it has."""
        return Budget(self.family, {figure: getattr(self, figure) for figure in FIGURES})

    def verdict(self, use: Use) -> str:
        """Whether something fits, such as `does not fit: block RAMs 122 %`."""
        return self.budget.verdict(use)


DEVICES = {
    device.name: device
    for device in (
        # Lattice ECP5: family data sheet FPGA-DS-02012.
        Device("LFE5U-25F", "ecp5", 24_288, 24_288, 56, 28),
        Device("LFE5U-85F", "ecp5", 83_640, 83_640, 208, 156),
        Device("LFE5UM5G-45F", "ecp5", 43_848, 43_848, 108, 72),
        # Lattice iCE40 UltraPlus: FPGA-DS-02008.
        Device("iCE40UP5K", "ice40", 5_280, 5_280, 30, 8),
        # Xilinx 7 series: DS180; Zynq-7000: DS190.
        Device("XC7A35T", "xc7", 20_800, 41_600, 50, 90),
        Device("XC7A100T", "xc7", 63_400, 126_800, 135, 240),
        Device("XC7Z020", "xc7", 53_200, 106_400, 140, 220),
        # Xilinx UltraScale+: DS890; Zynq UltraScale+: DS891.
        Device("XCZU3EG", "xcup", 70_560, 141_120, 216, 360),
        Device("XCVU9P", "xcup", 1_182_240, 2_364_480, 2_160, 6_840),
    )
}
"""By name."""

SHOWN_DEVICES = tuple(DEVICES[name] for name in ("LFE5U-85F", "iCE40UP5K", "XC7A100T", "XCZU3EG"))
"""One of each family: what estimates show unless one is named."""


MEASURED_ARCH = "ecp5-100"
"""The latencies of the whole designs whose clocks were measured, on the slowest ECP5-85."""

REACHED = {"i32": 134.6, "bf16": 120.2, "f32": 103.2}
"""In MHz, the lowest clock of them by value type: benchmarks/results/synthesis_designs.json."""

GREATEST_CLOCK = 142.7
"""In MHz, the greatest of all of them."""

BEYOND_CLOCKS = (
    f"above {GREATEST_CLOCK} MHz, the most of the whole designs measured, on an ECP5 of the slowest speed "
    "grade; a small design or a faster grade may reach it"
)
"""Said of a clock that none of them reaches."""


def reached_clock(value: ValueType) -> float:
    """In MHz, what every measured design of a value type reaches; for a type that was not measured, what all
    of them reach."""
    return REACHED.get(value.name, min(REACHED.values()))


def find_device(name: str) -> Device:
    """That of a name, in letters of either case; raises `InputError` for one that is not known."""
    device = _named(name)
    if device is None:
        raise InputError(f"No FPGA {name!r} is known{_meant(name)}; there are {', '.join(DEVICES)}.")
    return device


def _meant(name: str) -> str:
    """Which FPGA may have been meant, in words."""
    meant = did_you_mean(name, map(str.lower, DEVICES))
    for known in DEVICES:
        meant = meant.replace(f"'{known.lower()}'", f"'{known}'")
    return meant


def _named(name: str) -> Device | None:
    return next((device for device in DEVICES.values() if device.name.casefold() == name.casefold()), None)


def parse_budget(text: str) -> Budget:
    """That of a text: the name of an FPGA, or limits of an ECP5 such as `luts=20000,brams=56`.

    Raises:
        InputError: for another text.
    """
    device = _named(text)
    if device is not None:
        return device.budget
    most = {}
    for item in text.split(","):
        word, _, count = (part.strip() for part in item.partition("="))
        if word not in WORDS or not count.isdecimal() or not int(count[:18]) > 0:
            raise InputError(
                f"{text!r} is no FPGA{_meant(text)}, and no area; give the most of {', '.join(WORDS)}, as in "
                f"luts=20000,brams=56, or one of {', '.join(DEVICES)}."
            )
        most[WORDS[word]] = float(count[:18])
    return Budget(BASE, most)
