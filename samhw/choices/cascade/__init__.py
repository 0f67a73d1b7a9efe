"""Cascades: what is done about reductions over one index that depend on each other."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from samhw.choices.choice import Choice, check_one_of, check_whole
from samhw.errors import InputError, shown

__all__ = ["CASCADES", "CHOICE", "Cascade"]

Cascade = Literal["off", "auto", "rescaled", "deferred", "finite"]
CASCADES: tuple[Cascade, ...] = get_args(Cascade)

MOST = 1 << 20
"""Coordinates of a tile."""


class Cascades(Choice[Cascade | dict[str, Any]]):
    """what is done about reductions that use each other's results: a form, `"off"`, `"deferred"`,
    `"rescaled"`, `"finite"` or `"auto"`, or `{form = "finite", tile = 16}` ([cascades.md](cascades.md)). It
    changes how results are rounded"""

    name = "cascade"
    by_default = '`"off"`'
    metavar = "FORM"
    several = "FORM,.."
    help = (
        "Reductions over one index that depend on each other: as they are written (off, the default), or in "
        "one pass: rescaled, by tiles of 16 as tile=16, and others; docs/cascades.md has the choices."
    )

    def check(self, value: Any) -> Cascade | dict[str, Any]:
        if isinstance(value, str):
            check_one_of("cascade", value, CASCADES)
            return value  # type: ignore[return-value]  # It is one of them.
        if not isinstance(value, Mapping) or not value.keys() <= {"tile", "form"}:
            raise InputError(
                f"'cascade' is {shown(value)}; give one of {', '.join(CASCADES)}, or a table with 'tile' "
                "and, if it is not rescaled, 'form'."
            )
        form = self.check(value.get("form", "rescaled"))
        if not isinstance(form, str):
            raise InputError(f"'cascade.form' is {shown(form)}; give one of {', '.join(CASCADES)}.")
        tile = check_whole("cascade.tile", value.get("tile", 1), MOST)
        if tile == 1:
            return form
        if form in ("off", "deferred"):
            raise InputError(
                f"'cascade' has a tile of {tile}, but {form} rescales nothing; leave 'tile' out."
            )
        return {"tile": tile} if form == "rescaled" else {"form": form, "tile": tile}

    def read(self, word: str) -> str | dict[str, Any]:
        """`rescaled`, `tile=16` or `finite+tile=16`."""
        form, plus, size = word.partition("+")
        if "=" in form and not plus:
            form, size = "rescaled", form
        if not size and not plus:
            return form
        name, _, tile = (part.strip() for part in size.partition("="))
        if name != "tile" or not tile.isdecimal() or len(tile) > 9:
            raise InputError(
                f"cascade '{word}': give one of {', '.join(CASCADES)}, a tile, as in tile=16, or both, as in "
                "finite+tile=16."
            )
        return {"form": form.strip(), "tile": int(tile)}

    def word(self, value: Cascade | Mapping[str, Any]) -> str:
        if isinstance(value, str):
            return value
        form = f"{value['form']}+" if "form" in value else ""
        return f"{form}tile={value['tile']}"


CHOICE = Cascades()
