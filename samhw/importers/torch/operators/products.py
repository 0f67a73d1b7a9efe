"""Products that are summed."""

from collections.abc import Sequence

from samhw.importers.core import Value, contract, letters
from samhw.importers.core.operators import einsum, matmul
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.registry import operator

__all__ = ["import_matmul"]


@operator("linear")
def import_linear(importer: Importer, x: Operand, weight: Operand, bias: Operand | None = None) -> Value:
    x = importer.value(x)
    places = letters(len(x.modes) - 1, "A")
    made = contract(importer.tensors, f"{places}i,oi->{places}o", x, importer.value(weight))
    return made if bias is None else importer.add_to_sum(made, bias)


@operator("matmul", "mm", "bmm", "_sparse_mm", "mv")
def import_matmul(importer: Importer, a: Operand, b: Operand, *_: object) -> Value:
    return matmul(importer.tensors, importer.value(a), importer.value(b))


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
    def diagonal(x: Value, one: int, other: int) -> Value:
        found: Value = importer.call("diagonal", x, 0, one, other)
        return found

    return einsum(importer.tensors, equation, list(map(importer.value, operands)), diagonal)


@operator("bilinear")
def import_bilinear(
    importer: Importer, a: Operand, b: Operand, weight: Operand, bias: Operand | None = None
) -> Value:
    a = importer.value(a)
    places = letters(len(a.modes) - 1, "A")
    first = contract(importer.tensors, f"{places}i,oij->{places}oj", a, importer.value(weight))
    made = contract(importer.tensors, f"{places}oj,{places}j->{places}o", first, importer.value(b))
    return made if bias is None else importer.add_to_sum(made, bias)
