"""What a harness is told, without one."""

from samhw.graph import HBM2
from samhw.graph.dram import NUMBERS
from samhw.targets.running.port import Harness


class Asked(Harness):
    """Keeps the words of the last command."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def ask(self, command: str, data: bytes | None = None) -> tuple[dict[str, object], bytes]:
        self.words = command.split()
        return {}, b""


def test_a_master_has_its_share_of_the_channels() -> None:
    harness = Asked()
    harness.memory(HBM2)
    assert harness.words[:2] == ["memory", "dram"]
    own = dict(zip(NUMBERS, map(int, harness.words[2:]), strict=True))
    assert own == {name: getattr(HBM2, name) for name in NUMBERS} | {"channels": 1}
