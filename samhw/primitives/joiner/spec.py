"""What intersect and union have in common: they join streams by their coordinates."""

from collections.abc import Iterator, Sequence
from typing import cast

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import MOST_JOINED, Joined, KeepsLevels, Ports, Work
from samhw.graph.spec.blocked import Blocked, TakenBlocks
from samhw.graph.spec.params import VALUE, Param, Params, are_sizes, parameters
from samhw.graph.spec.streams import StreamKind, crd, typed

__all__ = ["Join"]

_KINDS = tuple(StreamKind)


class Join(KeepsLevels):
    """n pairs of a crd and a payload stream in lockstep become one crd stream and n payload streams."""

    params = parameters(
        inputs=Param(f"a number from 2 to {MOST_JOINED}", lambda n: type(n) is int and 2 <= n <= MOST_JOINED),
        payloads=Param(
            "a list of 'crd', 'ref' and 'val', one for each input",
            lambda kinds: isinstance(kinds, list | tuple) and all(k in _KINDS for k in kinds),
        ),
        value=VALUE,
        values=Param(
            "a list of value types, one for each input, and an empty text for an index",
            lambda kinds: isinstance(kinds, list | tuple) and all(map(_is_type_or_empty, kinds)),
            optional=True,
        ),
        shapes=Param(
            "a list of shapes, one for each input",
            lambda shapes: isinstance(shapes, list | tuple) and all(map(are_sizes, shapes)),
            optional=True,
        ),
    )
    inner_latency = None

    def refusal(self, depth: int, params: Params) -> str | None:
        if len(params["payloads"]) != params["inputs"]:
            return f"has {params['inputs']} inputs and {len(params['payloads'])} payloads; give one for each"
        if len(_types(params)) != params["inputs"]:
            return f"has {params['inputs']} inputs and {len(_types(params))} value types; give one for each"
        if len(_shapes(params)) != params["inputs"]:
            return f"has {params['inputs']} inputs and {len(_shapes(params))} shapes; give one for each"
        return None

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        payloads = [typed(f"ref{i}", *kind) for i, kind in enumerate(self._payloads(depth, params))]
        pairs = ((crd(f"crd{i}", depth), payload) for i, payload in enumerate(payloads))
        return [port for pair in pairs for port in pair], [crd("crd", depth), *payloads]

    def _payloads(
        self, depth: int, params: Params
    ) -> Iterator[tuple[str, int, Sequence[int], ValueType | None]]:
        """The kind of each payload, its depth, its shape, and the type of its values, if it has its own."""
        for kind, shape, name in zip(params["payloads"], _shapes(params), _types(params), strict=True):
            yield kind, depth, shape, VALUE.read(name) if name else None

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.step

    def follows(self, port: str, params: Params) -> str | None:
        return "crd0"

    def joins(self, params: Params) -> tuple[Joined, ...]:
        return tuple(Joined(f"crd{i}", f"ref{i}") for i in range(params["inputs"]))

    def work(self, params: Params) -> Work | None:
        return None

    def blocked(self, params: Params, blocks: TakenBlocks) -> Blocked | None:
        given = {f"ref{i}": blocks.axes[f"ref{i}"] for i in range(params["inputs"])}
        shapes = [blocks.shape(axes) for axes in given.values()]
        return Blocked(self.kind, {**params, "shapes": shapes}, given)


def _types(params: Params) -> Sequence[str]:
    """The names of the types that payloads have of their own."""
    return [str(kind) for kind in params.get("values", [""] * params["inputs"])]


def _is_type_or_empty(kind: object) -> bool:
    return kind == "" or VALUE.accepts(kind)


def _shapes(params: Params) -> Sequence[Sequence[int]]:
    """The shape of each payload."""
    return cast(Sequence[Sequence[int]], params.get("shapes", [()] * params["inputs"]))
