"""Names that samhw makes beside those that a user has chosen: columns, rows, nodes, copies, identifiers.

One rule holds wherever a name is made: the scope is told the user's names first, and hands out none of them.
"""

import re
from collections.abc import Iterable

__all__ = ["Names", "comment_text", "identifiers", "plain"]


class Names:
    """The names of one scope, no two alike.

    Args:
        given: the names that a user has chosen. Only `own` hands them out.
    """

    def __init__(self, given: Iterable[str] = ()) -> None:
        self._given = frozenset(given)
        self._taken: set[str] = set()

    def own(self, name: str) -> str:
        """For what bears a given name: that name for the first, with a number after it for the others."""
        if name not in self._taken:
            self._taken.add(name)
            return name
        return self.fresh(name)

    def fresh(self, wish: str) -> str:
        """For what samhw has thought of: the wish, with a number after it if anything has, or may get, that
        name."""
        name, number = wish, 1
        while name in self._taken or name in self._given:
            number += 1
            name = f"{wish}_{number}"
        self._taken.add(name)
        return name


def identifiers(names: Iterable[str], scope: Names | None = None) -> dict[str, str]:
    """A distinct C and Verilog identifier for each of some distinct names; like the name as far as can be.

    `scope`: where else they have to be distinct.
    """
    scope = scope or Names()
    return {name: scope.fresh(plain(name)) for name in names}


def plain(name: str) -> str:
    """A C identifier like a name, in ASCII, though perhaps a word of the language."""
    text = re.sub(r"\W", "_", name, flags=re.ASCII)
    return text if text.isidentifier() else f"n{text}"


def comment_text(text: str) -> str:
    """A text that can stand in a comment of C or Verilog, whatever it is: on one line, and without what ends
    a comment or draws the next line into it."""
    line = "".join(c if c.isprintable() else " " for c in text)
    return line.replace("\\", "/").replace("*/", "* /").replace("/*", "/ *")
