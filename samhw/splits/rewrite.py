"""The program over the parts: where a tensor that is split is a factor, a term for each part."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product

from samhw.errors import InputError
from samhw.frontend import (
    Access,
    Add,
    Concat,
    Div,
    Expr,
    Mul,
    Neg,
    Program,
    Recurrence,
    Reshape,
    RunningReduction,
    Statement,
    Sub,
    accesses,
    check_program,
    with_accesses,
)
from samhw.names import Names
from samhw.splits.notation import parse_rule
from samhw.splits.partition import TensorSplit
from samhw.tensors import Tensor

__all__ = ["MOST_TERMS", "SplitProgram", "split_program"]

MOST_TERMS = 96
"""Of a statement: an expression nests at most 100 deep, and each term lies a level deeper than the next."""


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
    since each entry is in one part.

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
    tensors = {}
    for decl in program.tensors.values():
        if decl.name not in partitions:
            tensors[decl.name] = decl
            continue
        for name, part in partitions[decl.name].parts.items():
            tensors[name] = replace(decl, name=name, format=part.format, span=None, implied=False)
    regions = [
        replace(region, statements=tuple(_Terms(s, partitions).statement() for s in region.statements))
        for region in program.regions
    ]
    made = replace(program, tensors=tensors, regions=tuple(regions))
    check_program(made)
    return SplitProgram(made, partitions)


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
        raise InputError(f"'{tensor}' is stored in blocks, which are not compiled; store it as csr.")
    rule = parse_rule(text)
    try:
        parts = rule.parts(decl.format)
    except InputError as error:
        raise InputError(f"'{tensor}' cannot be split: {error}.") from None
    return TensorSplit(tensor, rule, {names.fresh(f"{tensor}_{part.name}"): part for part in parts})


@dataclass(frozen=True)
class _Terms:
    """A statement in the making."""

    given: Statement
    partitions: Mapping[str, TensorSplit]

    def statement(self) -> Statement:
        rhs = self.given.rhs
        if not any(access.tensor in self.partitions for access in accesses(rhs)):
            return self.given
        if self.given.reduction != "sum" or isinstance(rhs, RunningReduction | Recurrence):
            return replace(self.given, rhs=self.whole(rhs))
        terms = [(sign, term) for sign, outer in _signed(rhs) for term in self.expanded(outer)]
        if len(terms) > MOST_TERMS:
            raise InputError(
                f"'{self.given.lhs}' would be a sum of {len(terms)} terms, and can be one of {MOST_TERMS}; "
                "split into fewer parts."
            )
        (_, first), *others = terms
        return replace(self.given, rhs=reduce(_joined, others, first))

    def expanded(self, e: Expr) -> Iterator[Expr]:
        """The terms of a product, one for each choice of parts. A sum in it stays one factor."""
        match e:
            case Access(tensor=tensor) if tensor in self.partitions:
                yield from (replace(e, tensor=part) for part in self.partitions[tensor].parts)
            case Mul(left, right):
                pairs = product(list(self.expanded(left)), list(self.expanded(right)))
                yield from (replace(e, left=one, right=other) for one, other in pairs)
            case Div(left, right):
                yield from (replace(e, left=one, right=self.whole(right)) for one in self.expanded(left))
            case Neg(operand):
                yield from (replace(e, operand=one) for one in self.expanded(operand))
            case _:
                yield self.whole(e)

    def whole(self, e: Expr) -> Expr:
        """The expression with the sum of all parts in the place of each tensor that is split."""

        def change(access: Access) -> Expr:
            if access.tensor not in self.partitions:
                return access
            parts = self.partitions[access.tensor].parts
            sum_: Expr | None = None
            for part in parts:
                one = replace(access, tensor=part)
                sum_ = one if sum_ is None else Add(sum_, one)
            return access if sum_ is None else sum_

        return with_accesses(e, change)


def _signed(e: Expr) -> list[tuple[int, Expr]]:
    """The operands of the outermost + and -, left to right, each with what stands in front of it."""
    found = []
    while isinstance(e, Add | Sub):
        found.append((1 if isinstance(e, Add) else -1, e.right))
        e = e.left
    return [(1, e), *reversed(found)]


def _joined(left: Expr, term: tuple[int, Expr]) -> Expr:
    """A sum or difference with one operand more."""
    sign, right = term
    return Add(left, right) if sign > 0 else Sub(left, right)
