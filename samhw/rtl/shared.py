# amaranth: UnusedElaboratable=no
"""Components of which generated Verilog has one module for all that are made alike."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Self, TypeAlias

from amaranth.hdl import Elaboratable, ResetInserter, Value
from amaranth.lib import wiring

__all__ = ["Elaborate", "Make", "Shared", "SharedPart", "plainly"]

Elaborate: TypeAlias = Callable[["Shared", object], Elaboratable]
"""The method of a component, for a platform."""


@dataclass(frozen=True)
class Make:
    """What a component is made of and with; equal for those that are made alike.

    `text` is of the arguments, since equal numbers may be written in two ways: 0.0 and -0.0 are two words.
    """

    kind: "type[Shared]"
    args: tuple[object, ...]
    kwargs: dict[str, object]
    text: str

    def __hash__(self) -> int:
        return hash((self.kind, self.text))

    def component(self) -> "Shared":
        """A component of this make."""
        return self.kind(*self.args, **self.kwargs)


class Shared(wiring.Component):
    """A component whose hardware follows from its class and from the arguments that it is made with.

    On a platform with `get_shared`, such as `VerilogPlatform`, those that are made alike become instances of
    one module; on any other one each is a submodule of its own, as every component in Amaranth.

    Attributes:
        make: equal for those that are made alike.
        clear: resets it as well as the reset of its clock domain, if it is not None.
    """

    make: Make
    clear: Value | None = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        self: Self = super().__new__(cls)
        self.make = Make(cls, args, kwargs, repr((args, kwargs)))
        return self

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "elaborate" in vars(cls):
            cls.elaborate = _shared(vars(cls)["elaborate"])


class SharedPart(wiring.Component):
    """A component that a shared one makes along with itself. It stays unused where the module of another one
    serves, and Amaranth's warning of that is off for what this file makes."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        made: Self = super().__new__(cls)
        return made


def plainly(component: Shared, platform: object) -> Elaboratable:
    """The hardware of a component by itself, whether or not the platform has a module for its make."""
    elaborate: Elaborate = type(component).elaborate.__wrapped__
    return elaborate(component, platform)


def _shared(elaborate: Elaborate) -> Elaborate:
    @wraps(elaborate)
    def wrapper(self: Shared, platform: object) -> Elaboratable:
        if hasattr(platform, "get_shared"):
            found: Elaboratable = platform.get_shared(self, elaborate)
            return found
        made = elaborate(self, platform)
        return made if self.clear is None else ResetInserter(self.clear)(made)

    return wrapper
