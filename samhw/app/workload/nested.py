"""A function of nested lists on its arguments, and the comparison with the function itself."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.app.workload.agreement import greatest_difference, in_float64, parts_of
from samhw.app.workload.workload import Workload
from samhw.lang import Example
from samhw.lang.nested import ListType, LoweredFunction, NestedTensor, lowered, nested_tensor, trace
from samhw.lang.nested import evaluate as evaluate_nested
from samhw.lang.reference import Bounded
from samhw.tensors import Tensor

__all__ = ["is_nested", "make_nested_workload"]


def is_nested(given: object) -> bool:
    """Whether what a user's function gives is a function of nested lists with its arguments, or a lowered one
    with them: some of these are lists, or types of lists."""
    match given:
        case (function, tuple() | list() as arguments) if callable(function):
            return any(isinstance(argument, NestedTensor | ListType) for argument in arguments)
        case (LoweredFunction(), tuple() | list()):
            return True
    return False


def make_nested_workload(example: Example, given: Any) -> Workload:
    """A function of nested lists as a program, on its arguments. Of an argument that is a `ListType` the data
    are random: multiples of 1/16 between -1 and 1.

    Args:
        example: whose function has given `given`, which is as `is_nested` says.

    Raises:
        InputError: for a function that cannot be traced or lowered, with the line of the user's file, or
            arguments that do not fit it.
    """
    function, arguments = given
    found: LoweredFunction = example.script.function(
        lambda: function if isinstance(function, LoweredFunction) else lowered(trace(function, *arguments))
    )()
    rng = np.random.default_rng(0)
    lists = [_drawn(rng, value) if isinstance(value, ListType) else value for value in arguments]
    tensors = {
        name: Tensor.from_dense(array, found.program.tensors[name].format)
        for name, array in found.inputs(*lists).items()
    }
    program = found.program.bind({name: tensor.shape for name, tensor in tensors.items()})

    def oracle() -> float:
        return _difference(found, lists, tensors)

    return Workload("example", program, tensors, oracle)


def _drawn(rng: "np.random.Generator", kind: ListType) -> NestedTensor | npt.NDArray[Any]:
    array = rng.integers(-16, 17, (*kind.extents, *kind.shape)) / 16
    return nested_tensor(array, len(kind.extents)) if kind.extents else array


def _difference(found: LoweredFunction, lists: Sequence[Any], tensors: dict[str, Tensor]) -> float:
    """How far the program is from the function, both in float64.

    Raises:
        RunError: where that is more than rounding explains.
    """
    parts = parts_of(in_float64(found.program, tensors))
    wanted = _parts(evaluate_nested(found.function, *lists))
    worst = 0.0
    for value, bound, is_open, theirs in zip(
        *(_parts(found.results(part)) for part in parts), wanted, strict=True
    ):
        # Both round, and each in its own order.
        ours = Bounded(value, bound, is_open > 0)
        worst = max(worst, greatest_difference(ours, theirs, name=found.function.name, scale=4))
    return worst


def _parts(value: Any) -> list[npt.NDArray[Any]]:
    parts = value if isinstance(value, tuple) else (value,)
    return [np.asarray(getattr(part, "array", part), float) for part in parts]
