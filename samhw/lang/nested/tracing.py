"""Tracing: a Python function over nested lists becomes a `NestedFunction`.

The function is called once, with lists that record what is done to them.
"""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from samhw.errors import InputError
from samhw.lang.nested.folds import traced_fold
from samhw.lang.nested.function import NestedFunction
from samhw.lang.nested.lists import LIFT, ListType, NestedTensor
from samhw.lang.nested.recording import Tracer, parts_of

__all__ = ["trace"]


def trace(function: Callable[..., Any], *arguments: Any, **named: Any) -> NestedFunction:
    """What a function of nested lists computes, as a value.

    Args:
        function: it takes and gives nested lists and elements. Python's own loops and conditions run while it
            is traced.
        arguments: for each parameter a `ListType`, or a list or array of that type.

    Raises:
        InputError: where the function does what cannot be traced, with the line.
    """
    try:
        bound = inspect.signature(function).bind(*arguments, **named)
    except TypeError as error:
        raise InputError(f"the arguments of {function.__name__}: {error}; give a type for each") from None
    tracer = Tracer(traced_fold)
    parameters = tuple(bound.arguments)
    for name in parameters:
        if not isinstance(bound.arguments[name], NestedTensor | ListType | np.ndarray):
            raise InputError(
                f"parameter '{name}' gets no type; give it a ListType, a nested list or an array"
            )
        if 0 in _type_of(bound.arguments[name]).extents:
            raise InputError(f"parameter '{name}' is a list without items; give it one or more")
    token = LIFT.set(tracer.lifted)
    try:
        given = [tracer.parameter(name, _type_of(bound.arguments[name])) for name in parameters]
        result = function(*given)
        leaves = [tracer.leaf(part) for part in parts_of(result)]
    finally:
        LIFT.reset(token)
    names = tuple(
        tracer.result(leaf, n if isinstance(result, tuple) else None) for n, leaf in enumerate(leaves)
    )
    found = NestedFunction(
        function.__name__.strip("<>"),
        parameters,
        tracer.buffers,
        tuple(tracer.body),
        names,
        not isinstance(result, tuple),
    )
    return found.without_unused()


def _type_of(value: Any) -> ListType:
    if isinstance(value, ListType):
        return value
    return value.type if isinstance(value, NestedTensor) else ListType((), value.shape)
