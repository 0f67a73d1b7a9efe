"""Tables and lists of edges: an index tensor is stored as a matrix with a one in each row."""

from collections.abc import Sequence
from typing import Any

from samhw.importers.core import UnsupportedError, Value, contract
from samhw.importers.torch import host
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.registry import Result, Results, operator
from samhw.importers.torch.value import Host, Known

__all__: list[str] = []


def letters(count: int, first: str) -> str:
    return "".join(chr(ord(first) + n) for n in range(count))


@operator("embedding")
def import_embedding(importer: Importer, weight: Operand, ids: Operand, *_: object) -> Value:
    weight = importer.value(weight)
    hot = importer.indices.one_hot(ids, importer.build.shape(weight)[0])
    places = letters(len(hot.modes) - 1, "A")
    computed = isinstance(ids, Value)
    return contract(importer.tensors, f"{places}v,vd->{places}d", hot, weight, by_first=computed)


@operator("_embedding_bag", "_embedding_bag_forward_only", "embedding_bag")
def import_embedding_bag(
    importer: Importer, weight: Operand, ids: Operand, offsets: Operand, *rest: Any
) -> Sequence[Result]:
    """`rest`: whether gradients are scaled; the mode, 0 for a sum and 1 for a mean; whether they are sparse;
    and the weights of a sum."""
    mode = rest[1] if len(rest) > 1 else 0
    weights = rest[3] if len(rest) > 3 else None
    if mode not in (0, 1):
        raise UnsupportedError("takes the greatest of a bag", "use the modes 'sum' and 'mean'")
    table = importer.value(weight)
    if weights is None and not isinstance(ids, Value):
        bags = importer.indices.bags(ids, offsets, importer.build.shape(table)[0], mean=mode == 1)
        made = contract(importer.tensors, "Av,vd->Ad", bags, table)
    else:
        rows = import_embedding(importer, table, ids)
        if weights is not None:
            rows = contract(importer.tensors, "nd,n->nd", rows, importer.value(weights))
        bags = importer.indices.bagging(offsets, importer.build.shape(rows)[0], mean=mode == 1)
        made = contract(importer.tensors, "An,nd->Ad", bags, rows)
    statistics = importer.missing("the statistics of training", "use the normalised tensor")
    return made, statistics, statistics, statistics


@operator("index_select")
def import_index_select(importer: Importer, x: Operand, dim: int, ids: Operand) -> Value:
    x = importer.value(x)
    return _gathered(importer, x, dim, ids)


def _gathered(importer: Importer, x: Value, dim: int, ids: Operand) -> Value:
    """The elements of a mode that an index tensor names."""
    hot = importer.indices.one_hot(ids, importer.build.shape(x)[dim])
    return importer.views.product_along(x, dim, hot, by_matrix=isinstance(ids, Value))


@operator("index", "_unsafe_index")
def import_index(importer: Importer, x: Operand, indices: Sequence[Operand | None]) -> Value:
    x = importer.value(x)
    given = [dim for dim, index in enumerate(indices) if index is not None]
    tensors = [index for index in indices if index is not None]
    if len(given) == 1:
        dim = given[0]
        (ids,) = tensors
        if importer.masks.is_condition(ids):
            raise UnsupportedError("picks elements by a condition", "multiply by the condition")
        return _gathered(importer, x, dim, ids)
    shape = importer.build.shape(x)
    hot = importer.indices.one_hot_of(tensors, [shape[dim] for dim in given])
    rank = len(shape)
    own, places = letters(rank, "a"), letters(len(hot.modes) - len(given), "A")
    picked = "".join(own[dim] for dim in given)
    out = own[: given[0]] + places + own[given[-1] + 1 :]
    if given != list(range(given[0], given[-1] + 1)):
        # The places of dimensions that are apart stand in front.
        out = places + "".join(letter for letter in own if letter not in picked)
    if any(isinstance(index, Value) for index in tensors):
        # Of a matrix of comparisons, which the program itself computes, the ones alone are gone through.
        return contract(importer.tensors, f"{places}{picked},{own}->{out}", hot, x, by_first=True)
    return contract(importer.tensors, f"{own},{places}{picked}->{out}", x, hot)


@operator("gather")
def import_gather(importer: Importer, x: Operand, dim: int, ids: Operand, **_: object) -> Value:
    x = importer.value(x)
    rank = len(x.modes)
    dim %= rank
    for other, size in enumerate(importer.shape(ids)):
        if other != dim:
            x = importer.views.slice(x, other, 0, size)
    hot = importer.indices.one_hot(ids, importer.build.shape(x)[dim])
    own = letters(rank, "a")
    out = own[:dim] + "Z" + own[dim + 1 :]
    return contract(importer.tensors, f"{own},{out}{own[dim]}->{out}", x, hot)


# Losses: products with the classes that index tensors name

_NONE, _MEAN = 0, 1
"""The reductions by their numbers; 2 is the sum."""


@operator("nll_loss_forward", "nll_loss2d_forward")
def import_nll_loss(
    importer: Importer, x: Operand, classes: Operand, weight: Operand | None, reduction: int, ignored: int
) -> Results:
    """Less the logarithms at the classes that indices name, each with the weight of its class; the mean is by
    the sum of these weights."""
    logs = importer.value(x)
    shape = importer.shape(logs)
    own = letters(len(shape), "a")
    kind = own[min(1, len(shape) - 1)]
    rows = own.replace(kind, "")
    out = rows if reduction == _NONE else ""
    hot = importer.indices.one_hot(classes, shape[own.index(kind)], ignored=ignored)
    weights = [] if weight is None else [importer.value(weight)]
    letter = "" if weight is None else f",{kind}"
    made = contract(importer.tensors, f"{rows}{kind},{own}{letter}->{out}", hot, logs, *weights)
    total: Operand
    if reduction == _MEAN and weight is None:
        assert isinstance(classes, Known | Host)
        total = host.mapped(classes, lambda ids: (ids != ignored).float().sum())
    elif reduction == _MEAN:
        total = contract(importer.tensors, f"{rows}{kind}{letter}->", hot, *weights)
    loss = importer.elementwise(
        lambda e, *n: -e / n[0] if n else -e, made, *([total] if reduction == _MEAN else [])
    )
    return loss, importer.missing("the weight of all classes", "use the loss")
