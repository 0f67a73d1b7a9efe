"""Programs over the parts of their inputs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from samhw.errors import InputError
from samhw.frontend import (
    Concat,
    Program,
    Region,
    Reshape,
    Statement,
    TensorDecl,
    accesses,
    check_program,
)
from samhw.names import Names
from samhw.splits.notation import parse_rule
from samhw.splits.partition import TensorSplit
from samhw.splits.statements import StatementsOverParts
from samhw.tensors import Tensor

__all__ = ["SplitProgram", "split_program"]


@dataclass(frozen=True)
class SplitProgram:
    """A program over parts.

    Attributes:
        program: to the same results, under the same names.
        partitions: of each tensor that is split, by its name.
    """

    program: Program
    partitions: Mapping[str, TensorSplit]

    def derived(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The parts of some data, by name; raises as `TensorSplit.cut`."""
        found: dict[str, Tensor] = {}
        for name, partition in self.partitions.items():
            found |= partition.cut(tensors[name])
        return found


def split_program(program: Program, split: Mapping[str, str]) -> SplitProgram:
    """The program in which some inputs are sums of parts.

    Where a tensor is a factor of a sum, each part gets a term: `A * X` is `A_0 * X + A_1 * X`. Elsewhere, as
    in a function or a maximum, the sum of the parts stands in its place. Both are equal in real numbers,
    since each entry is in one part. Of more terms than can meet in one place, partial sums are stored first.

    Args:
        split: by input, its rule in words.

    Raises:
        InputError: for a tensor that is no input, is moved as a whole or is a mask; a rule that it cannot be
            split by; and for more terms than a statement may have.
    """
    partitions: dict[str, TensorSplit] = {}
    names = Names(program.tensors)
    for tensor, text in split.items():
        partitions[tensor] = _partition(program, tensor, text, names)
    if not partitions:
        return SplitProgram(program, partitions)
    tensors: dict[str, TensorDecl] = {}
    for decl in program.tensors.values():
        if decl.name not in partitions:
            tensors[decl.name] = decl
            continue
        for name, part in partitions[decl.name].parts.items():
            tensors[name] = replace(decl, name=name, format=part.format, span=None, implied=False)
    regions: list[Region] = []
    for region in program.regions:
        regions += _region(region, StatementsOverParts(tensors, partitions, names))
    made = replace(program, tensors=tensors, regions=tuple(regions))
    check_program(made)
    return SplitProgram(made, partitions)


def _region(region: Region, over: StatementsOverParts) -> Iterator[Region]:
    """A region over parts. It ends in front of a statement that adds up partial sums, each of which has a
    region of its own."""
    rest: list[Statement] = []
    is_whole = True
    for statement in region.statements:
        *partial, last = over.of(statement)
        if partial and rest:
            yield Region(tuple(rest))
            rest = []
        for one in partial:
            has_order = region.order is not None and set(region.order) == set(one.indices)
            yield Region((one,), region.order if has_order else None)
        rest.append(last)
        is_whole = is_whole and not partial
    yield replace(region, statements=tuple(rest)) if is_whole else Region(tuple(rest), label=region.label)


def _partition(program: Program, tensor: str, text: str, names: Names) -> TensorSplit:
    program.check_operand(tensor)
    for statement in program.statements:
        whole = statement.rhs if isinstance(statement.rhs, Reshape | Concat) else None
        if whole is not None and any(access.tensor == tensor for access in accesses(whole)):
            raise InputError(f"'{tensor}' is moved as a whole by '{statement}', and cannot be split.")
        if statement.mask is not None and statement.mask.tensor == tensor:
            raise InputError(
                f"'{tensor}' is the mask of '{statement.lhs}', and cannot be split; multiply by it instead."
            )
    decl = program.tensors[tensor]
    if decl.format.block is not None:
        raise InputError(f"'{tensor}' is stored in blocks, which no rule splits; store it as csr.")
    rule = parse_rule(text)
    try:
        parts = rule.parts(decl.format)
    except InputError as error:
        raise InputError(f"'{tensor}' cannot be split: {error}.") from None
    return TensorSplit(tensor, rule, {names.fresh(f"{tensor}_{part.name}"): part for part in parts})
