"""A pass for tests, which derives an input: the first operand with a compressed level, without the zeros that
it stores."""

from dataclasses import replace

from samhw.compiler.passes import Lowerable, Recipe
from samhw.lang import Access, Expr, Region, Statement, rewritten
from samhw.names import Names
from samhw.tensors import Tensor

__all__ = ["stored_only"]


def stored_only(lowerable: Lowerable) -> Lowerable:
    program = lowerable.program
    sparse = [decl for decl in program.inputs if not decl.format.is_all_dense]
    if not sparse:
        return lowerable
    old = sparse[0].name
    new = Names(program.tensors).fresh(f"{old}_stored")

    def access(a: Access) -> Access:
        return replace(a, tensor=new) if a.tensor == old else a

    def change(e: Expr) -> Expr:
        return access(e) if isinstance(e, Access) else e

    def statement(s: Statement) -> Statement:
        return replace(s, rhs=rewritten(s.rhs, change), mask=None if s.mask is None else access(s.mask))

    tensors = {
        new if name == old else name: replace(decl, name=new) if name == old else decl
        for name, decl in program.tensors.items()
    }
    regions = tuple(Region(tuple(map(statement, region.statements))) for region in program.regions)
    return lowerable.with_program(
        replace(program, tensors=tensors, regions=regions),
        entries={new: lowerable.capacity.entries_of(old)},
        recipes={new: Recipe(f"{old} without stored zeros", (old,), _without_zeros)},
    )


def _without_zeros(tensor: Tensor) -> Tensor:
    return Tensor.from_coo(*tensor.to_coo(drop_zeros=True), tensor.shape, tensor.format)
