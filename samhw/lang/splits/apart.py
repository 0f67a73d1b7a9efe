"""Results whose rows lie in one part each: every part computes its own rows, under indices of its own, and
the host puts them together.

What makes a term zero.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce

from samhw.lang import (
    Access,
    Add,
    Div,
    Expr,
    Mul,
    Neg,
    Recurrence,
    RunningReduction,
    Statement,
    TensorDecl,
    accesses,
    terms,
    with_accesses,
)
from samhw.lang.splits.partition import TensorSplit
from samhw.names import Names

__all__ = ["Apart", "factors", "put_apart"]


@dataclass(frozen=True)
class Apart:
    """A result that is computed part by part.

    Attributes:
        tensor: the one whose parts these are.
        rows: for each index of the statement that tells the part, the mode of `tensor` that it stands for.
        results: for each part the tensor with its rows of the result.
        indices: for each part the name that each index of the statement has in it.
        statements: what computes each of `results`.
        whole: the sum of them: no two have an entry in one place.
    """

    tensor: str
    rows: Mapping[str, int]
    results: Mapping[str, str]
    indices: Mapping[str, Mapping[str, str]]
    statements: tuple[Statement, ...]
    whole: Statement

    @property
    def result(self) -> str:
        """What is put together."""
        return self.whole.lhs.tensor

    def part_result(self, decl: TensorDecl, name: str) -> TensorDecl:
        """The declaration of a part's rows of the result: it has some coordinates of what tells the part."""
        fmt = decl.format
        for mode, index in enumerate(self.whole.lhs.names):
            if index in self.rows:
                fmt = fmt.compressed_in(mode)
        return replace(decl, name=name, format=fmt, span=None)


def put_apart(
    given: Statement,
    decl: TensorDecl,
    partitions: Mapping[str, TensorSplit],
    tensors: Names,
    indices: Names,
) -> Apart | None:
    """A statement as one for each part of a factor; None for one whose rows lie in several parts.

    Args:
        decl: of its result, which no statement reads.
        tensors: the names of all tensors, to which those of the results of parts are added.
        indices: those of all index variables, likewise.
    """
    if given.reduction != "sum" or given.mask is not None or given.scan is not None:
        return None
    if isinstance(given.rhs, RunningReduction | Recurrence) or not given.lhs.is_plain:
        return None
    found = next(_telling(given, partitions), None)
    if found is None:
        return None
    tensor, rows = found
    results: dict[str, str] = {}
    renamed: dict[str, dict[str, str]] = {}
    statements = []
    for name, part in partitions[tensor].parts.items():
        results[name] = tensors.fresh(f"{decl.name}_{part.name}")
        renamed[name] = {index: indices.fresh(f"{index}_{part.name}") for index in given.indices}
        made = replace(
            given,
            lhs=replace(given.lhs, tensor=results[name]),
            rhs=with_accesses(given.rhs, _instead(tensor, name)),
        )
        statements.append(made.renamed(renamed[name]))
    sums: list[Expr] = [replace(given.lhs, tensor=result) for result in results.values()]
    return Apart(tensor, rows, results, renamed, tuple(statements), Statement(given.lhs, reduce(Add, sums)))


def _telling(given: Statement, partitions: Mapping[str, TensorSplit]) -> Iterator[tuple[str, dict[str, int]]]:
    """Each split tensor that is a factor of all terms, and whose coordinates on the left tell the part of
    what is summed, with the indices that stand for these."""
    found = [{access.tensor for access in factors(term)} for term in terms(given.rhs)]
    for access in accesses(given.rhs):
        partition = partitions.get(access.tensor)
        if partition is None or not all(access.tensor in present for present in found):
            continue
        modes = partition.rule.telling_modes(len(access.indices))
        told = {access.indices[mode]: mode for mode in modes}
        same = all(
            other.indices[mode] == access.indices[mode]
            for other in accesses(given.rhs)
            if other.tensor == access.tensor
            for mode in modes
        )
        # An index that is more than a name is none of the left side's, and tells no part of it.
        if told and same and told.keys() <= set(given.lhs.indices):
            yield access.tensor, {name: mode for index, mode in told.items() for name in index.variables}


def _instead(tensor: str, part: str) -> Callable[[Access], Access]:
    """Puts a part in the place of the tensor."""

    def change(access: Access) -> Access:
        return replace(access, tensor=part) if access.tensor == tensor else access

    return change


def factors(e: Expr) -> Iterator[Access]:
    """The tensors of which a term is zero wherever one of them is."""
    match e:
        case Access():
            yield e
        case Mul(left, right):
            yield from factors(left)
            yield from factors(right)
        case Div(left, _):
            yield from factors(left)
        case Neg(operand):
            yield from factors(operand)
