"""The generated RTL as a folder of Verilog, for somebody else's project."""

from pathlib import Path
from typing import ClassVar

from samhw.backends.backend import Target
from samhw.backends.sim import write_graph
from samhw.building.verilog import NAME, write_address_map, write_verilog
from samhw.compiler import Compiled
from samhw.running.inputs import Inputs

__all__ = ["VerilogTarget"]


class VerilogTarget(Target):
    """Verilog with an AXI4-Lite port; needs no C++ compiler."""

    target = "verilog"
    settings = frozenset({"name"})
    key_files: ClassVar[dict[str, str]] = {
        "*.f": "the list of the modules in rtl/, the top first",
        "*.vlt": "lint exceptions; its first line has Verilator's command",
        "address_map.h": "the host's addresses, also as JSON",
    }

    def build(
        self,
        compiled: Compiled,
        directory: Path,
        inputs: Inputs | None,
        *,
        name: str = NAME,
    ) -> None:
        """The graph, the modules (`rtl/`, with their list, `NAME.f`, and lint exceptions, `NAME.vlt`), and
        the address map as JSON and as a C header.

        Args:
            name: of the top module; the header's macros begin with it in capitals.
        """
        write_graph(compiled, directory)
        write_verilog(compiled.design, compiled.arch, directory, name)
        write_address_map(compiled.design, compiled.arch, directory, name)
