"""What `--data` is by default, and what reports call it."""

from pathlib import Path

__all__ = ["DEFAULT", "short_name"]

DEFAULT = ("auto",)
"""The data of every command: the karate club, or random tensors for a program that reads no such matrix."""


def short_name(spec: str) -> str:
    """A data set's name in reports: without the folder of its file."""
    name, equals, path = spec.partition("=")
    return f"{name}={Path(path).name}" if equals and name.isidentifier() else spec.rpartition("/")[2]
