"""What a schedule says about cascades, as a table and in one word."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from samhw.choices.schedule.fields import check_one_of, check_whole
from samhw.errors import InputError, shown

__all__ = ["CASCADES", "Cascade", "cascade_text", "check_cascade", "parse_cascade"]

Cascade = Literal["off", "auto", "rescaled", "deferred", "finite"]
CASCADES: tuple[Cascade, ...] = get_args(Cascade)

MOST = 1 << 20
"""Coordinates of a tile."""


def check_cascade(cascade: object) -> Cascade | dict[str, Any]:
    """A form; or a table with the size of a tile and the form, which is `rescaled` where it says none."""
    if isinstance(cascade, str):
        check_one_of("cascade", cascade, CASCADES)
        return cascade  # type: ignore[return-value]  # It is one of them.
    if not isinstance(cascade, Mapping) or not cascade.keys() <= {"tile", "form"}:
        raise InputError(
            f"'cascade' is {shown(cascade)}; give one of {', '.join(CASCADES)}, or a table with 'tile' and, "
            "if it is not rescaled, 'form'."
        )
    form = check_cascade(cascade.get("form", "rescaled"))
    if not isinstance(form, str):
        raise InputError(f"'cascade.form' is {shown(form)}; give one of {', '.join(CASCADES)}.")
    tile = check_whole("cascade.tile", cascade.get("tile", 1), MOST)
    if tile == 1:
        return form
    if form in ("off", "deferred"):
        raise InputError(f"'cascade' has a tile of {tile}, but {form} rescales nothing; leave 'tile' out.")
    return {"tile": tile} if form == "rescaled" else {"form": form, "tile": tile}


def parse_cascade(text: str) -> str | dict[str, Any]:
    """What `check_cascade` takes, of words such as `rescaled`, `tile=16` or `finite+tile=16`."""
    form, plus, size = text.partition("+")
    if "=" in form and not plus:
        form, size = "rescaled", form
    if not size and not plus:
        return form
    name, _, tile = (part.strip() for part in size.partition("="))
    if name != "tile" or not tile.isdecimal() or len(tile) > 9:
        raise InputError(
            f"cascade '{text}': give one of {', '.join(CASCADES)}, a tile, as in tile=16, or both, as in "
            "finite+tile=16."
        )
    return {"form": form.strip(), "tile": int(tile)}


def cascade_text(cascade: Cascade | Mapping[str, Any]) -> str:
    """The words that `parse_cascade` reads."""
    if isinstance(cascade, str):
        return cascade
    form = f"{cascade['form']}+" if "form" in cascade else ""
    return f"{form}tile={cascade['tile']}"
