"""The numbers that simulator, RTL and C++ share. No timing constant lives anywhere else."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from samhw.errors import InputError, shown
from samhw.files import check_readable
from samhw.graph.numerics import BLOCK, RECURRENCE_BLOCK, ValueType
from samhw.words import did_you_mean

__all__ = ["HLS_STEP", "MOST_BANKS", "Arch", "Latencies"]

Latencies = Mapping[str, Mapping[str, int]]
"""Cycles by family of value types (`ValueType.family`) and operation."""

MOST_BANKS = 8
"""Of a vector reducer."""

_SIMPLE = dict.fromkeys(("max", "min", "neg", "abs", "lt", "le", "eq", "select", "relu"), 2)
"""What takes one register and a little logic."""


def _functions(text: str) -> dict[str, int]:
    """Latencies written as `exp 15, log 15`."""
    return {op: int(latency) for op, latency in (item.split() for item in text.split(", "))}


# One cycle more than the registers that a unit needs for 100 MHz on an ECP5 (docs/results.md). Those of fixed
# point serve every width.
_ALU: Latencies = {
    "integer": _SIMPLE | _functions("add 2, sub 2, mul 4, leaky_relu 4, convert 5, scale 5"),
    "fixed": _SIMPLE
    | _functions("add 2, sub 2, mul 4, leaky_relu 4, convert 5, div 35, sqrt 24, reciprocal 18, rsqrt 18")
    | _functions(
        "exp 24, log 24, sigmoid 38, tanh 27, silu 40, gelu 34, sin 27, cos 27, rint 13, f8e4m3 13, f8e5m2 13"
    ),
    "f8": _SIMPLE
    | _functions("add 6, sub 6, mul 4, leaky_relu 4, convert 5, div 6, sqrt 3, reciprocal 3, rsqrt 3")
    | _functions("exp 3, log 3, sigmoid 3, tanh 3, silu 3, gelu 3, sin 3, cos 3, rint 3, f8e4m3 3, f8e5m2 3"),
    "f16": _SIMPLE
    | _functions("add 7, sub 7, mul 5, leaky_relu 5, convert 5, div 11, sqrt 10, reciprocal 12, rsqrt 12")
    | _functions(
        "exp 18, log 18, sigmoid 32, tanh 21, silu 34, gelu 28, sin 21, cos 21, rint 4, f8e4m3 4, f8e5m2 4"
    ),
    "bf16": _SIMPLE
    | _functions("add 5, sub 5, mul 4, leaky_relu 4, convert 5, div 8, sqrt 7, reciprocal 6, rsqrt 4")
    | _functions(
        "exp 11, log 9, sigmoid 20, tanh 12, silu 21, gelu 19, sin 12, cos 12, rint 4, f8e4m3 4, f8e5m2 4"
    ),
    "f32": _SIMPLE
    | _functions("add 7, sub 7, mul 5, leaky_relu 5, convert 5, div 16, sqrt 15, reciprocal 9, rsqrt 9")
    | _functions(
        "exp 15, log 15, sigmoid 29, tanh 18, silu 31, gelu 25, sin 18, cos 18, rint 4, f8e4m3 4, f8e5m2 4"
    ),
}
_REDUCE: Latencies = {
    "integer": {"sum": 1, "max": 1, "min": 1, "prod": 4, "recur": 5},
    "fixed": {"sum": 1, "max": 1, "min": 1, "prod": 4, "recur": 5},
    "f8": {"sum": 6, "max": 1, "min": 1, "prod": 4, "recur": 9},
    "f16": {"sum": 7, "max": 1, "min": 1, "prod": 5, "recur": 11},
    "bf16": {"sum": 5, "max": 1, "min": 1, "prod": 4, "recur": 8},
    "f32": {"sum": 7, "max": 1, "min": 1, "prod": 5, "recur": 11},
}

_VITIS_F32 = {"add": 6, "sub": 6, "mul": 3, "div": 11, "sqrt": 11}
"""Latencies to which an HLS project sets the floating-point IP (docs/hls.md, "Cycles")."""

_VITIS_STEPS = {
    "f8": {"sum": 7, "prod": 5},
    "f16": {"sum": 8},
    "bf16": {"sum": 6, "prod": 5},
    "f32": {"sum": 8},
}
"""Steps of reductions: the unit, and the choice of what goes into it."""

HLS_STEP = 2
"""Latency of an HLS process: it reads in one cycle, writes in the next, and the token is there one later."""

LONGEST = 4096
"""Cycles of the longest latency: far beyond any that serves, and pipelines of that many registers can be
built."""

_PROFILES = Path(__file__).with_name("profiles")
"""Of each file what differs from the defaults."""

_RANGES = {
    "index_bits": (8, 32),
    "step": (1, LONGEST),
    "memory": (2, LONGEST),
    "locate": (2, LONGEST),
    "fanout": (0, LONGEST),
    "slack": (0, 1 << 16),
    "deepest": (1, 1 << 30),
    "lane_rows": (0, 1 << 16),
    "lane_tokens": (0, 1 << 20),
    "banks": (2, MOST_BANKS),
    "watchdog": (1, 1 << 31),
}
"""What each number may be."""


@dataclass(frozen=True)
class Arch:
    """Widths, latencies (cycles) and channel depths (tokens) of a build. Written as JSON beside every build.

    Latencies are those of the output channel of a firing: a token pushed in cycle t is available in t + L.
    """

    index_bits: int = 32
    """Width of crd and ref payloads, bits."""
    step: int = 1
    """A firing without an operation."""
    memory: int = 2
    """A read of an on-chip memory: address, then data, registered."""
    locate: int = 4
    """r * N + x, a pipelined multiplication and an addition."""
    alu: Latencies = field(default_factory=lambda: _copy(_ALU))
    """Latency of each ALU operation."""
    reduce: Latencies = field(default_factory=lambda: _copy(_REDUCE))
    """Latency of one step of each reduction: from an accumulation to the next that may use its result."""
    fanout: int = 0
    """Added to the latency of an output that feeds several inputs: HLS copies it in a process of its own."""
    slack: int = 2
    """Tokens of room that the compiler adds to each channel's depth beyond what full rate needs."""
    deepest: int = 1 << 30
    """Tokens of a fiber that a channel may have to hold; beyond, the compiler refuses the region. In the RTL
    a deep channel lies in a memory of its own; who builds for a small device may allow less."""
    lane_rows: int = 64
    """Coordinates that may wait for each lane: room after a scatter, so that lanes need not keep pace."""
    lane_tokens: int = 1024
    """Tokens of finished rows that may wait for their turn, in each lane: room before a gather. It never has
    more than the rows that `lane_rows` lets in."""
    banks: int = 2
    """Those of a vector reducer, unless it has more. One more fiber may leave it at a time for each further
    one, which fibers of a few coordinates take to keep it busy."""
    watchdog: int = 1024
    """Cycles without a firing after which the RTL reports a deadlock."""

    def __post_init__(self) -> None:
        for name, (least, most) in _RANGES.items():
            object.__setattr__(self, name, _whole(f"Arch.{name}", getattr(self, name), least, most))
        for name in ("alu", "reduce"):
            table = getattr(self, name)
            if not (_is_table(table) and all(map(_is_table, table.values()))):
                raise InputError(f"Arch.{name} is {shown(table)}; give the latencies by type and operation.")
            table = {
                family: {
                    op: _whole(f"Arch.{name}[{family!r}][{op!r}]", latency, 1, LONGEST)
                    for op, latency in latencies.items()
                }
                for family, latencies in table.items()
            }
            object.__setattr__(self, name, table)
        for family, latencies in self.reduce.items():
            blocks = {"prod": BLOCK, "recur": RECURRENCE_BLOCK}
            if family not in ("integer", "fixed"):
                blocks["sum"] = BLOCK
            for op, block in blocks.items():
                if (latency := latencies.get(op, 1)) > block:
                    raise InputError(
                        f"Arch.reduce[{family!r}][{op!r}] is {latency}; give at most {block}, the elements "
                        "of a block."
                    )

    @classmethod
    def vitis(cls) -> "Arch":
        """A prediction for HLS designs on an UltraScale+ device at 4 ns (docs/hls.md, "Cycles").

        Where the project says nothing, an operation has as many pipeline stages as registers in the RTL.
        """
        stages = {family: {op: n - 1 for op, n in table.items()} for family, table in _ALU.items()}
        for family in ("integer", "fixed"):
            stages[family] |= dict.fromkeys(_SIMPLE, 0) | {"add": 0, "sub": 0, "mul": 2, "leaky_relu": 2}
        stages["f32"] |= _VITIS_F32 | {"leaky_relu": _VITIS_F32["mul"]}
        return cls(
            step=HLS_STEP,
            memory=HLS_STEP + 1,
            locate=HLS_STEP + 3,
            alu={family: {op: n + HLS_STEP for op, n in table.items()} for family, table in stages.items()},
            reduce={family: table | _VITIS_STEPS.get(family, {}) for family, table in _copy(_REDUCE).items()},
            fanout=HLS_STEP,
        )

    def alu_latency(self, op: str, value: ValueType) -> int:
        """Latency of an ALU operation on a value type; raises `InputError` if it has none."""
        return _look_up("alu", self.alu, op, value)

    def reduce_latency(self, op: str, value: ValueType) -> int:
        """Latency of one step of a reduction (`sum`, `max`, `min`, `prod`, `recur`); raises `InputError` if
        none is given."""
        return _look_up("reduce", self.reduce, op, value)

    def internal_depth(self, latency: int) -> int:
        """Depth of a channel inside a primitive (docs/primitives.md): full rate and one token of slack."""
        return latency + 2

    def to_json(self) -> dict[str, Any]:
        """A JSON object; `from_json` is its inverse."""
        result = {f.name: getattr(self, f.name) for f in fields(self)}
        return result | {name: _copy(result[name]) for name in ("alu", "reduce")}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Arch":
        """Raises `InputError` for an unknown field, and for a number without a meaning."""
        known = sorted(f.name for f in fields(cls))
        for name in data:
            if not isinstance(name, str) or name not in known:
                raise InputError(
                    f"Arch has no field {shown(name)}{did_you_mean(name, known)}; the fields are "
                    f"{', '.join(known)}."
                )
        return cls(**data)

    @classmethod
    def load(cls, name: str) -> "Arch":
        """A profile by its name, or the JSON file that every build has.

        Raises:
            InputError: if there is neither.
        """
        if name == "samhw":
            return cls()
        if name == "vitis":
            return cls.vitis()
        names = cls.profiles()
        if name in names:
            return cls.from_json(_profile(name))
        try:
            data = json.loads(check_readable(Path(name)).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            hint = did_you_mean(name, names)
            raise InputError(
                f"There is no arch '{name}'{hint}; give {', '.join(names)}, or a build's arch.json."
            )
        return cls.from_json(data)

    @staticmethod
    def profiles() -> list[str]:
        """The names that `load` knows (docs/timing.md, "Profiles")."""
        return ["samhw", "vitis", *sorted(path.stem for path in _PROFILES.glob("*.json"))]

    def dumps(self) -> str:
        """The JSON text."""
        return json.dumps(self.to_json(), indent=2) + "\n"


def _profile(name: str) -> dict[str, Any]:
    """What the file of a profile says; its latencies among the defaults."""
    data: dict[str, Any] = json.loads((_PROFILES / f"{name}.json").read_text(encoding="utf-8"))
    for field_name, defaults in (("alu", _ALU), ("reduce", _REDUCE)):
        own = data.get(field_name, {})
        data[field_name] = {family: table | own.get(family, {}) for family, table in _copy(defaults).items()}
    return data


def _whole(name: str, value: object, least: int, most: int) -> int:
    """A whole number, which may be one of NumPy's."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        raise InputError(
            f"{name} is {shown(value)}; give a whole number, at least {least} and at most {most}."
        )
    return int(value)


def _is_table(table: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(table, Mapping) and all(isinstance(name, str) for name in table)


def _copy(table: Latencies) -> dict[str, dict[str, int]]:
    return {family: dict(latencies) for family, latencies in table.items()}


def _look_up(field_name: str, table: Latencies, op: str, value: ValueType) -> int:
    try:
        return table[value.family][op]
    except KeyError:
        raise InputError(
            f"Arch.{field_name} has no latency for {op!r} on {value}; add Arch.{field_name}"
            f"[{value.family!r}][{op!r}]."
        ) from None
