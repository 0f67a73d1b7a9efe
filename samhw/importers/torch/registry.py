"""Which function imports which operator of PyTorch."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from samhw.importers.core import UnsupportedError, Value
from samhw.importers.torch.value import Known

__all__ = [
    "COMPLEX",
    "COMPLEX_DECOMPOSED",
    "DECOMPOSED",
    "OPERATORS",
    "VIEWS",
    "Handler",
    "Result",
    "Results",
    "decomposition",
    "handler_of",
    "is_known",
    "mapping",
    "operator",
]

Result = Value | Known | UnsupportedError
"""Of an operator: a tensor, or an error for one that is not there, but may be asked for."""

Results = Result | Sequence[Result]

Handler = Callable[..., Results]
"""Takes the importer and the operator's arguments; gives what the operator does."""

H = TypeVar("H", bound=Callable[..., Any])

OPERATORS: dict[str, Handler] = {}
"""By the operator's name, without its overload: `aten.linear`."""

COMPLEX: dict[str, Callable[..., Any]] = {}
"""By the operator's name: what it does to complex tensors, or makes complex ones of real ones."""

DECOMPOSED: dict[str, Callable[..., Any]] = {}
"""By the operator's name: a function of tensors of PyTorch that is what the operator is. It gives None for a
result that hardware has nothing for."""

COMPLEX_DECOMPOSED: dict[str, Callable[..., Any]] = {}
"""The same where arguments or results are complex."""

MASKED: set[str] = set()
"""Operators that know what to do with values that count as -inf."""

MOVES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("aten.cat", "aten.flip", "aten.roll", "aten.diagonal"), (0,)),
    **dict.fromkeys(("aten.index", "aten.index_select", "aten.gather"), (0,)),
    **dict.fromkeys(("aten.slice_scatter", "aten.select_scatter", "aten.copy"), (0, 1)),
}
"""Operators that move elements, and are views of them but for that: the places of the arguments that have
these."""

VIEWS: set[str] = set()
"""Operators that give the elements that they are given, and no others."""


OWN = (
    *("samhw.", "quantized_decomposed.", "torchao."),
    *("aten.fake_quantize", "aten._fake_quantize", "aten._fused_moving_avg_obs"),
)
"""How operators begin which say themselves what becomes of constants, and of what the host works out: those
of this package, and of quantised tensors."""

UNDONE = frozenset(f"aten.{name}" for name in ("unbind", "split", "split_with_sizes", "chunk"))
"""Operators that the normal form of a graph does without."""


def operator(
    *names: str,
    masked: bool = False,
    view: bool = False,
    library: str = "aten",
) -> Callable[[H], H]:
    """Registers an importer of PyTorch's own operators, by their names in `torch.ops.aten`, or of another
    library's."""

    def register(handler: H) -> H:
        for name in (f"{library}.{name}" for name in names):
            OPERATORS[name] = handler
            if masked or view:
                MASKED.add(name)
            if view:
                VIEWS.add(name)
        return handler

    return register


def decomposition(*names: str, of_complex: bool | None = None, library: str = "aten") -> Callable[[H], H]:
    """Registers how operators of `torch.ops.aten` or of another library are written with others: by default
    of whatever tensors, else of complex ones alone, or of real ones."""
    tables = [
        table
        for table, kind in ((DECOMPOSED, False), (COMPLEX_DECOMPOSED, True))
        if of_complex in (None, kind)
    ]

    def register(function: H) -> H:
        for table in tables:
            table.update({f"{library}.{name}": function for name in names})
        return function

    return register


def mapping(target: object) -> Callable[[H], H]:
    """Registers an importer of an operator, such as `torch.ops.mine.scaled.default`; see docs/pytorch.md."""

    def register(handler: H) -> H:
        OPERATORS[operator_name(target)] = handler
        return handler

    return register


def operator_name(target: object) -> str:
    """`aten.linear` for `torch.ops.aten.linear.default`; a Python function has its own name."""
    packet = getattr(target, "overloadpacket", target)
    is_packet = packet is not target or hasattr(target, "overloads")
    return str(packet) if is_packet else str(getattr(target, "__name__", target))


def handler_of(target: object) -> Handler | None:
    """What imports an operator, if anything does."""
    return OPERATORS.get(operator_name(target))


def is_known(target: object) -> bool:
    """Whether an operator of real tensors, or of complex ones, stays whole."""
    name = operator_name(target)
    return any(name in table for table in (OPERATORS, DECOMPOSED, COMPLEX_DECOMPOSED, UNDONE))
