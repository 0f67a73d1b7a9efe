"""All of the analysis in one call: what depends on what, and what was fused, merged and reordered."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from samhw.lang.nested.all_pairs import merge_loops
from samhw.lang.nested.dataflow import ListView, Pieces
from samhw.lang.nested.function import NestedFunction
from samhw.lang.nested.fuse_maps import fuse_access_maps
from samhw.lang.nested.hyperplane import Wavefront, wavefronts
from samhw.lang.nested.merging import merge_horizontally, merge_vertically, perfect_nests
from samhw.lang.nested.task_graph import TaskGraph, task_graph
from samhw.lang.nested.tracing import trace

__all__ = ["Dependences", "coarsened", "dependences"]


@dataclass(frozen=True)
class Dependences:
    """What `dependences` has found. ``str()`` of it is a page of text.

    Attributes:
        traced: the function as it was traced.
        function: with its access maps fused and its blocks merged.
        wavefronts: the rounds of the blocks that carry dependences.
        fused: the views, and lists in pieces, whose maps were fused into those that read them.
        merged: pairs of blocks that are one block now.
        flattened: pairs of loops that are one loop now.
    """

    traced: NestedFunction
    function: NestedFunction
    wavefronts: tuple[Wavefront, ...]
    fused: tuple[str, ...]
    merged: tuple[str, ...]
    flattened: tuple[str, ...]

    @property
    def graph(self) -> TaskGraph:
        """The extended task dependence graph."""
        return task_graph(self.function)

    def __str__(self) -> str:
        parts = [
            str(self.function),
            str(self.graph),
            _listed("access maps fused", self.fused),
            _listed("blocks merged", self.merged),
            _listed("loops merged", self.flattened),
            _listed("reordered", [str(wavefront) for wavefront in self.wavefronts]),
        ]
        return "\n".join(parts)


def _listed(title: str, lines: "tuple[str, ...] | list[str]") -> str:
    return "\n".join([f"{title}:", *(f"  {line}" for line in lines or ("nothing",))])


def coarsened(function: NestedFunction) -> Dependences:
    """A function with fused access maps, perfect nests and merged blocks, and what was done."""
    fused = fuse_access_maps(function)
    gone = function.buffers.keys() - fused.buffers.keys()
    views = tuple(name for name in function.buffers if name in gone and _moves(function, name))
    merged: list[str] = []
    flattened: list[str] = []
    found = perfect_nests(fused)
    found = merge_vertically(merge_horizontally(found, merged), merged)
    found = merge_loops(perfect_nests(found), flattened)
    return Dependences(function, found, wavefronts(found), views, tuple(merged), tuple(flattened))


def _moves(function: NestedFunction, name: str) -> bool:
    return isinstance(function.buffers[name], ListView | Pieces)


def dependences(function: Callable[..., Any], *arguments: Any, **named: Any) -> Dependences:
    """The dependences of a Python function of nested lists, and what can be made of them: `trace`, then
    `coarsened`. Raises as `trace` does."""
    return coarsened(trace(function, *arguments, **named))
