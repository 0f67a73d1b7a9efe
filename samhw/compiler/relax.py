"""A result that streams cannot give in its format: it is stored in compressed levels first.

A reducer that keeps several indices gives the coordinates that it has met, outer ones with fibers inside. A
dense outer level wants every coordinate, with an empty fiber where none has been met. A region that reads the
compressed levels gives that.
"""

from dataclasses import replace

from samhw.frontend import Access, Expr, Region, Statement, rewritten
from samhw.fusion import greatest_sizes, stored_format
from samhw.names import Names
from samhw.passes import Lowerable
from samhw.tensors import Format, LevelType

__all__ = ["relaxed"]


def relaxed(lowerable: Lowerable, number: int, tensor: str) -> tuple[Lowerable, str]:
    """The program in which a region stores another tensor in the place of one of its results, with compressed
    levels in the same mode order, from which a region behind it makes the result; and that tensor's name."""
    program = lowerable.program
    decl = program.tensors[tensor]
    fmt = stored_format(decl.format)
    name = Names(program.tensors).fresh(f"{tensor}_csf")
    compressed = Format((LevelType.compressed,) * decl.rank, fmt.mode_order)
    tensors = {**program.tensors, name: replace(decl, name=name, format=compressed, span=None)}
    region = program.regions[number]
    changed = replace(region, statements=tuple(_renamed(s, tensor, name) for s in region.statements))
    filled = Region((Statement(Access(tensor, decl.indices), Access(name, decl.indices)),))
    regions = (*program.regions[:number], changed, filled, *program.regions[number + 1 :])
    *_, entries = greatest_sizes(fmt, lowerable.shape(tensor), lowerable.capacity.entries_of(tensor))
    other = replace(program, tensors=tensors, regions=regions)
    return lowerable.with_program(other, entries={name: entries}), name


def _renamed(statement: Statement, tensor: str, name: str) -> Statement:
    """A statement with another name for a tensor."""

    def access(a: Access) -> Access:
        return Access(name, a.indices) if a.tensor == tensor else a

    def changed(e: Expr) -> Expr:
        return access(e) if isinstance(e, Access) else e

    mask = None if statement.mask is None else access(statement.mask)
    return replace(statement, lhs=access(statement.lhs), rhs=rewritten(statement.rhs, changed), mask=mask)
