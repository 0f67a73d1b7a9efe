"""Products of several values that are summed over some of their indices."""

from samhw.graph.numerics import ValueType
from samhw.importers.core.axes import AxisConflict
from samhw.importers.core.draft import Build
from samhw.importers.core.tensors import Tensors
from samhw.importers.core.value import UnsupportedError, Value
from samhw.lang.expr import Access, Expr, Literal
from samhw.lang.traverse import accesses, free_indices

__all__ = ["letters", "summed"]


def summed(
    tensors: Tensors,
    equation: str,
    *operands: Value,
    reduction: str = "sum",
    by_first: bool = False,
    kind: ValueType | None = None,
) -> Value:
    """An einsum: `bik,bkj->bij`. A letter in several operands is one index; a mode of extent 1 goes with
    any.

    Args:
        reduction: in the place of the sum, `max` or `min`: of products that have all letters.
        by_first: the first operand is a tensor, and only the points where it is not zero are gone through.
        kind: the type of what is summed, if it has one of its own.
    """
    inputs, _, output = equation.partition("->")
    build = tensors.build
    held = tensors.joinable([tensors.as_product(operand) for operand in operands])
    index: dict[str, tuple[str, ...]] = {}
    exprs: list[Expr] = []
    sizes: dict[str, int] = {}
    values = []
    for letters, operand in zip(inputs.split(","), held, strict=True):
        value = build.copy(operand)
        for place, letter in enumerate(letters):
            size = build.axes.size(value.modes[place])
            if letters.count(letter) > 1:
                raise UnsupportedError(f"takes a diagonal ('{letters}')", "multiply by an identity matrix")
            if size == 1:
                sizes.setdefault(letter, 1)
                continue
            if letter not in index:
                index[letter], sizes[letter] = value.modes[place], size
                continue
            try:
                pairs = build.axes.align(index[letter], value.modes[place])
            except AxisConflict:
                value = build.copy(tensors.reshaped(value))
                for earlier in range(place):
                    if letters[earlier] in index and build.axes.size(value.modes[earlier]) > 1:
                        names = build.axes.align(index[letters[earlier]], value.modes[earlier])
                        value = build.renamed(value, names)
                pairs = build.axes.align(index[letter], value.modes[place])
            value = build.renamed(value, pairs)
        values.append(value)
    values = [build.resolve(value) for value in values]
    exprs = [value.expr for value in values]
    index = {letter: build.axes.resolved(mode) for letter, mode in index.items()}
    product: Expr = exprs[0]
    for expr in exprs[1:]:
        product = product * expr
    free = free_indices(product)
    missing = [i for letter, mode in index.items() if letter not in output for i in mode if i not in free]
    if missing:
        # The sum of what is the same all along an index.
        product = product * Literal(float(build.axes.size(missing)))
    modes = tuple(index.get(letter, ()) for letter in output)
    lhs = [i for mode in modes for i in mode if i in free]
    if set(lhs) == set(free):
        return Value(modes, product)
    if not free:
        return Value(modes, product)
    mask = exprs[0] if by_first else None
    assert mask is None or isinstance(mask, Access)
    _hint_rows(build, inputs.split(","), values, output)
    return Value(modes, build.statement(lhs, product, reduction=reduction, mask=mask, kind=kind))


def _hint_rows(build: Build, inputs: list[str], values: list[Value], output: str) -> None:
    """Where the second operand's rows are summed or kept for each row of the first (keys and values), it is
    stored with what both have in common outermost, and then row by row."""
    if len(inputs) != 2:
        return
    shared = [letter for letter in inputs[1] if letter in inputs[0] and letter in output]
    if not shared:
        return
    second = build.resolve(values[1])
    if isinstance(second.expr, Access):
        common = [i for letter in shared for i in second.modes[inputs[1].index(letter)]]
        common = [i for i in common if i in second.expr.names]
        rest = [i for i in _order_as_computed(build, second.expr) if i not in common]
        build.hint_order(second.expr, [*common, *rest])


def _order_as_computed(build: Build, access: Access) -> tuple[str, ...]:
    """A tensor's indices in the order of what it is computed of: rows before features."""
    for made in build.statements:
        if made.lhs.tensor == access.tensor:
            names = dict(
                zip(
                    build.axes.resolved(made.lhs.names),
                    build.axes.resolved(access.names),
                    strict=True,
                )
            )
            first = next(accesses(build.resolve_expr(made.rhs)))
            rest = [index for index in names if index not in first.names]
            return tuple(names[index] for index in (*first.names, *rest) if index in names)
    return access.names


def letters(count: int, first: str = "a") -> str:
    """This many in a row, for an equation."""
    return "".join(chr(ord(first) + n) for n in range(count))
