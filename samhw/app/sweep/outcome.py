"""What became of a configuration, in every case: figures, or the reason why there are none."""

from dataclasses import asdict, fields
from functools import lru_cache
from typing import Any, get_args

from samhw.app.checking.check_run import Verdict
from samhw.app.checking.measure import REFUSED, Measure, measure
from samhw.app.sweep.configuration import Configuration
from samhw.app.workload import Workload, bind_program
from samhw.compiler import AUTO, asked_types
from samhw.errors import InputError, RunError
from samhw.graph.numerics import ValueType

__all__ = ["AGAIN", "Outcome", "crashed", "is_outcome", "outcome"]

Outcome = dict[str, Any]
"""`status`, and with it `error`, or the fields of a `Measure`, and what `auto` stood for. Plain values, as
JSON has them.

The status of a run to the end is the check's `Verdict`. `refused`: the configuration makes no sense, such as
a schedule that streams cannot follow; `failed`: the run ended with an error, such as a deadlock or an
overflow; `crashed`: the process died, or samhw has a defect.
"""

STATUSES = (*map(str, Verdict), REFUSED, "failed", "crashed")

AGAIN = ("crashed",)
"""The statuses that may differ another time, after which a configuration is measured again."""

_KINDS: dict[str, object] = {
    **{field.name: field.type for field in fields(Measure)},
    **dict.fromkeys(("status", "error", "value", "data"), str),
    "figures": dict,  # Of what is measured otherwise.
}


def outcome(configuration: Configuration) -> Outcome:
    """Measures a configuration. Raises nothing that comes from it."""
    try:
        workload = _workload(
            configuration.program, configuration.specs(), configuration.value, configuration.types
        )
        value = workload.value(configuration.value)
        found = measure(
            workload,
            configuration.schedule,
            value=value,
            arch=configuration.arch(),
            memory=configuration.off_chip_memory(),
            depth=configuration.depth,
        )
    except InputError as error:
        return {"status": REFUSED, "error": str(error)}
    except RunError as error:
        return {"status": "failed", "error": str(error)}
    except Exception as error:
        return crashed(f"{type(error).__name__}: {error}")
    # What they were on, instead of `auto`.
    on = {"value": value.name}
    if configuration.data == AUTO:
        on["data"] = workload.name
    figures = asdict(found)
    return {"status": figures.pop("status"), **on, **figures}


def is_outcome(found: object) -> bool:
    """Whether this is an outcome: a file that has been damaged may hold anything."""
    if not isinstance(found, dict) or found.get("status") not in STATUSES:
        return False
    return all(name in _KINDS and _fits(value, _KINDS[name]) for name, value in found.items())


def _fits(value: object, kind: object) -> bool:
    kinds = get_args(kind) or (kind,)
    if type(value) is int:
        return (int in kinds or float in kinds) and -(1 << 63) <= value < 1 << 63
    return type(value) in kinds


def crashed(reason: str) -> Outcome:
    """The outcome of a configuration that gave none."""
    return {"status": "crashed", "error": reason}


@lru_cache(maxsize=1)
def _workload(program: str, data: tuple[str, ...], value: ValueType | None, types: str) -> Workload:
    """Kept, since neighbours in a sweep mostly differ in other fields."""
    return bind_program(program, data, value=value, types=asked_types(types))
