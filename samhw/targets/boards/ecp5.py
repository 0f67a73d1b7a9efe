"""Lattice ECP5, for which Yosys and nextpnr make bitstreams."""

from typing import Any

from amaranth.hdl import Elaboratable, Instance, Value
from amaranth.vendor import LatticeECP5Platform

from samhw.cost import find_device
from samhw.errors import InputError
from samhw.targets.boards.board import CELLS, Family, Settings

__all__ = ["ECP5", "LFE5UM5G_45F", "LFE5U_85F", "place_options", "pll_words"]

# FPGA-TN-02200, the PLL; the phase detector from 3.125 MHz on, as in ecppll of Project Trellis.
_LEAST_INPUT = 3.125e6
_VCO = (400e6, 800e6)
_FASTEST = 400e6
_MOST_FEEDBACK = 80
_MOST_OUTPUT = 128


def place_options(platform: LatticeECP5Platform) -> list[str]:
    """What nextpnr-ecp5 has to be told: a platform's part, and who places (docs/decisions.md)."""
    family, _, size = platform.device.removesuffix("F").partition("-")
    kind, pins = platform.package[:2], platform.package[2:]
    device = "-".join([*([family.removeprefix("LFE5").lower()] if family != "LFE5U" else []), f"{size}k"])
    package = {"BG": "CABGA", "MG": "CSFBGA"}[kind]
    part = [f"--{device}", "--package", f"{package}{pins}", "--speed", platform.speed]
    return [*part, "--placer", "static"]


def pll_words(settings: Settings) -> dict[str, str]:
    """The words of a bitstream's text (Project Trellis) that hold the settings of its PLL, by name."""
    divider, feedback, output = (
        f"{settings.parameters[name] - 1:07b}" for name in ("CLKI_DIV", "CLKFB_DIV", "CLKOP_DIV")
    )
    return {"CLKI_DIV": divider, "CLKFB_DIV": feedback, "CLKOP_DIV": output, "CLKOP_CPHASE": output}


class _Ecp5(Family):
    block_bits = 18 * 1024
    cells = CELLS / "ecp5.v"
    bitstreams = True

    def settings(self, source: float, wanted: float) -> Settings:
        found: list[tuple[float, int, int, int]] = []
        for divider in range(1, int(source / _LEAST_INPUT) + 1):
            feedback = min(int(min(wanted, _FASTEST) * divider / source * (1 + 1e-9)), _MOST_FEEDBACK)
            frequency = source * feedback / divider
            outputs = [n for n in range(1, _MOST_OUTPUT + 1) if _VCO[0] <= frequency * n <= _VCO[1]]
            if feedback and outputs and frequency <= _FASTEST:
                found.append((frequency, -divider, feedback, outputs[-1]))
        if not found:
            raise InputError(
                f"The PLL of an ECP5 makes no clock of {wanted / 1e6:g} MHz; give --clock from 2.5 to 250 ns."
            )
        frequency, divider, feedback, output = max(found)
        parameters = {"CLKI_DIV": -divider, "CLKFB_DIV": feedback, "CLKOP_DIV": output}
        return Settings(frequency, parameters)

    def pll(
        self, settings: Settings, source: Value, clock: Value, locked: Value, late: Value | None = None
    ) -> Elaboratable:
        parameters: dict[str, Any] = {f"p_{name}": value for name, value in settings.parameters.items()}
        if late is not None:
            # In eighths of a period of the VCO, of which `output` are a period.
            output = int(settings.parameters["CLKOP_DIV"])
            phase, eighths = divmod(2 * output, 8)
            parameters |= {
                "p_CLKOS_ENABLE": "ENABLED",
                "p_CLKOS_DIV": output,
                "p_CLKOS_CPHASE": output - 1 + phase,
                "p_CLKOS_FPHASE": eighths,
                "i_ENCLKOS": 0,
                "o_CLKOS": late,
            }
        return Instance(
            "EHXPLLL",
            a_FREQUENCY_PIN_CLKOP=str(settings.frequency / 1e6),
            a_ICP_CURRENT="12",
            a_LPF_RESISTOR="8",
            p_PLLRST_ENA="DISABLED",
            p_INTFB_WAKE="DISABLED",
            p_STDBY_ENABLE="DISABLED",
            p_DPHASE_SOURCE="DISABLED",
            p_FEEDBK_PATH="CLKOP",
            p_CLKOP_ENABLE="ENABLED",
            p_CLKOP_CPHASE=settings.parameters["CLKOP_DIV"] - 1,
            p_CLKOP_FPHASE=0,
            **parameters,
            i_CLKI=source,
            i_CLKFB=clock,
            i_RST=0,
            i_STDBY=0,
            i_PHASESEL0=0,
            i_PHASESEL1=0,
            i_PHASEDIR=1,
            i_PHASESTEP=1,
            i_PHASELOADREG=1,
            i_PLLWAKESYNC=0,
            i_ENCLKOP=0,
            o_CLKOP=clock,
            o_LOCK=locked,
        )


ECP5 = _Ecp5()

LFE5U_85F = find_device("LFE5U-85F")
LFE5UM5G_45F = find_device("LFE5UM5G-45F")
