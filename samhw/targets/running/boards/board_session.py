"""Sessions with a design over the link."""

import time
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from samhw.errors import RunError
from samhw.graph import AddressMap, Arch, Design, OffChipLayout
from samhw.graph.address_map import Register, Status
from samhw.graph.numerics import Words
from samhw.targets.link import Client, Transport
from samhw.targets.running.port import Ending, WordPort
from samhw.targets.running.session import PortSession

__all__ = ["BoardSession"]


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
