"""Xilinx 7 series. Vivado, which makes its bitstreams, comes from its vendor."""

from amaranth.hdl import Elaboratable, Instance, Module, Signal, Value

from samhw.cost import find_device
from samhw.errors import InputError
from samhw.targets.boards.board import CELLS, Family, Settings

__all__ = ["XC7A35T", "XILINX7"]

# DS181, PLL switching characteristics of speed grade -1.
_VCO = (800e6, 1600e6)
_LEAST_INPUT = 19e6
_MOST_FEEDBACK = 64
_MOST_OUTPUT = 128


class _Xilinx7(Family):
    block_bits = 36 * 1024
    cells = CELLS / "xilinx7.v"
    bitstreams = False

    def settings(self, source: float, wanted: float) -> Settings:
        found = []
        for divider in range(1, int(source / _LEAST_INPUT) + 1):
            for feedback in range(2, _MOST_FEEDBACK + 1):
                vco = source * feedback / divider
                output = max(1, -int(-vco * (1 - 1e-9) // wanted))
                if (
                    _VCO[0] <= vco <= _VCO[1]
                    and output <= _MOST_OUTPUT
                    and vco / output <= wanted * (1 + 1e-9)
                ):
                    found.append((vco / output, -divider, feedback, output))
        if not found:
            raise InputError(
                f"The PLL of a 7-series FPGA makes no clock of {wanted / 1e6:g} MHz; give --clock from 2 "
                "to 125 ns."
            )
        frequency, divider, feedback, output = max(found)
        parameters = {"DIVCLK_DIVIDE": -divider, "CLKFBOUT_MULT": feedback, "CLKOUT0_DIVIDE": output}
        return Settings(frequency, {**parameters, "CLKIN1_PERIOD": 1e9 / source})

    def pll(
        self, settings: Settings, source: Value, clock: Value, locked: Value, late: Value | None = None
    ) -> Elaboratable:
        if late is not None:
            raise InputError("samhw knows no board with a 7-series FPGA and an SDRAM; leave out --memory.")
        m = Module()
        feedback = Signal()
        made = Signal()
        m.submodules.pll = Instance(
            "PLLE2_BASE",
            **{f"p_{name}": value for name, value in settings.parameters.items()},
            i_CLKIN1=source,
            i_CLKFBIN=feedback,
            i_RST=0,
            i_PWRDWN=0,
            o_CLKFBOUT=feedback,
            o_CLKOUT0=made,
            o_LOCKED=locked,
        )
        m.submodules.buffer = Instance("BUFG", i_I=made, o_O=clock)
        return m


XILINX7 = _Xilinx7()
XC7A35T = find_device("XC7A35T")
