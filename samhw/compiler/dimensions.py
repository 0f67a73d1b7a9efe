"""The dimensions of a program: indices that always have one extent are one dimension.

Every access of a tensor ties the indices to its modes, so `A[i,k] * A[k,j]` has a single dimension. Only the
parts of a concatenation have dimensions of their own along its index. A build has one register for the extent
of each, however many indices of however many statements run over it.
"""

from collections.abc import Iterator, Mapping

import networkx as nx

from samhw.frontend import Access, Concat, Program, Statement
from samhw.graph.names import Names

__all__ = ["Dimensions"]

Mode = tuple[str, int]


class Dimensions:
    """The dimension of every mode of a program's tensors, and with it of every index of its statements.

    A dimension is named like the first index that runs over it, with a number behind it if that name is
    taken.

    Attributes:
        names: of the dimensions, for whoever needs one more.
    """

    def __init__(self, program: Program):
        self._program = program
        # A mode is tied to the index of a statement that accesses it, and so to its other modes.
        ties: nx.Graph[object] = nx.Graph()
        ties.add_nodes_from((d.name, mode) for d in program.tensors.values() for mode in range(d.rank))
        for number, statement in enumerate(program.statements):
            ties.add_edges_from((mode, ("index", number, index)) for index, mode in _shared(statement))
        component = {
            node: number for number, nodes in enumerate(nx.connected_components(ties)) for node in nodes
        }
        used = [i for s in program.statements for i in s.indices]
        self.names = Names([*used, *(i for decl in program.tensors.values() for i in decl.indices)])
        named: dict[int, str] = {}

        def name(component: int, wish: str) -> str:
            if component not in named:
                named[component] = self.names.own(wish)
            return named[component]

        for number, statement in enumerate(program.statements):
            for index in statement.indices:
                name(component["index", number, index], index)
        self._of_mode: dict[Mode, str] = {}
        for decl in program.tensors.values():
            for mode, index in enumerate(decl.indices):
                self._of_mode[decl.name, mode] = name(component[decl.name, mode], index)

    def of_tensor(self, tensor: str) -> tuple[str, ...]:
        """The dimension of each mode."""
        return tuple(self._of_mode[tensor, mode] for mode in range(self._program.tensors[tensor].rank))

    def of_statement(self, statement: Statement) -> dict[str, str]:
        """The dimension of each index; of that of a concatenation, the whole's."""
        return {index: self._of_mode[mode] for index, mode in _shared(statement)}

    def of_index(self, access: Access, index: str) -> str:
        """The dimension of the mode that an access has an index for."""
        return self._of_mode[access.tensor, access.indices.index(index)]

    def extents(self) -> dict[str, int | None]:
        """What the program's text or its data say, by dimension."""
        result: dict[str, int | None] = {}
        for (tensor, mode), dimension in self._of_mode.items():
            extent = self._program.tensors[tensor].shape[mode]
            if extent is not None or dimension not in result:
                result[dimension] = extent
        return result

    def shape(self, tensor: str, extents: Mapping[str, int]) -> tuple[int, ...]:
        """The shape of a tensor, with these extents of the dimensions."""
        return tuple(extents[dimension] for dimension in self.of_tensor(tensor))


def _shared(statement: Statement) -> Iterator[tuple[str, Mode]]:
    """The indices of a statement with the modes that share their extents."""
    concatenated = statement.rhs.index if isinstance(statement.rhs, Concat) else None
    for access in statement.accesses:
        for mode, index in enumerate(access.indices):
            if index != concatenated or access is statement.lhs:
                yield index, (access.tensor, mode)
