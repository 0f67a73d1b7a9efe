"""Losses of classes: products with the classes that index tensors name, or with their probabilities."""

from samhw.importers.core import Value, contract
from samhw.importers.torch import host
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.operators.gather import letters
from samhw.importers.torch.registry import Results, operator
from samhw.importers.torch.value import Host, Known

__all__: list[str] = []

_NONE, _MEAN = 0, 1
"""The reductions by their numbers; 2 is the sum."""

_IGNORED = -100
"""The class that PyTorch leaves out unless it is given another one."""


@operator("nll_loss_nd", "nll_loss", "nll_loss2d")
def import_nll_loss(
    importer: Importer,
    x: Operand,
    classes: Operand,
    weight: Operand | None = None,
    reduction: int = _MEAN,
    ignored: int = _IGNORED,
) -> Value:
    return _of_classes(importer, importer.value(x), classes, weight, reduction, ignored, 0.0)


@operator("nll_loss_forward", "nll_loss2d_forward")
def import_nll_loss_forward(importer: Importer, x: Operand, classes: Operand, *rest: object) -> Results:
    loss = importer.call("nll_loss", x, classes, *rest)
    assert isinstance(loss, Value)
    return loss, importer.missing("the weight of all classes", "use the loss")


@operator("cross_entropy_loss")
def import_cross_entropy(
    importer: Importer,
    x: Operand,
    classes: Operand,
    weight: Operand | None = None,
    reduction: int = _MEAN,
    ignored: int = _IGNORED,
    smoothing: float = 0.0,
) -> Value:
    """Of classes as indices, or as probabilities in the shape of the scores."""
    shape = importer.shape(x)
    logs = importer.call("log_softmax", x, min(1, len(shape) - 1))
    assert isinstance(logs, Value)
    logs = importer.materialized(logs)
    if importer.shape(classes) != shape:
        return _of_classes(importer, logs, classes, weight, reduction, ignored, smoothing)
    own, out, kind = _letters(len(shape), reduction)
    wanted = importer.value(classes)
    if smoothing:
        even = smoothing / shape[min(1, len(shape) - 1)]
        wanted = importer.materialized(importer.elementwise(lambda p: p * (1 - smoothing) + even, wanted))
    made = _product(importer, f"{own},{own}", f"{kind}->{out}", wanted, logs, weight)
    rows = importer.build.axes.size(
        i for n, mode in enumerate(logs.modes) if n != min(1, len(shape) - 1) for i in mode
    )
    return importer.elementwise(lambda e: e * (-1 / rows if reduction == _MEAN else -1.0), made)


def _of_classes(
    importer: Importer,
    logs: Value,
    classes: Operand,
    weight: Operand | None,
    reduction: int,
    ignored: int,
    smoothing: float,
) -> Value:
    """Less the logarithms at the classes that indices name, each with the weight of its class; the mean is by
    the sum of these weights."""
    shape = importer.shape(logs)
    own, out, kind = _letters(len(shape), reduction)
    rows, count = own.replace(kind, ""), shape[own.index(kind)]
    hot = importer.indices.one_hot(classes, count, ignored=ignored)
    made = _product(importer, f"{rows}{kind},{own}", f"{kind}->{out}", hot, logs, weight)
    assert isinstance(classes, Known | Host)
    taken = host.mapped(classes, lambda ids: (ids != ignored).float())
    if smoothing:
        even = _product(importer, f"{rows},{own}", f"{kind}->{out}", importer.value(taken), logs, weight)
        made = importer.elementwise(lambda m, e: m * (1 - smoothing) + e * (smoothing / count), made, even)
    if reduction != _MEAN:
        return importer.elementwise(lambda e: -e, made)
    if weight is None:
        total: Operand = host.mapped(taken, lambda ones: ones.sum())
    else:
        total = contract(importer.tensors, f"{rows}{kind},{kind}->", hot, importer.value(weight))
    return importer.elementwise(lambda e, n: -e / n, made, total)


def _letters(rank: int, reduction: int) -> tuple[str, str, str]:
    """Those of the scores, of the loss, and of the classes."""
    own = letters(rank, "a")
    kind = own[min(1, rank - 1)]
    return own, own.replace(kind, "") if reduction == _NONE else "", kind


def _product(
    importer: Importer, both: str, behind: str, first: Value, second: Value, weight: Operand | None
) -> Value:
    """The product of two, and of the weights of the classes where there are some."""
    if weight is None:
        return contract(importer.tensors, f"{both}->{behind.partition('->')[2]}", first, second)
    return contract(importer.tensors, f"{both},{behind}", first, second, importer.value(weight))
