"""`samhw build`: writes everything that a target needs into a directory, all of it or nothing."""

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from samhw.backends.backend import Target
from samhw.backends.registry import find_target
from samhw.compiler import Compiled
from samhw.errors import InputError
from samhw.files import reason
from samhw.running.inputs import inputs_of
from samhw.tensors import Tensor

__all__ = ["DERIVED", "build"]

DERIVED = "derived.txt"
"""The file with the inputs that the user does not have, and how each is made of those that the user has; and
with the results that are put together of what the design stores."""


def build(
    compiled: Compiled,
    target: Target | str,
    directory: Path,
    tensors: Mapping[str, Tensor] | None = None,
    **settings: Any,
) -> list[Path]:
    """Writes a build and returns its files; which ones, `build` of the target says.

    Args:
        target: what writes it, or its name.
        tensors: data that the build is to have beside it, if the target's builds carry any.
        settings: of the target's own `build`.

    Raises:
        InputError: if the directory is there and not empty, or cannot be written, or for a target that is
            not there.
    """
    writer = find_target(target) if isinstance(target, str) else target
    try:
        if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            raise InputError(f"{directory} is there and not empty; choose another directory or remove it.")
        directory.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".samhw-", dir=directory.parent))
    except (OSError, ValueError) as error:
        raise _unwritable(directory, error) from None
    try:
        inputs = None if tensors is None or not writer.carries_data else inputs_of(compiled, tensors)
        writer.build(compiled, staging, inputs, **settings)
        staging.chmod(0o755)
        lines = [f"{name}: {recipe}\n" for name, recipe in compiled.recipes.items()]
        lines += [f"{name}: all entries of {', '.join(parts)}\n" for name, parts in compiled.joined.items()]
        lines = [f"{line}\n" for line in compiled.order_lines] + lines
        if lines:
            (staging / DERIVED).write_text("".join(lines), encoding="utf-8")
        if directory.exists():
            directory.rmdir()
        staging.rename(directory)
    except OSError as error:
        raise _unwritable(directory, error) from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return sorted(p for p in directory.rglob("*") if p.is_file())


def _unwritable(directory: Path, error: OSError | ValueError) -> InputError:
    return InputError(f"Cannot write {directory} ({reason(error)}); choose another directory.")
