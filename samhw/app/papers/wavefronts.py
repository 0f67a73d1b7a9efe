"""Nests of recurrences whose diagonals run at once: a copy of the cell for each cell of the widest diagonal,
against one cell after another, which is a chain of cells times the number of chains.

A chain is a layer of a stack, or the layers above one pair of a grid. Its scan is one region.
"""

import runpy
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from samhw.app.checking import check
from samhw.app.sweep import Configuration
from samhw.app.workload import Workload, compile_workload
from samhw.choices.schedule import Schedule
from samhw.errors import InputError, RunError
from samhw.graph import Repeat, Run
from samhw.graph.numerics import Float
from samhw.installed import installed
from samhw.lang import nested
from samhw.lang.nested import ListType, Stack
from samhw.targets.backends import run
from samhw.tensors import Tensor

__all__ = ["example", "wavefront"]

_HIDDEN = 4
"""The numbers of a state."""

_Call = tuple[Callable[..., Any], list[ListType]]


def example(name: str) -> str:
    """The program of that name among the examples of nested lists, as the command line calls it."""
    return f"{installed('examples')[PurePosixPath('nested', f'{name}.py')]}:example"


def wavefront(one: Configuration) -> Mapping[str, Any]:
    """Rounds and cycles side by side, and the cycles of one cell after another. The sizes are `layers` and
    `length`, the steps or the side of a grid, as in `random:layers=4,length=16`."""
    path = one.program.rpartition(":")[0]
    name = PurePosixPath(path).stem
    found = runpy.run_path(path)
    sizes = dict(item.split("=") for item in one.data.partition(":")[2].split(","))
    layers, length = int(sizes["layers"]), int(sizes["length"])
    chains, chain = (length**2, (layers, 1)) if name == "grid_rnn" else (layers, (1, length))
    rounds, cycles, whole = _scanned(*_call(name, found, layers, length))
    alone, one_by_one, _ = _scanned(*_call(name, found, *chain))
    return {
        "cells": chains * alone,
        "rounds": rounds,
        "cycles": cycles,
        "whole run": whole,
        "one by one": chains * one_by_one,
    }


def _call(name: str, found: Mapping[str, Any], layers: int, length: int) -> _Call:
    """The function of an example, with the types of its arguments."""
    if name == "grid_rnn":
        return found["grid_rnn"], found["types"](layers, length, length, _HIDDEN)
    matrices = ListType((layers, 4), (_HIDDEN, _HIDDEN))
    weights = [matrices, matrices, ListType((layers, 4), (_HIDDEN,))]
    # A stack of LSTMs has a batch, here of one sequence.
    extents = (1, length) if name == "stacked_lstm" else (length,)
    return found[name], [ListType(extents, (_HIDDEN,)), *weights]


def _scanned(function: Callable[..., Any], types: Sequence[ListType]) -> tuple[int, int, int]:
    """The rounds and the cycles of the scan, and the cycles of the whole run, checked."""
    traced = nested.trace(function, *types)
    copies = nested.side_by_side(traced)
    stacks = [item for item in nested.stacks(copies, copies.body) if isinstance(item, Stack)]
    if not stacks:
        raise InputError(f"Nothing of {function.__name__} runs side by side at this size.")
    found = nested.lowered(traced, copies=True)
    rng = np.random.default_rng(0)
    arrays = found.inputs(*(rng.normal(size=(*kind.extents, *kind.shape)) for kind in types))
    tensors = {
        name: Tensor.from_dense(array, found.program.tensors[name].format) for name, array in arrays.items()
    }
    program = found.program.bind({name: tensor.shape for name, tensor in tensors.items()})
    workload = Workload(function.__name__, program, tensors)
    schedule = Schedule(fuse="full")
    compiled = compile_workload(workload, schedule, value=Float("f32"))
    result = run(compiled, tensors)
    if not check(workload, compiled, result.outputs).good:
        raise RunError(f"The result of {function.__name__} is wrong; please report this as a bug.")
    bodies = [step.body for step in compiled.design.sequence if isinstance(step, Repeat)]
    scans = [result.regions[step.region].cycles for body in bodies for step in body if isinstance(step, Run)]
    return max(stack.rounds for stack in stacks), sum(scans), result.cycles
