"""Which function imports which operator of ONNX."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from samhw.importers.core import UnsupportedError
from samhw.importers.onnx.values import Held, Operand

__all__ = ["HOSTED", "OPERATORS", "Handler", "Results", "hosted", "operator"]

Results = Operand | UnsupportedError | Sequence[Operand | UnsupportedError | None]
"""Of a node: a tensor, or one for each output; an error for one that is not there, but may be asked for."""

Handler = Callable[..., Results]
"""Takes the importer, the `NodeCall`, and the operands, None for one that is left out."""

H = TypeVar("H", bound=Callable[..., Any])

OPERATORS: dict[str, Handler] = {}
"""By the operator's name."""

HOSTED: set[str] = set()
"""Operators that move integers and conditions, which the host then does: they stay places and sizes."""


def operator(*names: str, hosted: bool = False) -> Callable[[H], H]:
    """Registers an importer of operators of ONNX's own domain.

    Args:
        hosted: the host moves integers and conditions itself.
    """

    def register(handler: H) -> H:
        for name in names:
            OPERATORS[name] = handler
            if hosted:
                HOSTED.add(name)
        return handler

    return register


def hosted(x: object) -> bool:
    """Whether the host holds it."""
    return isinstance(x, Held)
