"""From a program to a graph."""

from collections.abc import Sequence
from dataclasses import dataclass

from samhw.compiler.capacity import Capacity, extents_of, memories_of
from samhw.compiler.channels import size_channels
from samhw.compiler.einsum import Einsum, einsum_of, stored_format
from samhw.compiler.generate import generate
from samhw.compiler.lower import lower
from samhw.compiler.order import choose_order
from samhw.compiler.table import FusionTable
from samhw.errors import InputError
from samhw.frontend import Program, Statement, accesses
from samhw.graph import Arch, Graph, MemoryRole, TensorBinding
from samhw.numerics import Fixed, Integer, value_type

__all__ = ["Compiled", "compile_program"]


@dataclass(frozen=True)
class Compiled:
    """A compiled program: the graph, and what led to it."""

    program: Program
    statement: Statement
    order: tuple[str, ...]
    tree: Einsum
    table: FusionTable
    graph: Graph
    arch: Arch


def compile_program(
    program: Program,
    *,
    order: Sequence[str] | None = None,
    value: str = "i32",
    factored: bool = True,
    capacity: Capacity | None = None,
    arch: Arch | None = None,
) -> Compiled:
    """Compiles a program of one statement.

    Args:
        order: the order of the indices, outermost first; else the statement's own, else the first that suits
            the tensors.
        value: the name of the value type.
        factored: place each sum where it belongs; otherwise one global iteration space, as Custard does.
        capacity: greatest extents and entries, where the program's text does not say or more is wanted.

    Raises:
        InputError: for a program that cannot be lowered, with the reason and the way out.
    """
    if len(program.statements) != 1:
        raise InputError(
            f"'{program.name}' has {len(program.statements)} statements, but one is compiled at a time; "
            "split it into programs of one statement."
        )
    (statement,) = program.statements
    arch = arch or Arch()
    capacity = capacity or Capacity()
    kind = value_type(value)
    if not isinstance(kind, Integer | Fixed):
        raise InputError(
            f"There are no hardware units for {kind} yet; choose i8, i16, i32 or fixed<W,F>, as in --value "
            "'fixed<16,8>'."
        )
    for access in statement.accesses:
        if program.tensors[access.tensor].format.block is not None:
            raise InputError(
                f"'{access.tensor}' is stored in blocks, which are not compiled; store it as csr."
            )
    chosen = choose_order(program, statement, order)
    extents = extents_of(program, statement, capacity)
    tree = einsum_of(program, statement, chosen, factored=factored)
    table = lower(program, statement, tree, chosen, extents)

    memories = []
    tensors = []
    roles = {a.tensor: (a, MemoryRole.INPUT) for a in accesses(statement.rhs)}
    roles[statement.lhs.tensor] = (statement.lhs, MemoryRole.OUTPUT)
    for name, (access, role) in roles.items():
        decl = program.tensors[name]
        memories += memories_of(decl, access.indices, role, extents, capacity)
        shape = tuple(extents[i] for i in access.indices)
        tensors.append(TensorBinding(name, role, str(stored_format(decl.format)), access.indices, shape))
    graph = generate(program.name, table, kind.name, arch, memories, tensors, extents)
    return Compiled(program, statement, chosen, tree, table, size_channels(graph, arch), arch)
