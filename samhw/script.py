"""A user's Python file, and what it defines."""

import functools
import runpy
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

from samhw.errors import InputError

__all__ = ["Script"]

_PACKAGE = Path(__file__).parent

_EXTRAS = {"torch": "torch", "amaranth": "rtl", "amaranth_boards": "rtl"}
"""The extras of this package that bring what users' files import."""

_neighbours: dict[Path, dict[str, ModuleType]] = {}
"""By folder, what its files have imported of the files beside them. Nothing else sees that: files of another
folder may have neighbours of the same names."""


class Script:
    """A Python file that runs as by `python file.py`, with its folder on the import path; in a package, as by
    `python -m package.file`. What it prints goes to stderr, since stdout is for results.

    Raises:
        InputError: for a file that is not there.
    """

    def __init__(self, path: str) -> None:
        try:
            is_file = Path(path).is_file()
        except ValueError:  # Text that no path can be.
            is_file = False
        if not is_file:
            raise InputError(f"there is no file '{path}'; check the path")
        self.path = path
        self._file = Path(path).resolve()
        packages = [self._file.stem]
        self._root = self._file.parent
        while (self._root / "__init__.py").is_file():
            packages.insert(0, self._root.name)
            self._root = self._root.parent
        self._module = ".".join(packages) if len(packages) > 1 else None

    def objects(self) -> dict[str, Any]:
        """The global names of the file, once it has run. Raises InputError when that fails."""
        with self.failing(), self.around():
            return runpy.run_module(self._module) if self._module else runpy.run_path(self.path)

    def function(self, found: Callable[[], object]) -> Callable[[], Any]:
        """A function of the file, which runs as the file does."""

        @functools.wraps(found)
        def called() -> Any:
            with self.failing(), self.around():
                return found()

        return called

    def neighbours(self) -> list[Path]:
        """The files beside it that have been imported."""
        files = [
            getattr(module, "__file__", None) for module in _neighbours.get(self._file.parent, {}).values()
        ]
        return sorted(Path(file) for file in files if file)

    @contextmanager
    def around(self) -> Iterator[None]:
        """While something of the file runs: its folder is on the import path, its neighbours are loaded."""
        import_path, before = list(sys.path), set(sys.modules)
        folders = dict.fromkeys([str(self._file.parent), str(self._root)])
        sys.path[:0] = folders if self._module is None else reversed(folders)
        held = _neighbours.setdefault(self._file.parent, {})
        sys.modules.update(held)
        try:
            with redirect_stdout(sys.stderr), warnings.catch_warnings():
                # PyTorch says so once a process, whatever anybody does.
                warnings.filterwarnings("ignore", message="Sparse .* tensor support is in beta")
                yield
        finally:
            sys.path[:] = import_path
            new = set(sys.modules) - before
            homes = {Path(folder) for folder in folders}
            tops = {name for name in new if "." not in name and _home(sys.modules[name]) in homes}
            tops.discard(_PACKAGE.name)
            held.update({name: sys.modules[name] for name in new if name.partition(".")[0] in tops})
            for name in held.keys() - before:
                sys.modules.pop(name, None)

    @contextmanager
    def failing(self) -> Iterator[None]:
        """What goes wrong inside is an InputError with the user's line."""
        try:
            yield
        except InputError:
            raise
        except (Exception, SystemExit) as error:
            raise InputError(f"{self._place(error)}: {_failure(error)}") from error

    def _place(self, error: BaseException) -> str:
        """The innermost line of the user's files that failed, as `path:line`."""
        if isinstance(error, SyntaxError) and Path(error.filename or "").is_file():
            return f"{self._said(Path(str(error.filename)))}:{error.lineno}"
        own = [
            f"{self._said(Path(frame.filename))}:{frame.lineno}"
            for frame in traceback.extract_tb(error.__traceback__)
            if self._is_own(Path(frame.filename).resolve())
        ]
        return own[-1] if own else self.path

    def _is_own(self, file: Path) -> bool:
        return file == self._file or (
            self._root in file.parents and _PACKAGE not in file.parents and "site-packages" not in file.parts
        )

    def _said(self, file: Path) -> str:
        """A file as its user calls it."""
        return self.path if file.resolve() == self._file else str(file)


def _failure(error: BaseException) -> str:
    """What went wrong in a file, and the way out."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition(".")[0]
        if extra := _EXTRAS.get(package):
            return f"{text}; install it with pip install 'samhw[{extra}]'"
        return f"{text}; install the package that has it, or fix the file"
    return f"{text}; fix the file"


def _home(module: ModuleType) -> Path | None:
    """The folder that a module or package was found in."""
    places = list(getattr(module, "__path__", None) or [getattr(module, "__file__", None)])
    return Path(places[0]).resolve().parent if places[0] else None
