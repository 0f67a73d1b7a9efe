"""A program with brackets: the statements that compute what each of them says."""

from collections.abc import Mapping
from dataclasses import replace

from samhw.errors import InputError
from samhw.lang import Program, Statement, TensorDecl, check_program
from samhw.lang.brackets.matched import matched
from samhw.lang.brackets.notation import parse_bracket, tensors_of
from samhw.lang.brackets.products import definitions, is_sum, products_of
from samhw.lang.brackets.statements import StatementMaker
from samhw.names import Names

__all__ = ["apply_brackets"]


def apply_brackets(program: Program, brackets: Mapping[str, str]) -> Program:
    """The program in which the statements of some results are computed as brackets say.

    What a bracket sums in parentheses becomes a statement of its own, before the result's, in the same
    region. Its result is named by its factors: that of `X * W` is `X_W`. Intermediates that nobody reads any
    more are left out. Results keep their names, and dimensions theirs.

    Args:
        brackets: by result, the right side in its brackets, such as `A * (X * W)`.

    Raises:
        InputError: for a result that there is not, or a bracket that is not equal to its statement.
    """
    if not brackets:
        return program
    results = {decl.name for decl in program.outputs}
    names = Names((*program.tensors, *brackets))
    bracketed = program
    for result, text in brackets.items():
        bracketed = _with_bracket(bracketed, result, text, names)
    bracketed = _without_unread(bracketed, results)
    named = {
        (name, mode): dimension
        for name in program.tensors
        if name in bracketed.tensors
        for mode, dimension in enumerate(program.dimensions.of_tensor(name))
    }
    bracketed = replace(bracketed, named=named)
    check_program(bracketed)
    return bracketed


def _with_bracket(program: Program, result: str, text: str, names: Names) -> Program:
    statement = _statement(program, result)
    tree = parse_bracket(text, result)
    defined = definitions(program)
    mentioned = tensors_of(text, result)
    products = products_of(statement, defined, mentioned)
    if products is None:
        raise InputError(
            f"brackets.{result}: '{statement}' does not multiply out to products that each have the indices "
            f"which they are summed over; name more of its intermediates in the bracket."
        )
    maker = StatementMaker(program.tensors, statement, matched(tree, products, statement, text), names)
    last = maker.last(tree)
    if last.mask is not None and not set(last.mask.variables) <= set(last.indices):
        raise InputError(
            f"brackets.{result}: '{text}' sums in parentheses over an index of the mask '{last.mask}'; leave "
            "what has that index outside of them."
        )
    tensors: dict[str, TensorDecl] = {}
    for name, decl in program.tensors.items():
        if name == result:
            tensors |= maker.tensors
        tensors[name] = decl
    became = {statement: (*maker.made, last)}
    regions = (
        replace(region, statements=tuple(new for s in region.statements for new in became.get(s, (s,))))
        for region in program.regions
    )
    return replace(program, tensors=tensors, regions=tuple(regions))


def _statement(program: Program, result: str) -> Statement:
    """The statement that computes a result, if it can have a bracket."""
    program.check_computed("brackets", [result])
    statement = next(s for s in program.statements if s.lhs.tensor == result)
    placed = next((access for access in statement.accesses if not access.is_plain), None)
    if placed is not None:
        raise InputError(
            f"brackets.{result}: '{placed}' in '{statement}' has an index that is more than a name, which no "
            "bracket can have; leave it out, or gather what is read there in a statement before it."
        )
    if not is_sum(statement):
        raise InputError(
            f"brackets.{result}: '{statement}' is no sum of products, which alone have brackets; leave it "
            "out."
        )
    return statement


def _without_unread(program: Program, results: set[str]) -> Program:
    """Without the statements whose results are neither asked for nor read any more."""
    while True:
        unread = {decl.name for decl in program.outputs} - results
        if not unread:
            return program
        regions = [
            replace(region, statements=tuple(s for s in region.statements if s.lhs.tensor not in unread))
            for region in program.regions
        ]
        program = replace(
            program,
            tensors={name: decl for name, decl in program.tensors.items() if name not in unread},
            regions=tuple(region for region in regions if region.statements),
        )
