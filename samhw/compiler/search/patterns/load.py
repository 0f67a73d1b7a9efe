"""A user's own patterns."""

from collections.abc import Iterator
from contextlib import contextmanager

from samhw.compiler.search.patterns.built_in import BUILT_IN
from samhw.compiler.search.patterns.partition import StatementPattern
from samhw.errors import InputError
from samhw.script import Script

__all__ = ["with_own_patterns"]


@contextmanager
def with_own_patterns(spec: str | None) -> Iterator[tuple[StatementPattern, ...]]:
    """The patterns of `file.py:NAME` ahead of the built-in ones, or these alone. Inside, the file's checks
    run as the file does.

    Raises:
        InputError: for a file or a name that is not there, what is not a pattern, and what fails in the file.
    """
    if not spec:
        yield BUILT_IN
        return
    path, _, name = spec.rpartition(":")
    if not (path and name):
        raise InputError(f"--patterns {spec}: name patterns in a Python file, as file.py:NAME.")
    script = Script(path)
    found = script.objects().get(name)
    own = found if isinstance(found, list | tuple) else [found]
    patterns = [pattern for pattern in own if isinstance(pattern, StatementPattern)]
    if not patterns or len(patterns) < len(own):
        raise InputError(
            f"--patterns {spec}: '{path}' has no '{name}' that is a StatementPattern, or a list of them."
        )
    with script.failing(), script.around():
        yield (*patterns, *BUILT_IN)
