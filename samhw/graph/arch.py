"""The numbers that simulator, RTL and C++ share. No timing constant lives anywhere else."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from samhw.errors import InputError

__all__ = ["Arch"]

_INTEGER_ALU = {"add": 2, "sub": 2, "neg": 2, "mul": 4}


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
    accumulate: int = 1
    """From one accumulation to the next that may use its result."""
    alu: Mapping[str, int] = field(default_factory=lambda: dict(_INTEGER_ALU))
    """Latency of each ALU operation, by name."""
    slack: int = 2
    """Tokens of room that the compiler adds to each channel's depth beyond what full rate needs."""
    watchdog: int = 1024
    """Cycles without a firing after which the RTL reports a deadlock."""

    def __post_init__(self) -> None:
        for name in ("step", "memory", "locate", "accumulate"):
            if getattr(self, name) < (1 if name in ("step", "accumulate") else 2):
                raise InputError(
                    f"Arch.{name} is {getattr(self, name)}; give at least "
                    f"{2 if name in ('memory', 'locate') else 1}."
                )
        if not 8 <= self.index_bits <= 32:
            raise InputError(f"Arch.index_bits is {self.index_bits}; give 8 to 32.")
        object.__setattr__(self, "alu", dict(self.alu))

    def internal_depth(self, latency: int) -> int:
        """Depth of a channel inside a primitive (docs/primitives.md): full rate and one token of slack."""
        return latency + 2

    def to_json(self) -> dict[str, Any]:
        """A JSON object; `from_json` is its inverse."""
        return {f.name: dict(self.alu) if f.name == "alu" else getattr(self, f.name) for f in fields(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Arch":
        """Raises `InputError` for an unknown field."""
        known = {f.name for f in fields(cls)}
        if unknown := sorted(set(data) - known):
            raise InputError(f"Arch has no field {unknown[0]!r}; the fields are {', '.join(sorted(known))}.")
        return cls(**data)

    def dumps(self) -> str:
        """The JSON text."""
        return json.dumps(self.to_json(), indent=2) + "\n"
