"""Mutants: a component, or a class of samhw.rtl, with one expression changed, which a property notices."""

import importlib
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType, ModuleType
from unittest.mock import patch

from samhw.primitives import folders

__all__ = ["Mutant", "home"]


def home(name: str) -> str:
    """The module of a component by its folder in samhw.primitives, or of samhw.rtl by its name there."""
    return f"samhw.primitives.{name}.component" if name in folders() else f"samhw.rtl.{name}"


@dataclass(frozen=True)
class Mutant:
    """A change of a module's text.

    Attributes:
        name: what is wrong.
        module: see `home`.
        old: stands once in the text of the module.
        new: takes its place.
    """

    name: str
    module: str
    old: str
    new: str

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The module's functions, and the methods of its classes, are the changed ones; methods that call
        `super()` keep their own."""
        module = importlib.import_module(home(self.module))
        text = inspect.getsource(module)
        if text.count(self.old) != 1:
            raise ValueError(f"{self.old!r} stands {text.count(self.old)} times in {module.__name__}")
        changed = ModuleType(module.__name__)
        changed.__dict__["__file__"] = module.__file__
        with patch.dict("sys.modules", {module.__name__: changed}):
            exec(compile(text.replace(self.old, self.new), str(module.__file__), "exec"), changed.__dict__)
        undo = []
        codes = []
        for name, kind in list(vars(changed).items()):
            if getattr(kind, "__module__", None) != module.__name__:
                continue
            original = getattr(module, name)
            if isinstance(kind, FunctionType):
                # Others have imported the function itself.
                codes.append((original, original.__code__))
                original.__code__ = kind.__code__
            if not isinstance(kind, type):
                continue
            for method, function in list(vars(kind).items()):
                if isinstance(function, FunctionType) and "__class__" not in function.__code__.co_freevars:
                    undo.append((original, method, vars(original)[method]))
                    setattr(original, method, function)
        try:
            yield
        finally:
            for original, code in codes:
                original.__code__ = code
            for original, method, function in undo:
                setattr(original, method, function)
