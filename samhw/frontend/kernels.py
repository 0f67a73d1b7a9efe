"""The built-in programs: the kernels of the Sparse Abstract Machine paper, each an ``.ein`` file."""

from functools import cache
from importlib.resources import files

from samhw.errors import InputError
from samhw.frontend.parse import parse
from samhw.frontend.program import Program

__all__ = ["kernel_description", "kernel_names", "load_kernel"]

_FOLDER = files("samhw.frontend") / "kernels"


@cache
def kernel_names() -> tuple[str, ...]:
    """The names of all built-in programs, sorted."""
    files_in_folder = (path.name for path in _FOLDER.iterdir())
    return tuple(sorted(file.removesuffix(".ein") for file in files_in_folder if file.endswith(".ein")))


def load_kernel(name: str) -> Program:
    """The built-in program `name`; its extents come from the data (`Program.bind`).

    Raises InputError when there is none of this name.
    """
    return parse(_text(name), f"{name}.ein")


def kernel_description(name: str) -> str:
    """What the built-in program computes, in one line: its first comment."""
    return _text(name).partition("\n")[0].removeprefix("#").strip()


def _text(name: str) -> str:
    if name not in kernel_names():
        raise InputError(f"there is no built-in program '{name}'; there are {', '.join(kernel_names())}")
    return (_FOLDER / f"{name}.ein").read_text(encoding="utf-8")
