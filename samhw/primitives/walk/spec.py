"""What the level scanners have in common."""

from samhw.graph.spec.base import Distribution, Joined, Ports, Reduction, Spec, Work
from samhw.graph.spec.blocked import Blocked, TakenBlocks
from samhw.graph.spec.params import Params
from samhw.graph.spec.streams import crd, ref

__all__ = ["LevelScanner"]


class LevelScanner(Spec):
    """Gives the coordinates below each reference, and a reference for each of them."""

    thins = False
    moves = False
    carries = False
    completes = False
    scans = True
    cell = "LS"

    def refusal(self, depth: int, params: Params) -> str | None:
        return None

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [ref("ref", depth)], [crd("crd", depth + 1), ref("ref", depth + 1)]

    def follows(self, port: str, params: Params) -> str | None:
        return "ref"

    def joins(self, params: Params) -> tuple[Joined, ...]:
        return ()

    def gives_empty(self, params: Params) -> bool:
        return False

    def reduction(self, params: Params) -> Reduction | None:
        return None

    def distribution(self, params: Params) -> Distribution | None:
        return None

    def work(self, params: Params) -> Work | None:
        return None

    def blocked(self, params: Params, blocks: TakenBlocks) -> Blocked | None:
        return None
