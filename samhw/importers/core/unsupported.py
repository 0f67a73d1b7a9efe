"""What an importer cannot take."""

from samhw.errors import InputError

__all__ = ["UnsupportedError"]


class UnsupportedError(InputError):
    """An operator that cannot be imported as it stands. The caller adds its name and the user's line.

    Args:
        what: what it does, as goes on after its name: "draws random numbers".
        way_out: what to do instead.
    """

    def __init__(self, what: str, way_out: str) -> None:
        super().__init__(f"{what}; {way_out}")
