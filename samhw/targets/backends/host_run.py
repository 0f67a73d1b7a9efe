"""What a host does for a run: it loads the tensors of a user, and reads the results back."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from samhw.compiler import Compiled
from samhw.graph import Graph
from samhw.graph.numerics import Words
from samhw.targets.running.images import unload
from samhw.targets.running.inputs import Inputs, inputs_of
from samhw.tensors import Tensor

__all__ = ["HostRun"]

_WORD = 0xFFFF_FFFF


@dataclass(frozen=True)
class HostRun:
    """A run of a design, as its host sees it.

    Tensors are split, put in another order, and derived from others on the way in, and results are put
    together on the way out, as the `derived.txt` of a build says in words.

    Attributes:
        compiled: what runs.
        inputs: `inputs.memories` has the words of each memory that the host writes, by the name that it has
            in the address map, and `inputs.extents` the extent of each index.
    """

    compiled: Compiled
    inputs: Inputs
    _tensors: Mapping[str, Tensor] = field(repr=False)

    @classmethod
    def of(cls, compiled: Compiled, tensors: Mapping[str, Tensor]) -> "HostRun":
        """Of a user's tensors; raises as `samhw.targets.running.inputs.load_inputs`."""
        return cls(compiled, inputs_of(compiled, tensors), tensors)

    def results(self, words: Mapping[str, Words]) -> dict[str, Tensor]:
        """All tensors that a run leaves, by name.

        Args:
            words: of each memory that the host reads, what it holds, words of 32 bits with or without a sign;
                those after the end of an array are ignored.

        Raises:
            KeyError: for a memory that is missing.
            RunError: where the words are no tensor.
        """
        graphs = self.compiled.design.runs
        words = {name: np.asarray(held).astype(np.int64) & _WORD for name, held in words.items()}
        written = {name: t for graph in graphs for name, t in self.outputs(graph, words).items()}
        return written | self.joined(written)

    def outputs(self, graph: Graph, words: Mapping[str, Words]) -> dict[str, Tensor]:
        """The tensors that a region has written; arguments and errors as of `results`."""
        order = self.compiled.row_orders.drawn(self._tensors)
        return order.back(unload(graph, words, self.inputs.extents))

    def joined(self, written: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The results that are put together of tensors that regions have written."""
        found = {}
        for name, parts in self.compiled.joined.items():
            coords, vals = zip(*(written[part].to_coo() for part in parts), strict=True)
            fmt = self.compiled.program.tensors[name].format
            found[name] = Tensor.from_coo(
                np.concatenate(coords, axis=1), np.concatenate(vals), written[parts[0]].shape, fmt
            )
        return found
