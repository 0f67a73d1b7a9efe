"""Modules that nobody had seen: written by hand as practitioners write them, and of packages from PyPI.

They were frozen, `DIGEST` with them, before the importer was opened for them. A file of the list changes only
where its package does, and its digest with it.
"""

import hashlib
from pathlib import Path

import torch

from tests.importers.torch.forty import Example
from tests.importers.torch.unseen import (
    audio,
    diffusion,
    graphs,
    idioms,
    packages,
    policies,
    recommenders,
    series,
    state_space,
    training,
    vision,
)

__all__ = ["DIGEST", "UNSEEN", "digest"]

DIGEST = "9a3c1353da19e6ddaff9120d40ce2efe8c472b8cb805b81d2d7c88379125b4a7"

FAMILIES = (
    *(training, vision, audio, series, graphs, recommenders, diffusion, policies, state_space, idioms),
)


def of_package(name: str) -> Example:
    def example():
        module, *arguments = packages.ROWS[name]()
        return module.eval(), tuple(arguments)

    return example


def seeded(example: Example) -> Example:
    """The same weights and arguments, whichever ran before."""

    def drawn():
        torch.manual_seed(68)
        return example()

    return drawn


UNSEEN: dict[str, Example] = {
    **{
        f"{family.__name__.rpartition('.')[2]}.{example.__name__}": seeded(example)
        for family in FAMILIES
        for example in family.EXAMPLES
    },
    **{f"packages.{name}": seeded(of_package(name)) for name in packages.ROWS},
}


def digest() -> str:
    """Of the text of the modules."""
    files = sorted(Path(str(m.__file__)) for m in (*FAMILIES, packages))
    return hashlib.sha256(b"".join(p.read_bytes() for p in files)).hexdigest()
