"""A build for a board as a folder, and sessions with it over the link."""

import json
import logging
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from samhw.errors import RunError
from samhw.graph import AddressMap, Arch, Design, OffChipLayout, Ports, loads
from samhw.graph.address_map import Register, Status
from samhw.graph.numerics import Words
from samhw.graph.off_chip_numbers import SdramChip
from samhw.targets.boards.board import Board, read_board
from samhw.targets.building.boards.bitstream import loading_command, make_bitstream
from samhw.targets.building.boards.netlist import BoardDesign
from samhw.targets.link import Client, SerialPort, Transport
from samhw.targets.running.images import unload
from samhw.targets.running.port import Ending, WordPort
from samhw.targets.running.session import HardwareResult, PortSession
from samhw.tensors import Tensor

__all__ = ["BoardFolder", "BoardSession", "write_folder"]


# Sessions with a design over the link.


class _LinkPort(WordPort):
    """The host port of a design on a board."""

    def __init__(self, client: Client, addresses: AddressMap):
        self.client = client
        self._map = addresses
        self._begin = 0.0

    def load(self, address: int, words: ArrayLike) -> None:
        self.client.write(address, words)

    def read(self, address: int, count: int) -> Words:
        return self.client.read(address, count).astype(np.int64)

    def start(self) -> None:
        self._begin = time.perf_counter()
        self.client.write(Register.CONTROL, 1)

    def wait(self, limit: int) -> Ending:
        while True:
            status, error, node, low, high = self.read(Register.STATUS, 5).tolist()
            cycles = low | high << 32
            if not status & Status.RUNNING or cycles > limit:
                break
        # A run may end before it is looked at for the first time.
        done = bool(status & Status.DONE) and cycles <= limit
        if not status:
            raise RunError("The board does not start the run; load its bitstream again.")
        states = self._map.channel_states
        return Ending(
            "error" if status & Status.ERROR else "done" if done else "limit",
            error,
            node,
            cycles,
            [] if done else self.read(states.start, len(states)).tolist(),
            time.perf_counter() - self._begin,
        )

    def reset(self) -> None:
        self.client.hello()

    def close(self) -> None:
        self.client.close()


class BoardSession(PortSession):
    """A board that runs a design again and again. A run that fails, for whatever reason, can be followed by
    another one.

    Args:
        build: what the link has to say of the build (docs/link.md).
        transport: the line to the board, which the session closes.
        layout: what of the tensors lies in the board's SDRAM.

    Raises:
        RunError: if nothing answers, or if what answers is not this build.
    """

    port: _LinkPort

    def __init__(
        self,
        design: Design,
        arch: Arch,
        build: int,
        transport: Transport,
        layout: OffChipLayout | None = None,
    ):
        self._build = build
        self._loaded: set[str] = set()
        self._known = False
        """What answers is this build."""
        port = _LinkPort(Client(transport), AddressMap(design, arch, layout=layout))
        super().__init__(design, arch, port, layout=layout)

    @property
    def repeats(self) -> int:
        """How often a request had to be sent again."""
        return self.port.client.repeats

    def _check_identity(self) -> None:
        """Greets the board, which resets the design."""
        self._known = False
        build = self.port.client.hello()
        found = int(self.port.read(Register.IDENTITY, 1)[0])
        name, where = self.design.name, self.port.client.transport.name
        if found != self.map.identity:
            raise RunError(
                f"The board at {where} holds another design ({found:#010x}) than {name} "
                f"({self.map.identity:#010x}); load the bitstream of {name}."
            )
        if build != self._build:
            raise RunError(
                f"The bitstream of {name} in the board at {where} is stale ({build:#010x}): it was made by "
                f"another version of samhw, or for another baud rate ({self._build:#010x} is wanted); "
                "load a new one."
            )
        self._known = True

    def _load(self, memories: Mapping[str, ArrayLike], extents: Mapping[str, int]) -> None:
        if not (self._known and self.port.client.greeted):
            self._check_identity()
            if lost := sorted(self._loaded - memories.keys()):
                raise RunError(f"The board has lost what was loaded into {', '.join(lost)}; load it again.")
        super()._load(memories, extents)
        self._loaded |= memories.keys()


_log = logging.getLogger(__name__)

_BUILD, _DATA, _BOARD = "build.json", "data.npz", "board.py"

_HOST = """\
\"\"\"Runs this build on its board: python host.py PORT, as in python host.py /dev/ttyUSB0.

{first}
Of the ports that appear with the cable, the link is {serial}.
\"\"\"

import sys
from pathlib import Path

from samhw.targets.running.boards import BoardFolder

build = BoardFolder(Path(__file__).parent)
memories, extents = build.data()
with build.session(sys.argv[1]) as session:
    result = session.run(memories, extents)
print(f"{{result.cycles:,}} cycles")
for name, tensor in build.results(result, extents).items():
    print(name)
    print(tensor.to_dense())
"""


def write_folder(
    on_board: BoardDesign,
    directory: Path,
    data: tuple[Mapping[str, Words], Mapping[str, int]] | None,
) -> None:
    """Writes the netlist, the constraints and the scripts of a vendor's tools; the board's file; if pip has
    the tools, the bitstream (`top.bit`) with its report (`report.txt`); and with data the host (`host.py`).

    Raises `InputError` and `RunError` as `make_bitstream` does.
    """
    board = on_board.board
    for path in sorted(on_board.netlist().iterdir()):
        if path.suffix in (".il", ".lpf", ".v", ".xdc", ".tcl") and not path.name.endswith(".debug.v"):
            shutil.copy2(path, directory / path.name)
    shutil.copyfile(board.file, directory / _BOARD)
    clock = on_board.clock
    if board.family.bitstreams:
        bitstream = make_bitstream(on_board)
        clock = bitstream.clock
        shutil.copy2(bitstream.path, directory / bitstream.path.name)
        (directory / "report.txt").write_text(bitstream.report(on_board), encoding="utf-8")
    else:
        _log.info("%s is a project for its vendor's tools, which nobody has tried yet", board.title)
    build: dict[str, Any] = {
        "board": board.name,
        "clock": clock,
        "baud": on_board.baud,
        "build": on_board.build,
    }
    if on_board.layout is not None and on_board.layout.chip is not None:
        build["sdram"] = {
            "chip": on_board.layout.chip.to_json(),
            "ports": on_board.layout.ports.to_json(),
            "arrays": sorted(on_board.layout.arrays),
        }
    (directory / _BUILD).write_text(json.dumps(build, indent=2) + "\n", encoding="utf-8")
    if data is not None:
        memories, extents = data
        arrays = {f"memory {name}": np.asarray(words, np.uint32) for name, words in memories.items()}
        arrays |= {f"extent {index}": np.asarray(extent, np.uint32) for index, extent in extents.items()}
        np.savez(directory / _DATA, allow_pickle=False, **arrays)
        load = f"load the bitstream: {loading_command(board, 'top.bit')}"
        make = (
            ""
            if board.family.bitstreams
            else "make the bitstream, as with vivado -mode batch -source top.tcl, and "
        )
        host = _HOST.format(first=f"First {make}{load}", serial=board.serial)
        (directory / "host.py").write_text(host, encoding="utf-8")


class BoardFolder:
    """A folder that `samhw build --target board:..` has written.

    Attributes:
        design, arch: what is on the board.
    """

    def __init__(self, directory: Path):
        self._directory = directory
        self.design = loads((directory / "graph.json").read_text(encoding="utf-8"))
        self.arch = Arch.from_json(json.loads((directory / "arch.json").read_text(encoding="utf-8")))
        self._build = json.loads((directory / _BUILD).read_text(encoding="utf-8"))

    @property
    def layout(self) -> OffChipLayout | None:
        """What lies in the board's SDRAM."""
        if (sdram := self._build.get("sdram")) is None:
            return None
        chip, ports = SdramChip(**sdram["chip"]), Ports(**sdram["ports"])
        return OffChipLayout(self.design, self.arch, ports, dict.fromkeys(sdram["arrays"], 0), chip)

    @property
    def board(self) -> Board:
        """The board. It takes Amaranth to read its file, which a host does without."""
        return read_board((self._directory / _BOARD).resolve())

    def session(self, port: str) -> BoardSession:
        """A session through a serial port with a board that holds the bitstream.

        Raises `InputError` for a port that is not there, and `RunError` as `BoardSession` does.
        """
        line = SerialPort(port, self._build["baud"])
        return BoardSession(self.design, self.arch, self._build["build"], line, self.layout)

    def data(self) -> tuple[dict[str, Words], dict[str, int]]:
        """The words of the memories and the extents that came with the build."""
        memories: dict[str, Words] = {}
        extents: dict[str, int] = {}
        for key, array in np.load(self._directory / _DATA).items():
            kind, _, name = key.partition(" ")
            if kind == "memory":
                memories[name] = array.astype(np.int64)
            else:
                extents[name] = int(array)
        return memories, extents

    def results(self, result: HardwareResult, extents: Mapping[str, int]) -> dict[str, Tensor]:
        """The tensors that a run has left."""
        found: dict[str, Tensor] = {}
        for region in self.design.runs:
            left = {m.partition(".")[0] for m in result.memories}
            written = {b.name for b in region.tensors if b.stored in left}
            found |= {n: t for n, t in unload(region, result.memories, extents).items() if n in written}
        return found
