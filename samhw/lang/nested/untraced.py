"""What a user's function cannot do while it is traced: errors that name its line, and what Python can ask of
an object and tracing has no answer to."""

import contextlib
import sys
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from samhw.errors import InputError

__all__ = ["Untraced", "user_error", "user_place"]

_INTERNAL = (str(Path(__file__).parent), str(Path(np.__file__).parent), contextlib.__file__, "<frozen")


def user_place() -> tuple[str, int]:
    """The file and the line, outside of this package and of NumPy, that is being run."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INTERNAL):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def user_error(message: str) -> InputError:
    """`message` with the place that is being run."""
    file, line = user_place()
    return InputError(f"{file}:{line}: {message}")


class Untraced:
    """Base of what stands for numbers while a function is traced. Each of Python's operators, and each method
    of arrays, is an InputError with the user's line, as far as a class does not define it.

    Attributes:
        offered: what the class has, for the errors.
    """

    offered: ClassVar[str]

    def _refused(self, *arguments: Any, **options: Any) -> Any:
        raise user_error(f"this operator cannot be traced; {self.offered}")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refused
    __matmul__ = __rmatmul__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _refused
    __divmod__ = __rdivmod__ = __pow__ = __rpow__ = __lshift__ = __rlshift__ = _refused
    __rshift__ = __rrshift__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _refused
    __neg__ = __pos__ = __invert__ = __abs__ = __round__ = __floor__ = __ceil__ = __trunc__ = _refused
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _refused
    __call__ = __len__ = _refused

    __hash__ = object.__hash__  # By identity, which `__eq__` would take away.

    def _unknown(self, *arguments: Any) -> Any:
        raise user_error(
            "what a function computes is not known while it is traced; use np.maximum, np.where or a fold"
        )

    __bool__ = __int__ = __float__ = __complex__ = __index__ = _unknown

    def __getitem__(self, key: Any) -> Any:
        raise user_error("an element is not taken apart; make its axis one of a list")

    def __iter__(self) -> Any:
        return self[0]

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise user_error(
            "an element is no array while its function is traced; compute with it as it is, by NumPy's ufuncs"
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # Python and NumPy ask for such names, and do without.
            raise AttributeError(name)
        raise user_error(f"'{name}' cannot be traced; {self.offered}")
