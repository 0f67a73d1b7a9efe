"""The inputs of a graph, as they are stored."""

from collections.abc import Mapping

from samhw.frontend import Program
from samhw.graph import Graph, MemoryRole
from samhw.tensors import Tensor

__all__ = ["stored_inputs"]


def stored_inputs(program: Program, graph: Graph, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Those of the tensors that the graph takes, in the formats that it takes them in.

    Coordinate lists become compressed levels, and masks lose the zeros that they store, since what a mask
    stores is taken for nonzero.
    """
    masks = {s.mask.tensor for s in program.statements if s.mask}
    stored = {}
    for binding in graph.tensors:
        tensor = tensors.get(binding.name)
        if tensor is None or binding.role is not MemoryRole.INPUT:
            continue
        if binding.name in masks:
            coords, vals = tensor.to_coo(drop_zeros=True)
            tensor = Tensor.from_coo(coords, vals, tensor.shape, tensor.format)
        stored[binding.name] = tensor.convert(binding.format)
    return stored
