"""What a node of an exported graph says of itself: its place, its name, and the kind of what it gives."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.fx import Node

from samhw.errors import InputError
from samhw.importers.core import UnsupportedError
from samhw.importers.torch.export import in_users_file, own_name
from samhw.importers.torch.registry import OPERATORS, operator_name

__all__ = [
    "MADE_OF_SHAPES",
    "PRODUCTS",
    "depends_on_data",
    "draws",
    "empty_of",
    "feeds_products",
    "is_complex",
    "keeps_integers",
    "located",
    "makes_conditions",
    "makes_fractions",
    "name_of",
    "of_shape",
    "place_of",
    "scope_of",
    "written_as",
]


MADE_OF_SHAPES = frozenset(
    f"aten.{name}"
    for name in (
        "zeros_like",
        "ones_like",
        "full_like",
        "empty_like",
        "new_zeros",
        "new_ones",
        "new_full",
        "new_empty",
    )
)
"""Operators that look at the shapes of tensors alone."""


PRODUCTS = frozenset(
    f"aten.{name}"
    for name in (
        "_int_mm",
        "mm",
        "matmul",
        "bmm",
        "mv",
        "linear",
        "conv1d",
        "conv2d",
        "conv3d",
        "convolution",
    )
)
"""What hardware computes of integers too, where a run gives some of them."""


def scope_of(node: Node) -> str:
    """The path of the module that an operator stands in."""
    stack = list(node.meta.get("nn_module_stack", {}).values())
    return own_name(f"{stack[-1][0]}.".replace("L['self'].", "")).removesuffix(".") if stack else ""


def name_of(scope: str, operator: str) -> str:
    """A name for what an operator gives, by where it stands."""
    short = operator.rpartition(".")[2].strip("_")
    path = scope.replace(".", "_")
    if short in ("linear", path.rpartition("_")[2]):
        return path or short
    return f"{path}_{short}" if path else short


def place_of(node: Node) -> tuple[str, str]:
    """Where an operator stands, as `file:line`, and the text of that line. Where PyTorch knows no line of the
    user's, the submodule, and no text."""
    found = in_users_file(node.meta.get("stack_trace") or "")
    if found is not None:
        return found
    scope = scope_of(node)
    return (f"in '{scope}'" if scope else ""), ""


def located(node: Node, name: str, error: InputError) -> InputError:
    """A refusal with the operator's name and the user's line."""
    where, line = place_of(node)
    written = written_as(node) or name
    by = "" if written in (name, *OPERATORS) else f" (by '{name}')"
    said = f"'{written}'{by}{'' if isinstance(error, UnsupportedError) else ':'} {error}"
    return InputError(
        f"{where}{': ' if where else ''}{said.rstrip('.')}.{f'{chr(10)}  {line}' if line else ''}"
    )


def written_as(node: Node) -> str | None:
    """The operator that a node is a part of, as in the module, before any decomposition."""
    name = None
    sources = node.meta.get("from_node") or []
    while sources:
        name = str(sources[0].target).rpartition(".")[0]
        sources = sources[0].from_node
    return name or None


def of_shape(node: Node, name: str, arguments: Sequence[object]) -> Tensor:
    """A tensor that depends on another one's shape only."""
    meta = node.meta["val"]
    number: object = 0.0
    if "ones" in name:
        number = 1.0
    elif "full" in name:
        number = arguments[-1]
    assert isinstance(number, int | float)
    return torch.full(tuple(meta.shape), number, dtype=meta.dtype)


def empty_of(node: Node) -> Tensor | None:
    """What an operator gives if that is a tensor without elements, which nobody has to compute.

    Raises:
        UnsupportedError: for a shape that depends on data.
    """
    meta = node.meta.get("val")
    parts = meta if isinstance(meta, list | tuple) else [meta]
    if any(depends_on_data(size) for part in parts if isinstance(part, Tensor) for size in part.shape):
        raise UnsupportedError(
            "gives as many elements as the data say, and hardware has one shape for all data",
            "keep all elements, and mask or weight those that do not count",
        )
    if not isinstance(meta, Tensor) or meta.numel():
        return None
    return torch.empty(tuple(meta.shape), dtype=meta.dtype)


def depends_on_data(size: object) -> bool:
    """Whether an extent is known only as the module runs."""
    return isinstance(size, torch.SymInt) and size.node.maybe_as_int() is None


def keeps_integers(node: Node) -> bool:
    """Whether it gives whole numbers of whole numbers."""
    metas = [item.meta.get("val") for item in (node, *node.all_input_nodes[:1])]
    kinds = [meta.dtype for meta in metas if isinstance(meta, Tensor)]
    plain = [k for k in kinds if not (k == torch.bool or k.is_floating_point or k.is_complex)]
    return len(plain) == 2


def is_complex(node: Node) -> bool:
    """Whether it gives complex numbers."""
    meta = node.meta.get("val")
    return isinstance(meta, Tensor) and meta.is_complex()


def makes_conditions(node: Node) -> bool:
    """Whether it gives a tensor of conditions."""
    meta = node.meta.get("val")
    return isinstance(meta, Tensor) and meta.dtype == torch.bool


def makes_fractions(node: Node) -> bool:
    """Whether it gives a tensor of floating point."""
    meta = node.meta.get("val")
    return isinstance(meta, Tensor) and meta.is_floating_point()


def draws(node: Node) -> bool:
    """Whether an operator gives other numbers each time."""
    return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())


def feeds_products(node: Node) -> bool:
    """Whether nothing but products take it, be it times something or less something, or a view of it."""
    between = ("mul", "sub", "t", "transpose", "permute", "view")
    names = [(operator_name(user.target), user) for user in node.users]
    return bool(names) and all(
        name in PRODUCTS or (name.removeprefix("aten.") in between and feeds_products(user))
        for name, user in names
    )
