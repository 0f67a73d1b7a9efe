"""A field of a schedule that says something of each of some tensors, in words."""

from collections.abc import Callable, Mapping

from samhw.errors import InputError, shown

__all__ = ["check_by_tensor"]


def check_by_tensor(
    field: str, value: object, parse: Callable[[str], object], *, what: str, several: str, example: str
) -> dict[str, str]:
    """The table of such a field, as a schedule keeps it.

    Args:
        parse: raises `InputError` for words that say nothing.
        what, several: what is said of a tensor, such as "a rule", and "rules".
        example: such words.

    Raises:
        InputError: for what is not a table of them.
    """
    if not isinstance(value, Mapping):
        raise InputError(
            f"'{field}' is {shown(value)}; give a table of {several} by tensor, A = \"{example}\"."
        )
    for tensor, text in value.items():
        if not isinstance(tensor, str) or not isinstance(text, str):
            raise InputError(
                f"'{field}' has {shown(text)} for {shown(tensor)}; give {what}, such as {example}."
            )
        try:
            parse(text)
        except InputError as error:
            raise InputError(f"'{field}' of '{tensor}': {error}.") from None
    return {tensor: text.strip() for tensor, text in value.items()}
