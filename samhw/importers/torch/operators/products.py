"""Products that are summed."""

from typing import Any

from samhw.frontend.expr import Access, Expr, Literal, free_indices
from samhw.importers.core import AxisConflict, UnsupportedError, Value
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.registry import operator

__all__ = ["contracted"]


def contracted(importer: Importer, equation: str, *operands: Value) -> Value:
    """An einsum: `bik,bkj->bij`. A letter in several operands is one index; a mode of extent 1 goes with
    any."""
    inputs, _, output = equation.partition("->")
    build = importer.build
    held = importer.together([importer.factor(operand) for operand in operands])
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
                value = build.copy(build.reshaped(value))
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
    _wish_rows(importer, inputs.split(","), values, output)
    return Value(modes, build.statement(lhs, product))


def _wish_rows(importer: Importer, inputs: list[str], values: list[Value], output: str) -> None:
    """Where the second operand's rows are summed or kept for each row of the first (keys and values), it is
    stored with what both have in common outermost, and then row by row."""
    if len(inputs) != 2:
        return
    shared = [letter for letter in inputs[1] if letter in inputs[0] and letter in output]
    if not shared:
        return
    second = importer.build.resolve(values[1])
    if isinstance(second.expr, Access):
        common = [i for letter in shared for i in second.modes[inputs[1].index(letter)]]
        common = [i for i in common if i in second.expr.indices]
        importer.wish(
            second.expr, [*common, *(i for i in importer.as_computed(second.expr) if i not in common)]
        )


@operator("linear")
def import_linear(importer: Importer, x: Any, weight: Any, bias: Any = None) -> Value:
    x = importer.value(x)
    letters = "".join(chr(ord("A") + n) for n in range(len(x.modes) - 1))
    made = contracted(importer, f"{letters}i,oi->{letters}o", x, importer.value(weight))
    return made if bias is None else importer.with_term(made, bias)


@operator("matmul", "mm", "bmm", "_sparse_mm", "mv", "dot", "vdot", "inner_product")
def import_matmul(importer: Importer, a: Any, b: Any, *_: Any) -> Value:
    a, b = importer.value(a), importer.value(b)
    ranks = len(a.modes), len(b.modes)
    batch = "".join(chr(ord("A") + n) for n in range(max(0, max(ranks) - 2)))
    left = f"{batch[len(batch) - max(0, ranks[0] - 2) :]}{'i' if ranks[0] > 1 else ''}k"
    right = f"{batch[len(batch) - max(0, ranks[1] - 2) :]}k{'j' if ranks[1] > 1 else ''}"
    out = f"{batch}{'i' if ranks[0] > 1 else ''}{'j' if ranks[1] > 1 else ''}"
    return contracted(importer, f"{left},{right}->{out}", a, b)


@operator("addmm", "baddbmm", "addmv", "addbmm")
def import_addmm(importer: Importer, c: Any, a: Any, b: Any, *, beta: float = 1, alpha: float = 1) -> Value:
    made = import_matmul(importer, a, b)
    if alpha != 1:
        made = importer.elementwise(lambda x: x * alpha, made)
    return made if beta == 0 else importer.with_term(made, c, beta)


@operator("einsum")
def import_einsum(importer: Importer, equation: str, operands: Any, **_: Any) -> Value:
    equation = equation.replace(" ", "")
    values = [importer.value(operand) for operand in operands]
    return contracted(importer, _explicit(importer, equation, values), *values)


@operator("outer", "ger")
def import_outer(importer: Importer, a: Any, b: Any) -> Value:
    return contracted(importer, "i,j->ij", importer.value(a), importer.value(b))


@operator("bilinear")
def import_bilinear(importer: Importer, a: Any, b: Any, weight: Any, bias: Any = None) -> Value:
    a = importer.value(a)
    letters = "".join(chr(ord("A") + n) for n in range(len(a.modes) - 1))
    first = contracted(importer, f"{letters}i,oij->{letters}oj", a, importer.value(weight))
    made = contracted(importer, f"{letters}oj,{letters}j->{letters}o", first, importer.value(b))
    return made if bias is None else importer.with_term(made, bias)


def _explicit(importer: Importer, equation: str, values: list[Value]) -> str:
    """The equation with an output, and letters in the place of dots."""
    inputs, arrow, output = equation.partition("->")
    parts = inputs.split(",")
    free = [chr(ord("A") + n) for n in range(26) if chr(ord("A") + n) not in equation]
    most = max(
        (len(v.modes) - len(p) + 3 for v, p in zip(values, parts, strict=True) if "..." in p), default=0
    )
    dots = "".join(free[:most])
    for n, (part, value) in enumerate(zip(parts, values, strict=True)):
        if "..." in part:
            count = len(value.modes) - len(part) + 3
            parts[n] = part.replace("...", dots[most - count :])
    if arrow:
        output = output.replace("...", dots)
    else:
        letters = "".join(parts)
        output = dots + "".join(sorted(x for x in set(letters) if letters.count(x) == 1 and x not in dots))
    return f"{','.join(parts)}->{output}"
