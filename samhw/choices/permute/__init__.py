"""Copies of tensors into another mode order."""

from collections.abc import Iterator

from samhw.choices.choice import YesOrNo

__all__ = ["CHOICE"]


class Permute(YesOrNo):
    """whether tensors may be copied into another mode order where storage orders conflict"""

    name = "permute"
    help = "Where storage orders conflict, copy a tensor into another mode order first."

    def said(self, value: bool) -> Iterator[str]:
        yield "with copies"


CHOICE = Permute()
