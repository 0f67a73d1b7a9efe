"""How far a run's results are from those of the program in float64, on data that are not rounded."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import inf, log10, sqrt
from typing import Any

import numpy as np

from samhw.app.workload import Workload
from samhw.lang.reference import Relation, results, side_by_side
from samhw.tensors import Tensor

__all__ = ["Difference", "differences"]


@dataclass(frozen=True)
class Difference:
    """What a value type makes of a result. Unlike a check, it counts how the inputs were rounded too.

    Attributes:
        max_abs_error: the greatest difference of an element; infinite where one alone is no number.
        rms_error: the root of the mean of the squares of all elements' differences.
        relative_error: the root of their sum, over the norm of the exact result; 0 where both are 0.
        same_argmax: of the rows of a dense result (its last mode), the share that has its greatest element
            where the exact row has it, or one that is as great; None where rows have a single element, or the
            result is sparse.
    """

    max_abs_error: float
    rms_error: float
    relative_error: float
    same_argmax: float | None

    @property
    def signal_to_noise(self) -> float:
        """In dB: the energy of the exact result over that of the differences."""
        return inf if self.relative_error == 0 else -20 * log10(self.relative_error)

    def to_json(self) -> dict[str, Any]:
        """Its fields."""
        return asdict(self)


def differences(workload: Workload, outputs: Mapping[str, Tensor]) -> dict[str, Difference]:
    """Compares what a run has stored with the program in float64, result by result.

    A result that has not been stored, since it is an input in another shape, is left out. Time and memory
    follow what is stored.
    """
    exact = results(workload.program, workload.tensors)
    names = [decl.name for decl in workload.program.outputs if decl.name in outputs]
    return {name: _difference(outputs[name], exact[name]) for name in names}


def _difference(tensor: Tensor, exact: Relation) -> Difference:
    kept = tuple(map(str, range(tensor.rank)))
    greatest, squares, norm = 0.0, 0.0, 0.0
    for _, pieces in side_by_side([Relation.of(tensor), exact], kept):
        actual, wanted = np.broadcast_arrays(*pieces)
        same = (actual == wanted) | (np.isnan(actual) & np.isnan(wanted))
        with np.errstate(invalid="ignore", over="ignore"):
            error = np.abs(np.where(same, 0.0, np.subtract(actual, wanted, dtype=np.float64)))
            error = np.where(np.isnan(error), inf, error)
            greatest = max(greatest, float(np.max(error, initial=0)))
            squares += float(np.sum(error**2))
            norm += float(np.sum(np.square(wanted, dtype=np.float64), where=np.isfinite(wanted)))
    relative = sqrt(squares / norm) if norm else (inf if squares else 0.0)
    rms = sqrt(squares / max(1, int(np.prod(tensor.shape, dtype=np.int64))))
    return Difference(greatest, rms, relative, _same_argmax(tensor, exact))


def _same_argmax(tensor: Tensor, exact: Relation) -> float | None:
    """As in `Difference`."""
    if not (tensor.format.is_all_dense and tensor.rank and tensor.shape[-1] > 1):
        return None
    rows = tensor.to_dense().reshape(-1, tensor.shape[-1])
    if not len(rows):
        return None
    wanted = exact.to_array().reshape(rows.shape)
    found = np.take_along_axis(wanted, np.argmax(rows, axis=1)[:, None], axis=1)[:, 0]
    return float(np.mean(found == np.max(wanted, axis=1)))
