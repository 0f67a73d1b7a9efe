"""`samhw build`: writes everything that a target needs into a directory, all of it or nothing."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from samhw.compiler import Compiled
from samhw.files import new_directory
from samhw.targets.backends.backend import Target
from samhw.targets.backends.registry import find_target
from samhw.targets.running.inputs import inputs_of
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
    with new_directory(directory) as staging:
        inputs = None if tensors is None or not writer.carries_data else inputs_of(compiled, tensors)
        writer.build(compiled, staging, inputs, **settings)
        lines = [f"{name}: {recipe}\n" for name, recipe in compiled.recipes.items()]
        lines += [f"{name}: all entries of {', '.join(parts)}\n" for name, parts in compiled.joined.items()]
        lines = [f"{line}\n" for line in compiled.order_lines] + lines
        if lines:
            (staging / DERIVED).write_text("".join(lines), encoding="utf-8")
    return sorted(p for p in directory.rglob("*") if p.is_file())
