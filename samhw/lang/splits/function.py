"""A rule that a user has written: a function in a Python file."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from samhw.errors import InputError
from samhw.script import Script
from samhw.suggestion import did_you_mean

__all__ = ["RuleFunction", "rule_file"]


def rule_file(text: str) -> str | None:
    """The Python file that a rule is in; None for a built-in rule."""
    path, _, name = text.strip().rpartition(":")
    return path if path.endswith(".py") and name else None


@dataclass(frozen=True, eq=False)  # Another reading of the file may be another function.
class RuleFunction:
    """A function of that name in a file, which is not read before the function is called.

    Raises, when it is called:
        InputError: for a file or a function that is not there, and for what fails inside of it.
    """

    path: str
    name: str

    @classmethod
    def of(cls, text: str) -> "RuleFunction | None":
        """That of a rule in words, `file.py:function`; None for another rule."""
        path = rule_file(text)
        return None if path is None else cls(path, text.strip().rpartition(":")[2])

    def __call__(self, *arguments: object) -> object:
        called = self._called
        with self._script.failing(), self._script.around():
            return called(*arguments)

    @cached_property
    def _script(self) -> Script:
        return Script(self.path)

    @cached_property
    def _called(self) -> Callable[..., object]:
        objects = self._script.objects()
        found: Callable[..., object] | None = objects.get(self.name)
        if not callable(found):
            meant = did_you_mean(self.name, [name for name, held in objects.items() if callable(held)])
            raise InputError(
                f"'{self.path}' has no function '{self.name}'{meant}; name one that takes coordinates and a "
                "shape"
            )
        return found
