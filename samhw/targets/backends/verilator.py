"""The generated RTL under Verilator as a backend."""

import logging
import time
from pathlib import Path
from typing import ClassVar, Literal

from samhw.compiler import Compiled
from samhw.errors import InputError
from samhw.graph import HostOptions
from samhw.targets.backends.backend import Execution
from samhw.targets.backends.rtl import BESIDE, RtlBackend
from samhw.targets.running.inputs import Inputs

__all__ = ["VerilatorBackend"]

_log = logging.getLogger(__name__)


class VerilatorBackend(RtlBackend):
    """The RTL, run by Verilator; needs a C++ compiler."""

    name = "verilator"
    target = "verilator"
    label = "RTL"
    records_waves = True
    key_files: ClassVar[dict[str, str]] = {"simulate": "the RTL as a program, built by Verilator"} | BESIDE

    def execute(
        self, compiled: Compiled, inputs: Inputs, *, wave: Path | None = None, host: str = ""
    ) -> Execution:
        """As for `Backend`.

        Args:
            wave: a file (.fst or .vcd) that records every signal.
            host: as for `build`.
        """
        # Imported here, since the simulator needs neither Amaranth nor a compiler.
        from samhw.targets.running.driver import VerilatedDesign

        start = time.perf_counter()
        rtl = VerilatedDesign.build(
            compiled.design, compiled.arch, wave=_wave_format(wave), host=HostOptions.parse(host)
        )
        built = time.perf_counter()
        _log.debug("running the RTL")
        found = rtl.run(*inputs, wave=wave, buffers=True)
        seconds = time.perf_counter() - built
        return Execution(found.memories, found.cycles, found.region_cycles, seconds, built - start)

    def write_program(self, compiled: Compiled, directory: Path, host: HostOptions) -> None:
        from samhw.targets.running.driver import VerilatedDesign

        VerilatedDesign.build(compiled.design, compiled.arch, optimise=True, host=host).copy_to(directory)


def _wave_format(wave: Path | None) -> Literal["fst", "vcd"] | None:
    match wave.suffix if wave else None:
        case None:
            return None
        case ".fst":
            return "fst"
        case ".vcd":
            return "vcd"
    raise InputError(f"{wave} is no waveform file; give it the suffix .fst or .vcd.")
