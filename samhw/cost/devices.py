"""FPGAs by name, with what they have."""

from dataclasses import asdict, dataclass

from samhw.cost.components import Use
from samhw.errors import InputError

__all__ = ["DEVICES", "SHOWN_DEVICES", "Device", "find_device"]


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
        return {name: figure / getattr(self, name) for name, figure in asdict(use).items()}


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


def find_device(name: str) -> Device:
    """That of a name, in letters of either case; raises `InputError` for one that is not known."""
    for device in DEVICES.values():
        if device.name.casefold() == name.casefold():
            return device
    raise InputError(f"No FPGA {name!r} is known; there are {', '.join(DEVICES)}.")
