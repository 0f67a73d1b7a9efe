"""Products that are summed."""

from collections.abc import Sequence

from samhw.importers.core import Value, contract
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.registry import operator

__all__ = ["import_matmul"]


@operator("linear")
def import_linear(importer: Importer, x: Operand, weight: Operand, bias: Operand | None = None) -> Value:
    x = importer.value(x)
    letters = "".join(chr(ord("A") + n) for n in range(len(x.modes) - 1))
    made = contract(importer.tensors, f"{letters}i,oi->{letters}o", x, importer.value(weight))
    return made if bias is None else importer.add_to_sum(made, bias)


@operator("matmul", "mm", "bmm", "_sparse_mm", "mv")
def import_matmul(importer: Importer, a: Operand, b: Operand, *_: object) -> Value:
    a, b = importer.value(a), importer.value(b)
    ranks = len(a.modes), len(b.modes)
    batch = "".join(chr(ord("A") + n) for n in range(max(0, max(ranks) - 2)))
    left = f"{batch[len(batch) - max(0, ranks[0] - 2) :]}{'i' if ranks[0] > 1 else ''}k"
    right = f"{batch[len(batch) - max(0, ranks[1] - 2) :]}k{'j' if ranks[1] > 1 else ''}"
    out = f"{batch}{'i' if ranks[0] > 1 else ''}{'j' if ranks[1] > 1 else ''}"
    return contract(importer.tensors, f"{left},{right}->{out}", a, b)


@operator("addmm", "_sparse_addmm", "baddbmm", "addmv")
def import_addmm(
    importer: Importer, c: Operand, a: Operand, b: Operand, *, beta: float = 1, alpha: float = 1
) -> Value:
    made = import_matmul(importer, a, b)
    if alpha != 1:
        made = importer.elementwise(lambda x: x * alpha, made)
    return made if beta == 0 else importer.add_to_sum(made, c, beta)


@operator("einsum")
def import_einsum(importer: Importer, equation: str, operands: Sequence[Operand], **_: object) -> Value:
    equation = equation.replace(" ", "")
    values = [importer.value(operand) for operand in operands]
    inputs, output = _explicit(importer, equation, values).split("->")
    single = [
        _without_diagonals(importer, part, value)
        for part, value in zip(inputs.split(","), values, strict=True)
    ]
    parts = ",".join(part for part, _ in single)
    return contract(importer.tensors, f"{parts}->{output}", *(value for _, value in single))


def _without_diagonals(importer: Importer, part: str, value: Value) -> tuple[str, Value]:
    """An operand in which no letter stands twice: its diagonals are dimensions of their own."""
    while len(set(part)) < len(part):
        letter = max(part, key=part.count)
        one = part.index(letter)
        other = part.index(letter, one + 1)
        diagonal = importer.call("diagonal", value, 0, one, other)
        part, value = f"{part[:one]}{part[one + 1 : other]}{part[other + 1 :]}{letter}", diagonal
    return part, value


@operator("bilinear")
def import_bilinear(
    importer: Importer, a: Operand, b: Operand, weight: Operand, bias: Operand | None = None
) -> Value:
    a = importer.value(a)
    letters = "".join(chr(ord("A") + n) for n in range(len(a.modes) - 1))
    first = contract(importer.tensors, f"{letters}i,oij->{letters}oj", a, importer.value(weight))
    made = contract(importer.tensors, f"{letters}oj,{letters}j->{letters}o", first, importer.value(b))
    return made if bias is None else importer.add_to_sum(made, bias)


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
