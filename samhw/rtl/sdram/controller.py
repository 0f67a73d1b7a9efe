"""The controller: LiteDRAM's, made when it is needed, from the package that pip installs. Neither its PHY nor
its software is taken: the pins and what makes a chip ready are ours."""

import importlib.metadata
import importlib.util
import re
from functools import cache
from typing import Any

from samhw.errors import InputError
from samhw.graph.sdram import SdramChip

__all__ = ["CONTROLLER", "READ_LATENCY", "controller_verilog", "controller_version"]

CONTROLLER = "samhw_sdram_controller"
"""The name of its module."""

READ_LATENCY = 1
"""Cycles that the registers at the pins take beyond those of the chip: a command leaves in the cycle after
the controller gives it, and the chip's clock is early enough for its word to be back in time."""

PORTS = 2
"""The master's, and the host's."""

_PACKAGES = ("litedram", "litex", "migen")

_HEAD = re.compile(r"^(?:(?://.*|`timescale.*)?\n)*")
"""Comments with the date, and units of time, which no other module has."""

_BLOCK = re.compile(r"^always @\(\*\) begin\n(?:.*\n)*?end\n", re.MULTILINE)
_ASSIGNED = re.compile(r"^( +[\w\[\]:]+) <= ", re.MULTILINE)


def controller_version() -> str:
    """That of the packages.

    Raises:
        InputError: if one is not installed.
    """
    for package in _PACKAGES:
        if importlib.util.find_spec(package) is None:
            raise InputError(
                f"{package} was not found, of which the SDRAM's controller is made; install it with pip "
                "install 'samhw[rtl,fpga]'."
            )
    return " ".join(f"{package} {importlib.metadata.version(package)}" for package in _PACKAGES)


@cache
def controller_verilog(chip: SdramChip) -> str:
    """The controller of a chip, with `PORTS` native ports `port<n>_..` and the commands `dfi_..`; raises as
    `controller_version`."""
    controller_version()
    from litedram.common import PhySettings
    from litedram.core.controller import ControllerSettings, LiteDRAMController
    from litedram.core.crossbar import LiteDRAMCrossbar
    from litedram.modules import __dict__ as modules
    from litex.gen.fhdl import verilog
    from migen import ClockDomain, Module

    clock = 1e12 / chip.cycle_ps
    figures = modules[chip.figures](clock, "1:1")
    # LiteDRAM rounds the time up.
    figures.timing_settings.tREFI -= 1
    bits = 8 * chip.word_bytes
    pins = PhySettings(
        phytype="samhw",
        memtype="SDR",
        databits=bits,
        dfi_databits=bits,
        nphases=1,
        rdphase=0,
        wrphase=0,
        cl=chip.latency,
        read_latency=chip.latency + READ_LATENCY,
        write_latency=0,
    )
    m = Module()
    m.clock_domains.sys = sys = ClockDomain("sys")
    m.submodules.controller = controller = LiteDRAMController(
        pins, figures.geom_settings, figures.timing_settings, clock, ControllerSettings()
    )
    m.submodules.crossbar = crossbar = LiteDRAMCrossbar(controller.interface)
    members: list[tuple[str, Any]] = [(f"dfi_{name}", getattr(controller.dfi.p0, name)) for name in _DFI]
    for number in range(PORTS):
        port = crossbar.get_port()
        for channel, names in _PORT.items():
            part = getattr(port, channel)
            members += [(f"port{number}_{channel}_{name}", getattr(part, name)) for name in names]
    for name, signal in members:
        signal.name_override = name
    ports = {sys.clk, sys.rst, *(signal for _, signal in members)}
    text = str(verilog.convert(m, ports, name=CONTROLLER, regular_comb=False))
    return f"// The controller of an SDRAM, by {controller_version()}.\n" + _blocking(_HEAD.sub("", text))


def _blocking(text: str) -> str:
    """The text with blocking assignments where no clock is. Each such block assigns one variable, so that
    nothing else changes; simulators and synthesis ask for them."""
    return _BLOCK.sub(lambda block: _ASSIGNED.sub(r"\1 = ", block[0]), text)


_DFI = (
    *("address", "bank", "cs_n", "ras_n", "cas_n", "we_n"),
    *("wrdata", "wrdata_en", "wrdata_mask", "rddata_en", "rddata", "rddata_valid"),
)
_PORT = {
    "cmd": ("valid", "ready", "we", "addr"),
    "wdata": ("valid", "ready", "data", "we"),
    "rdata": ("valid", "data"),
}
