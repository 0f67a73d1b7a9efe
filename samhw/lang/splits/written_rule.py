"""A rule that a user has written, as a function in a Python file.

A rule that a user has written: a function in a Python file.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from samhw.errors import InputError, shown
from samhw.lang.splits.partition import Coordinates, Places, SplitRule, TensorPart
from samhw.script import Script
from samhw.tensors import Format
from samhw.words import did_you_mean

__all__ = ["RuleFunction", "WrittenRule", "rule_file"]


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


@dataclass(frozen=True, eq=False)  # Another reading of the file may be another rule.
class WrittenRule(SplitRule):
    """A function of the coordinates, of shape (rank, entries), and the shape of a tensor. It gives, by the
    name of each part, which entries it has: an array of booleans of shape (entries,).

    Its parts are those that it gives for a tensor without entries, and have to be the same for every other
    one. They are stored in compressed levels.
    """

    function: RuleFunction

    def parts(self, fmt: Format) -> tuple[TensorPart, ...]:
        self.need_rank(fmt, 1)
        stored = Format.compressed(fmt.rank, fmt.mode_order)
        given = self._given(np.zeros((fmt.rank, 0), np.int64), (1,) * fmt.rank)
        return tuple(TensorPart(name, stored, f"{name}, by {self.text}") for name in given)

    def places(self, coords: Coordinates, shape: tuple[int, ...]) -> Places:
        given = self._given(coords, shape)
        count = coords.shape[1]
        names = list(self._given(coords[:, :0], shape))
        if list(given) != names:
            raise InputError(
                f"the rule '{self.text}' gives the parts {', '.join(given)} here, and {', '.join(names)} for "
                "a tensor without entries; let it give the same parts for all data"
            )
        place, times = np.zeros(count, np.int64), np.zeros(count, np.int64)
        for number, kept in enumerate(given.values()):
            place[kept] = number
            times += kept
        if not (times == 1).all():
            at = int(np.flatnonzero(times != 1)[0])
            where = ", ".join(map(str, coords[:, at]))
            said = "no part" if times[at] == 0 else f"{times[at]} parts"
            raise InputError(
                f"the rule '{self.text}' puts the entry at ({where}) into {said}; put every entry into one"
            )
        return place

    def _given(self, coords: Coordinates, shape: tuple[int, ...]) -> dict[str, NDArray[np.bool_]]:
        """What the function gives, checked."""
        given = self.function(coords, shape)
        if not isinstance(given, Mapping) or not given:
            raise InputError(
                f"the rule '{self.text}' gives {shown(given)}; let it give a dictionary, by the name of each "
                "part an array of booleans"
            )
        return {self._name(name): self._mask(name, kept, coords.shape[1]) for name, kept in given.items()}

    def _name(self, name: object) -> str:
        if not isinstance(name, str) or not f"_{name}".isidentifier():
            raise InputError(
                f"the rule '{self.text}' calls a part {shown(name)}; use letters, digits and '_'"
            )
        return name

    def _mask(self, name: str, kept: object, count: int) -> NDArray[np.bool_]:
        mask = np.asarray(kept)
        if mask.dtype != np.bool_ or mask.shape != (count,):
            raise InputError(
                f"the rule '{self.text}' gives an array of {mask.dtype} and shape {mask.shape} for the part "
                f"'{name}'; give booleans of shape ({count},), one for each entry"
            )
        return mask
