"""Rendering of the C++ and project templates in `samhw/hls_templates`."""

from functools import cache
from pathlib import Path
from typing import Any

import jinja2

__all__ = ["render"]

FOLDER = Path(__file__).parent.parent / "hls_templates"


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render(template: str, **context: Any) -> str:
    """The text of a template, named by its path in the folder; a name that the context lacks is an error."""
    return _environment().get_template(template).render(**context)
