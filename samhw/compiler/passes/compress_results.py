"""Results that streams cannot give in their format: they are stored in compressed levels first.

A reducer that keeps several indices gives the coordinates that it has met, outer ones with fibers inside. A
dense outer level wants every coordinate, with an empty fiber where none has been met. A region that reads the
compressed levels gives that.
"""

from samhw.compiler.passes.lowerable import Lowerable
from samhw.lang import Access, Region, Statement
from samhw.names import Names
from samhw.tensors import Format

__all__ = ["compress_result", "compress_results"]


def compress_results(lowerable: Lowerable) -> Lowerable:
    """The program in which regions store the results that their decisions name in compressed levels, in the
    same mode order, and regions after them make the results of these."""
    if not any(chosen.compressed for chosen in lowerable.decisions):
        return lowerable
    for chosen in lowerable.decisions:
        for result in chosen.compressed:
            labels = [region.label for region in lowerable.program.regions]
            number = labels.index(chosen.label)
            statement = lowerable.program.regions[number].statements[chosen.results.index(result)]
            lowerable, _ = compress_result(lowerable, number, statement.lhs.tensor)
    return lowerable.renamed()


def compress_result(lowerable: Lowerable, number: int, tensor: str) -> tuple[Lowerable, str]:
    """The program in which one region stores a result so; and the tensor that stands for the result."""
    program = lowerable.program
    decl = program.tensors[tensor]
    name = Names(program.tensors).fresh(f"{tensor}_csf")
    compressed = Format.compressed(decl.rank, decl.format.mode_order).blocked(decl.format.block)

    def access(a: Access) -> Access:
        return Access(name, a.indices) if a.tensor == tensor else a

    region = program.regions[number]
    statements = tuple(statement.with_accesses(access) for statement in region.statements)
    changed = Region(statements, region.order, region.label)
    sides = (Access.of(tensor, decl.indices), Access.of(name, decl.indices))
    filled = Region((Statement(*sides, scan=region.scan),))
    regions = (*program.regions[:number], changed, filled, *program.regions[number + 1 :])
    return lowerable.with_alike({name: (tensor, compressed)}, regions), name
