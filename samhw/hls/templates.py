"""Rendering of the C++ and project templates in `samhw/hls_templates`, and of those of primitives."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jinja2

__all__ = ["header_template", "render"]

FOLDER = Path(__file__).parent.parent / "hls_templates"

_OF_FOLDERS = "primitives/{}/template.hpp.j2"


@cache
def _environment() -> "jinja2.Environment":
    import jinja2  # Takes a tenth of a second to be imported, and a simulation needs none.

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader([FOLDER, FOLDER.parent]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render(template: str, **context: Any) -> str:
    """The text of a template, named by its path in the folder; a name that the context lacks is an error."""
    return _environment().get_template(template).render(**context)


def header_template(header: str) -> str:
    """The template of a header: that of a folder of `samhw.primitives`, or one that all kernels share."""
    own = _OF_FOLDERS.format(header)
    return own if (FOLDER.parent / own).exists() else f"library/{header}.hpp.j2"
