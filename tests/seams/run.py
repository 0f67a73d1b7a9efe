"""Runs a case and says what becomes of it."""

import tempfile
import traceback
import warnings
import zlib
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import samhw
from samhw.app.api import DesignResult, RunnableDesign
from samhw.errors import InputError, RunError
from samhw.sim import simulate_regions
from tests.seams import faces
from tests.seams.arithmetic import UnclearError, arithmetic
from tests.seams.case import Case, WrongError
from tests.seams.features import features_of
from tests.seams.off_chip import Placed, placed_schedule
from tests.seams.oracle import Result, evaluate
from tests.support.spent import counted, simulated

__all__ = ["FAULTS", "Outcome", "run_case"]


class OutOfTime(BaseException):
    """A case takes too long. No `except Exception` on the way keeps it."""


FAULTS = ("generator", "wrong", "false alarm", "traceback", "failed", "auto refuses", "timeout")
"""What must not happen; ``"generator"`` is a fault of this folder. The other ends are ``"right"``,
``"refused"`` and ``"overflow"``, where a sum of integers may leave its range in some order."""

HOSTS = (
    "",
    "axi4,clock",
    "pingpong",
    "clock,recovery,interrupt",
    "axi4:8,counters",
    "axi4,clock,pingpong,recovery",
    "axi4,interrupt,recovery,counters",
)
"""The ports with which RTL is built, one for each case."""

OFF_CHIP_HOSTS = (
    "",
    "axi4,recovery",
    "clock,interrupt",
    "axi4:8,counters",
    "clock,recovery,interrupt",
    "axi4:8,clock,recovery,counters",
)
"""Those that a design with tensors off chip may have."""

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Outcome:
    """How a case ends.

    Attributes:
        kind: ``"right"``, ``"refused"``, ``"overflow"`` or one of `FAULTS`.
        message: the sentence, or what is wrong.
        place: of a traceback, the function of samhw that raised it.
        features: those that the case has.
        compared: how many elements were compared with the oracle.
    """

    kind: str
    message: str = ""
    place: str = ""
    features: frozenset[str] = frozenset()
    compared: int = 0


def run_case(case: Case, backend: str | None = None) -> Outcome:
    """Compiles, runs, compares with the oracle, checks, and goes through the faces of the case."""
    warnings.simplefilter("ignore")
    try:
        features = features_of(case)
    except InputError as error:
        return Outcome("refused", _sentence(error), features=frozenset(case.wanted))
    oracle: Result | None = None
    # An extent of 0 is refused, so that the oracle need not know what a reshape of nothing is.
    is_empty = any(0 in array.shape for array in case.data.values())
    with suppress(UnclearError):
        oracle = None if is_empty else evaluate(case.program, case.data, case.value)
    if oracle is not None:
        features = features_of(case, _saturates(case, oracle))
    stage = ["the run"]
    try:
        compared = _run(case, oracle, backend, stage)
    except InputError as error:
        if stage[0] == "the run":
            return Outcome("refused", _sentence(error), features=features)
        kind = "auto refuses" if stage[0] == "auto" else "false alarm" if stage[0] == "check" else "traceback"
        return Outcome(kind, f"{stage[0]}: {_sentence(error)}", _place(error), features)
    except WrongError as error:
        return Outcome("wrong", f"{stage[0]}: {error}", features=features)
    except RunError as error:
        if _is_overflow(error, oracle):
            return Outcome("overflow", _sentence(error), features=features)
        kind = "false alarm" if stage[0] == "check" else "failed"
        return Outcome(kind, f"{stage[0]}: {_sentence(error)}", _place(error), features)
    except OutOfTime:
        return Outcome("timeout", stage[0], features=features)
    except Exception as error:
        text = f"{stage[0]}: {type(error).__name__}: {_sentence(error)}"
        return Outcome("traceback", text, _place(error), features)
    if is_empty:
        return Outcome("wrong", "the run: an extent of 0 is not refused", features=features)
    return Outcome("right", features=features, compared=compared)


def _run(case: Case, oracle: Result | None, backend: str | None, stage: list[str]) -> int:
    design = samhw.compile(case.text, schedule=case.schedule, value=case.value)
    result = design.run(case.data)
    stage[0] = "the run's results"
    compared = compare(result, oracle)
    stage[0] = "check"
    result.check()
    if backend == "verilator":
        _run_rtl(case, design, result, stage)
    elif backend == "engines":
        stage[0] = "the compiled engine"
        _run_engines(case, design)
    elif backend is not None:
        placed = design
        if backend == "hls":
            # The banks of a card are few for all that reaches them, so no channel is asked for; and on the
            # chip each reader has a copy.
            schedule = placed_schedule(case, "hbm", 1, is_placed=case.placing % 2 == 1)
            schedule = replace(schedule, interleave="none")
            placed = samhw.compile(case.text, schedule=schedule, value=case.value)
        stage[0] = f"{backend}, {placed.schedule}"
        same(placed.run(case.data, backend=backend), result)
    if "auto" in case.faces:
        _run_chosen(case, oracle, stage)
    if "new data" in case.faces:
        stage[0] = "new data"
        _run_again(case, design, stage)
    with tempfile.TemporaryDirectory() as folder:
        for name, face in faces.FACES.items():
            if name in case.faces:
                stage[0] = name
                same(face(case, design, Path(folder)), result)
    return compared


def _run_chosen(case: Case, oracle: Result | None, stage: list[str]) -> None:
    """Runs the design that `auto` chooses. It may refuse what is refused without a schedule too: that of the
    case may store its inputs in other formats."""
    stage[0] = "auto"
    try:
        chosen = samhw.compile(case.text, schedule="auto", value=case.value).run(case.data)
    except InputError:
        if _is_refused(case):
            return
        raise
    compare(chosen, oracle)
    stage[0] = "check"
    chosen.check()


def _is_refused(case: Case) -> bool:
    """Whether the program is refused without a schedule."""
    try:
        samhw.compile(case.text, value=case.value).run(case.data)
    except InputError:
        return True
    return False


def _run_engines(case: Case, design: RunnableDesign) -> None:
    """Runs the regions of a design in either engine of the simulator."""
    run = design.host_run(case.data)
    ends = []
    for engine in ("plain", "compiled"):
        memories = {name: words.copy() for name, words in run.inputs.memories.items()}
        built = run.compiled
        results = simulate_regions(built.design, built.arch, memories, run.inputs.extents, engine=engine)
        ends.append([(r.cycles, r.nodes, r.channels, r.memories) for r in results])
    for plain, compiled in zip(*ends, strict=True):
        if plain[:3] != compiled[:3] or not all(
            np.array_equal(words, compiled[3][name]) for name, words in plain[3].items()
        ):
            raise WrongError(f"{compiled}, in the plain engine {plain}")


def _run_rtl(case: Case, design: RunnableDesign, result: DesignResult, stage: list[str]) -> None:
    """Runs RTL with one of the ports that a host may ask for, and half of the cases with tensors off chip."""
    drawn = zlib.crc32(case.text.encode())
    if "off chip" in case.faces or case.placing % 2:
        host, placed = OFF_CHIP_HOSTS[drawn % len(OFF_CHIP_HOSTS)], Placed.of(case)
        stage[0] = f"verilator, --host '{host}', {placed}"
        placed.built(host)
        return
    host = HOSTS[drawn % len(HOSTS)]
    stage[0] = f"verilator, --host '{host}'"
    hardware = design.run(case.data, backend="verilator", host=host)
    same(hardware, result)
    if hardware.cycles != result.cycles:
        raise WrongError(f"{hardware.cycles} cycles, in the simulator {result.cycles}")
    if "counters" in host:
        run = design.host_run(case.data)
        wanted, [spent] = simulated(run), counted(run, host)
        if spent != wanted:
            raise WrongError(f"the counters say {spent}, the simulator {wanted}")


def _run_again(case: Case, design: RunnableDesign, stage: list[str]) -> None:
    """Runs a design with other data, which it lowers anew: what it refuses then, a new design refuses too."""
    oracle: Result | None = None
    with suppress(UnclearError):
        oracle = evaluate(case.program, case.other, case.value)
    try:
        again = design.run(case.other)
    except RunError as error:
        if _is_overflow(error, oracle):
            return
        raise
    except InputError as error:
        with suppress(InputError):
            samhw.compile(case.text, schedule=case.schedule, value=case.value).run(case.other)
            raise WrongError(f"a new design accepts what this one refuses: {error}") from error
        return
    compare(again, oracle)
    stage[0] = "check"
    again.check()


def _is_overflow(error: RunError, oracle: Result | None) -> bool:
    """Whether a run ends with an overflow, as it may."""
    return "overflow" in str(error) and (oracle is None or oracle.may_overflow)


def compare(result, oracle: Result | None) -> int:
    """Holds every stored tensor against the oracle's; gives how many elements were compared."""
    if oracle is None:
        return 0
    count = 0
    for name, tensor in result.tensors.items():
        if name not in oracle.values:
            continue
        found, wanted, error = tensor.to_dense().astype(float), oracle.values[name], oracle.errors[name]
        if found.shape != wanted.shape:
            raise WrongError(f"{name} has the shape {found.shape}, right is {wanted.shape}")
        clear = np.isfinite(error)
        count += int(clear.sum())
        with np.errstate(invalid="ignore"):
            good = np.abs(found - wanted) <= 4 * error + 1e-9 * np.abs(wanted)
        if not np.all(good | ~clear):
            raise WrongError(f"{name} is {found.tolist()}, right is {wanted.tolist()}")
    return count


def same(other, result) -> None:
    """Two runs give the same bits. `other` is a result, or arrays by name."""
    arrays = other if isinstance(other, dict) else {k: t.to_dense() for k, t in other.tensors.items()}
    for name in arrays.keys() & result.tensors.keys():
        array, wanted = arrays[name], result.tensors[name].to_dense()
        if not np.array_equal(array, wanted, equal_nan=True):
            raise WrongError(f"{name} is {array.tolist()}, in the first run {wanted.tolist()}")


def _saturates(case: Case, oracle: Result) -> bool:
    """Whether a result lies at an end of the range of a fixed-point type."""
    if not case.value.startswith("fixed"):
        return False
    kind = arithmetic(case.value)
    return any(
        bool(np.any((np.isfinite(oracle.errors[n])) & ((a >= kind.highest) | (a <= kind.lowest))))
        for n, a in oracle.values.items()
    )


def _sentence(error: BaseException) -> str:
    return str(error).split("\n")[0][:300]


def _place(error: BaseException) -> str:
    """The innermost function of samhw that an exception came through."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "/samhw/" in f.filename]
    return f"{frames[-1].filename.rpartition('/samhw/')[2]}:{frames[-1].name}" if frames else ""
