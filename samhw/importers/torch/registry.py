"""Which function imports which operator of PyTorch."""

from collections.abc import Callable
from typing import Any

__all__ = ["OPERATORS", "VIEWS", "Handler", "handler_of", "mapping", "operator"]

Handler = Callable[..., Any]
"""Takes the importer and the operator's arguments; gives a `Value`, or several."""

OPERATORS: dict[str, Handler] = {}
"""By the operator's name, without its overload: `aten.linear`."""

MASKED: set[str] = set()
"""Operators that know what to do with values that count as -inf."""

VIEWS: set[str] = set()
"""Operators that give the elements that they are given, and no others."""


def operator(*names: str, masked: bool = False, view: bool = False) -> Callable[[Handler], Handler]:
    """Registers an importer of PyTorch's own operators, by their names in `torch.ops.aten`."""

    def register(handler: Handler) -> Handler:
        for name in names:
            OPERATORS[f"aten.{name}"] = handler
            if masked or view:
                MASKED.add(f"aten.{name}")
            if view:
                VIEWS.add(f"aten.{name}")
        return handler

    return register


def mapping(target: Any) -> Callable[[Handler], Handler]:
    """Registers an importer of an operator, such as `torch.ops.mine.scaled.default`; see docs/pytorch.md."""

    def register(handler: Handler) -> Handler:
        OPERATORS[operator_name(target)] = handler
        return handler

    return register


def operator_name(target: Any) -> str:
    """`aten.linear` for `torch.ops.aten.linear.default`; a Python function has its own name."""
    packet = getattr(target, "overloadpacket", target)
    is_packet = packet is not target or hasattr(target, "overloads")
    return str(packet) if is_packet else str(target.__name__)


def handler_of(target: Any) -> Handler | None:
    """What imports an operator, if anything does."""
    return OPERATORS.get(operator_name(target))
