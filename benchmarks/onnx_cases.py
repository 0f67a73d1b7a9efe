"""What of the cases that the package of ONNX brings is imported, compiled, run by the simulator, and right:

    python -m benchmarks.onnx_cases [--only PATTERN] [--jobs N] [--list]

A case is a model of one operator or of a few, with inputs and outputs (`onnx.backend.test`). It is right if
the outputs of the run are those of the case, within the case's own tolerance and two units of f32 of the
greatest element, in their types; of bf16, within two of its units.
"""

import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx.backend.test.loader import load_model_tests

import samhw.onnx
from benchmarks.common import follow, parser, report
from samhw.errors import InputError, SamhwError
from samhw.importers.onnx import read_model

SUITES = ("node", "simple", "pytorch-converted", "pytorch-operator")

REASONS = {
    "text, sequences and optional values": r"string|sequence|Sequence|Optional|StringNormalizer|no tensor",
    "types that samhw has not": r"makes float|use a type that samhw has|^(BitShift|Bitwise|BitCast)",
    "shapes that depend on data": r"shape that depends on data",
    "random numbers and training": r"random numbers|preview.training|Gradient|Adagrad|Adam|Momentum",
    "nothing is computed": r"computes nothing|without elements",
    "numbers beyond f32": r"beyond those of f32",
}
"""By a group of refusals, what one of its sentences has."""


@dataclass(frozen=True)
class Case:
    """A model with inputs and outputs.

    Attributes:
        rtol, atol: how far outputs may be off.
    """

    suite: str
    name: str
    model: onnx.ModelProto
    inputs: Sequence[Any]
    outputs: Sequence[Any]
    rtol: float
    atol: float


def cases(suites: Sequence[str] = SUITES, only: str = "") -> Iterator[Case]:
    """Those of the package, of each the first set of data; without those whose data are no tensors."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = {suite: load_model_tests(kind=suite) for suite in suites}
    for suite, tests in found.items():
        for test in tests:
            if only and not re.search(only, test.name):
                continue
            if suite == "node":
                assert test.model is not None
                assert test.data_sets is not None
                model, (inputs, outputs) = test.model, test.data_sets[0]
            else:
                model = onnx.load(Path(test.model_dir, "model.onnx"))
                inputs, outputs = (_stored(Path(test.model_dir), kind) for kind in ("input", "output"))
            yield Case(suite, test.name, model, inputs, outputs, test.rtol, test.atol)


def _stored(folder: Path, kind: str) -> list[Any]:
    """The arrays of the first set of data; None for one that is no tensor."""
    found: list[Any] = []
    first = folder / "test_data_set_0"
    for n in range(len(list(first.glob(f"{kind}_*.pb")))):
        tensor = onnx.TensorProto()
        try:
            tensor.ParseFromString((first / f"{kind}_{n}.pb").read_bytes())
            found.append(onnx.numpy_helper.to_array(tensor))
        except Exception:  # A sequence.
            found.append(None)
    return found


def array(held: Any) -> np.ndarray[Any, Any]:
    """A case's data as an array."""
    return onnx.numpy_helper.to_array(held) if isinstance(held, onnx.TensorProto) else np.asarray(held)


def outcome(case: Case) -> tuple[str, str]:
    """What becomes of a case, and why: it is right, refused or wrong, or crashes."""
    try:
        names = [port.name for port in read_model(case.model).inputs]
        data = {name: array(held) for name, held in zip(names, case.inputs, strict=False)}
        found = samhw.onnx.compile(case.model, data).run().outputs
        for (name, ours), theirs in zip(found.items(), map(array, case.outputs), strict=True):
            if (ours.shape, ours.dtype) != (theirs.shape, theirs.dtype):
                return "wrong", f"'{name}' is {ours.dtype}{ours.shape}, not {theirs.dtype}{theirs.shape}"
            rtol = max(case.rtol, 2**-6 if theirs.dtype.name == "bfloat16" else 0)
            one, other = ours.astype(np.float64), theirs.astype(np.float64)
            most = np.abs(other[np.isfinite(other)]).max(initial=0.0)
            if not np.allclose(one, other, rtol, max(case.atol, 2**-22 * most), equal_nan=True):
                return "wrong", f"'{name}' differs"
    except InputError as error:
        return "refused", str(error).splitlines()[0]
    except SamhwError as error:
        return "wrong", str(error).splitlines()[0]
    except Exception as error:  # A defect, which is counted.
        return "crash", f"{type(error).__name__}: {error}"
    return "right", ""


def group(why: str) -> str:
    """The group of a refusal."""
    return next((name for name, pattern in REASONS.items() if re.search(pattern, why)), "other operators")


@cache
def known_cases(only: str) -> tuple[Case, ...]:
    """Those that a pattern names."""
    return tuple(cases(only=only))


def numbered(only: str, number: int) -> tuple[str, str, str, str]:
    """The suite and the name of a case, and what becomes of it."""
    case = known_cases(only)[number]
    return case.suite, case.name, *outcome(case)


def main() -> None:
    """Tries all, and prints."""
    options = parser(__doc__)
    options.add_argument("--only", default="", metavar="PATTERN", help="of the cases' names")
    options.add_argument("--jobs", type=int, default=1, metavar="N", help="processes")
    options.add_argument("--list", action="store_true", help="name each case that is not right, and why")
    given = options.parse_args()
    count = len(known_cases(given.only))
    counts: Counter[tuple[str, str]] = Counter()
    with ProcessPoolExecutor(given.jobs) as pool:
        found = pool.map(partial(numbered, given.only), range(count), chunksize=8)
        for suite, name, kind, why in follow(found, count):
            if given.list and kind != "right":
                print(f"{name}: {kind}: {why}", flush=True)
            counts[suite, f"refused: {group(why)}" if kind == "refused" else kind] += 1
    outcomes = dict.fromkeys(["right", *sorted({what for _, what in counts} - {"right"}), "wrong", "crash"])
    rows = [{"cases": what, **{suite: counts[suite, what] for suite in SUITES}} for what in outcomes]
    report("cases of ONNX", rows, given.json)


if __name__ == "__main__":
    main()
