"""The rules that a program must keep, each broken one reported with its place and a hint.

Programs that break no rule, and rarely mean what they say.
"""

import math
from collections.abc import Iterator

from samhw.errors import InputError
from samhw.lang.check_forms import (
    check_concat,
    check_coordinate,
    check_gathers,
    check_index_extents,
    check_index_tensors,
    check_order_of_steps,
    check_ranking,
    check_recurrence,
    check_reshape,
    check_running,
    check_scanned,
    check_scans,
)
from samhw.lang.declaration import MAX_EXTENT, TensorDecl
from samhw.lang.expr import (
    Access,
    Add,
    Call,
    Concat,
    Div,
    Expr,
    Literal,
    Mul,
    Neg,
    Recurrence,
    Reshape,
    RunningReduction,
    Sub,
)
from samhw.lang.program import Program
from samhw.lang.source import LONGEST_NAME, Span, is_name
from samhw.lang.statement import COORDINATES, RANKINGS, Scan, Statement
from samhw.lang.traverse import accesses, factors_of, free_indices, terms, walk
from samhw.words import did_you_mean

__all__ = ["FUNCTIONS", "MAX_DEPTH", "REDUCTIONS", "cautions", "check_program"]

FUNCTIONS = {
    **dict.fromkeys(("abs", "relu", "gelu", "silu", "sigmoid", "tanh"), 1),
    **dict.fromkeys(("exp", "log", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "rint"), 1),
    **dict.fromkeys(("f8e4m3", "f8e5m2"), 1),
    **dict.fromkeys(("leaky_relu", "max", "min", "lt", "le", "eq"), 2),
    "select": 3,
    "to": 1,
    "scale": 3,
}
"""The functions that an expression may call: name -> number of arguments."""

REDUCTIONS = ("sum", "max", "min", "prod")
"""How a statement may fold the values along the indices that are missing on its left."""

MAX_DEPTH = 100
"""How deep an expression may nest, and so how many operands a chain of one operator may have. It keeps every
recursive walk over a checked expression far from Python's limit."""


def check_program(program: Program) -> None:
    """Raise InputError unless every statement is well-formed and all statements fit together.

    `parse`, `load`, `load_object` and `ProgramBuilder.program` have done so already.
    """
    if not program.statements:
        raise InputError(f"program '{program.name}' has no statement; write one such as T[i] = A[i] * 2")
    if not all(region.statements for region in program.regions):
        raise InputError(f"program '{program.name}' has an empty fuse block; fill it or leave it out")
    for decl in program.tensors.values():
        _check_declaration(program, decl)
    for statement in (*program.statements, *program.starts):
        _check_statement(program, statement)
    check_scans(program)
    check_index_tensors(program)
    check_index_extents(program)
    _check_dataflow(program)
    # Extents that disagree, and moves that do not add up, are found as the dimensions are made.
    _ = program.dimensions


def _check_declaration(program: Program, decl: TensorDecl) -> None:
    _check_name(program, decl.span, "a tensor", decl.name)
    for index in decl.indices:
        _check_name(program, decl.span, "an index", index)
    if len(set(decl.indices)) != len(decl.indices):
        raise program.error(
            decl.span, f"tensor '{decl.name}' names two modes alike; give each mode an index of its own"
        )
    if len(decl.shape) != decl.rank or decl.format.rank != decl.rank:
        raise program.error(
            decl.span,
            f"tensor '{decl.name}' has {decl.rank} indices, {len(decl.shape)} extents and a format of rank "
            f"{decl.format.rank}; make the three agree",
        )
    for index, extent in zip(decl.indices, decl.shape, strict=True):
        if extent is not None and not 1 <= extent <= MAX_EXTENT:
            raise program.error(
                decl.span,
                f"tensor '{decl.name}' is declared with {index}={extent}; "
                f"an extent is from 1 to {MAX_EXTENT:,}, as coordinates have 32 bits",
            )


def _check_name(program: Program, span: Span | None, what: str, name: str) -> None:
    if not is_name(name):
        raise program.error(
            span, f"'{name}' cannot be the name of {what}; use letters, digits and '_', and no keyword"
        )
    if len(name) > LONGEST_NAME:
        raise program.error(
            span, f"the name '{name[:20]}..' is longer than {LONGEST_NAME} characters; use a shorter one"
        )


def _check_statement(program: Program, statement: Statement) -> None:
    _check_nodes(program, statement)
    for access in statement.accesses:
        _check_access(program, access)
    _check_reduction_name(program, statement)
    check_scanned(program, statement)
    check_gathers(program, statement)
    match statement.rhs:
        case Reshape():
            check_reshape(program, statement, statement.rhs)
        case Concat():
            check_concat(program, statement, statement.rhs)
        case _:
            if isinstance(statement.rhs, RunningReduction):
                check_running(program, statement, statement.rhs)
            if isinstance(statement.rhs, Recurrence):
                check_recurrence(program, statement, statement.rhs)
            if statement.reduction in COORDINATES:
                check_coordinate(program, statement)
            if statement.reduction in RANKINGS:
                check_ranking(program, statement)
            _check_indices(program, statement)
    _check_order(program, statement)


def _check_reduction_name(program: Program, statement: Statement) -> None:
    known = (*REDUCTIONS, *COORDINATES, *RANKINGS)
    if statement.reduction not in known:
        raise program.error(
            statement.lhs.span,
            f"'{statement.lhs}' is reduced by '{statement.reduction}'; use one of {', '.join(known)}",
        )


def _check_indices(program: Program, statement: Statement) -> None:
    """The rules of a statement's indices: where they may be missing, and how far a sum over them reaches."""
    free = free_indices(statement.rhs)
    is_sum = statement.reduction == "sum" and not isinstance(statement.rhs, RunningReduction | Recurrence)
    restricted = statement.mask.variables if statement.mask is not None and is_sum else ()
    for index in statement.lhs.variables:
        if index not in free and index not in restricted and index != statement.rank:
            raise program.error(
                statement.lhs.span,
                f"index '{index}' of '{statement.lhs}' is on the left only; use it on the right or drop it",
            )
    if statement.mask is not None:
        _check_mask(program, statement, statement.mask)
    if statement.reduction == "sum" and not isinstance(statement.rhs, Recurrence):
        for index in statement.reduction_indices:
            for term in terms(statement.rhs):
                _check_reduction(program, term, index)


def _check_mask(program: Program, statement: Statement, mask: Access) -> None:
    for index in mask.variables:
        if index not in statement.indices or index == statement.rank:
            what = f"index '{index}' of the mask '{mask}' is not used by the statement"
            raise program.error(mask.span, f"{what}; {_indices(statement)}")
        if index in statement.lhs.variables or statement.reduction != "sum":
            continue
        if isinstance(statement.rhs, Recurrence):
            continue
        for term in terms(statement.rhs):
            if index not in free_indices(term):
                raise program.error(
                    term.span,
                    f"the mask '{mask}' has the summed index '{index}', but '{term}' lacks it; "
                    "write that term as a statement of its own",
                )


def _check_nodes(program: Program, statement: Statement) -> None:
    """The rules of single nodes."""
    stack = [(statement.rhs, 1)]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise program.error(
                statement.lhs.span,
                f"the expression assigned to '{statement.lhs}' nests deeper than {MAX_DEPTH} levels; "
                "use several statements",
            )
        if isinstance(node, Literal):
            _check_literal(program, node)
        if isinstance(node, Call):
            _check_call(program, node)
        if isinstance(node, Reshape | Concat | RunningReduction | Recurrence) and node is not statement.rhs:
            raise program.error(
                node.span, f"'{node}' is part of an expression; write it as a statement of its own"
            )
        stack.extend((child, depth + 1) for child in reversed(node.children))
    if next(accesses(statement.rhs), None) is None:
        raise program.error(
            statement.rhs.span, f"the expression assigned to '{statement.lhs}' uses no tensor; give it one"
        )


def _check_literal(program: Program, literal: Literal) -> None:
    value = literal.value
    if isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 63:
            raise program.error(
                literal.span, "a whole number has at most 64 bits; use a smaller one, or write it as in 1e30"
            )
    elif not math.isfinite(value):
        raise program.error(literal.span, f"the number {value} is not finite; use a smaller one")


def _check_call(program: Program, call: Call) -> None:
    if call.function not in FUNCTIONS:
        known, meant = ", ".join(sorted(FUNCTIONS)), did_you_mean(call.function, FUNCTIONS)
        raise program.error(
            call.span, f"unknown function '{call.function}'{meant}; the functions are: {known}"
        )
    wanted = FUNCTIONS[call.function]
    if len(call.arguments) not in (wanted, wanted + (call.function == "scale")):
        raise program.error(
            call.span, f"function '{call.function}' has the wrong number of arguments; give it {wanted}"
        )
    if call.function == "leaky_relu" and not isinstance(call.arguments[1], Literal):
        raise program.error(
            call.arguments[1].span or call.span,
            f"the slope of leaky_relu is a number, not '{call.arguments[1]}'; write one such as 0.01",
        )


def _check_access(program: Program, access: Access) -> None:
    decl = program.tensors.get(access.tensor)
    if decl is None:
        meant = did_you_mean(access.tensor, program.tensors)
        declaration = f"tensor {access.tensor}" + "[..] : format" * bool(access.indices)
        raise program.error(
            access.span, f"unknown tensor '{access.tensor}'{meant}; declare it with '{declaration}'"
        )
    if len(access.indices) != decl.rank:
        raise program.error(
            access.span,
            f"'{access}' does not fit tensor '{decl.name}' of rank {decl.rank}; "
            f"write {Access.of(decl.name, decl.indices)}",
        )
    for index in filter(None, access.own_names):
        _check_name(program, access.span, "an index", index)


def _check_reduction(program: Program, term: Expr, index: str) -> None:
    """Refuse a `term` in which it matters how far the sum over `index` reaches.

    The term is a sum of products once it is multiplied out. As long as each of them uses the index, the sum
    may be taken over the term, over a product or over the factors that use the index, all to the same result.
    A product without the index would count once in the one case, and once for each value of it in the other.
    """
    if index not in free_indices(term) or (gap := _gap(term, index)) is None:
        return
    raise program.error(
        gap.span,
        f"index '{index}' is summed over, but '{gap}' in '{term}' lacks it; "
        "write the part that has it as a statement of its own",
    )


def _gap(node: Expr, index: str) -> Expr | None:
    """What leaves a product of the multiplied-out `node` without `index`; None if every product uses it.

    A function that uses the index is one factor, and so is a quotient whose divisor uses it: a sum cannot
    move into them, and stands outside.
    """
    match node:
        case Access() if index in node.variables:
            return None
        case Call() if index in free_indices(node):
            return None
        case Div() if index in free_indices(node.right):
            return None
        case Div():
            return _gap(node.left, index)
        case Mul():
            gaps = [_gap(child, index) for child in node.children]
            if None in gaps:
                return None
            # Blame the factor that has the index in some of its products.
            return gaps[0] if index in free_indices(node.left) else gaps[1]
        case Add() | Sub() | Neg():
            return next((gap for child in node.children if (gap := _gap(child, index)) is not None), None)
    return node


def _indices(statement: Statement) -> str:
    return f"its indices are {', '.join(statement.indices) or 'none'}"


def _check_order(program: Program, statement: Statement) -> None:
    if statement.order is None:
        return
    if not statement.order:
        raise program.error(
            statement.order_span, "an order names one index or more; leave this empty one out"
        )
    listed = f"order {', '.join(statement.order)}"
    for index in statement.order:
        if index not in statement.indices:
            what = f"'{listed}' names index '{index}', which the statement does not use"
            raise program.error(statement.order_span, f"{what}; {_indices(statement)}")
        if statement.order.count(index) > 1:
            raise program.error(statement.order_span, f"'{listed}' names index '{index}' twice; name it once")
    for index in statement.indices:
        if index not in statement.order:
            raise program.error(
                statement.order_span, f"'{listed}' misses index '{index}'; name every index of the statement"
            )


def _check_dataflow(program: Program) -> None:
    """Every tensor is used; a written one is written once, before it is read."""
    writers = {statement.lhs.tensor for statement in program.statements}
    used: set[str] = {*writers, *(access.tensor for start in program.starts for access in start.reads)}
    steps: dict[Scan | None, set[str]] = {}
    for statement in program.statements:
        if statement.lhs.step is not None:
            steps.setdefault(statement.scan, set()).add(statement.lhs.tensor)
    written: set[str] = set()
    for statement in program.statements:
        target = statement.lhs.tensor
        for access in statement.reads:
            used.add(access.tensor)
            is_known = access.tensor in written
            if access.tensor in steps.get(statement.scan, ()):
                is_known = check_order_of_steps(program, statement, access, is_known)
            elif access.tensor == target:
                raise program.error(
                    access.span, f"'{target}' is used in its own statement; give the result another name"
                )
            if access.tensor in writers and not is_known:
                raise program.error(
                    access.span,
                    f"'{access.tensor}' is used before the statement that writes it; move that statement up",
                )
        stored = program.tensors[target].format
        if stored != stored.of_result:
            raise program.error(
                statement.lhs.span,
                f"'{target}' is computed, and {stored} is a format of inputs alone; store it in dense or "
                "compressed levels, such as csr",
            )
        if target in written:
            raise program.error(
                statement.lhs.span, f"'{target}' is written twice; give the second result another name"
            )
        written.add(target)
    for decl in program.tensors.values():
        if decl.name not in used:
            raise program.error(
                decl.span, f"tensor '{decl.name}' is never used; use it or remove its declaration"
            )


def cautions(program: Program) -> list[str]:
    """A sentence for each function of products that a sum adds up one by one.

    Who writes ``relu(A[i, k] * X[k, j])`` most often means the function of the sum.
    """
    return [
        f"'{call}' is added up over {', '.join(over)}, product by product; for {call.function} of the sum, "
        "give the sum a statement of its own."
        for statement in program.statements
        if statement.reduction == "sum"
        for call, over in _of_products(statement)
    ]


def _of_products(statement: Statement) -> Iterator[tuple[Call, list[str]]]:
    """The functions of a product of two tensors, with the indices of both that the statement sums over."""
    for call in walk(statement.rhs):
        if not isinstance(call, Call):
            continue
        for product in (term for argument in call.arguments for term in terms(argument)):
            factors = [set(free_indices(factor)) for factor in factors_of(product) if any(accesses(factor))]
            over = [
                index
                for index in free_indices(product)
                if index not in statement.lhs.variables and sum(index in factor for factor in factors) > 1
            ]
            if over:
                yield call, over
                break
