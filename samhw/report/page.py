"""Pages: HTML files that work offline, made from a template, with styles and scripts inside."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from samhw.errors import InputError
from samhw.files import reason, write_text

__all__ = ["page", "write_page"]


def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("samhw.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    found.filters["commas"] = lambda number: f"{round(number):,}"
    # Within a script, JSON must not end it.
    found.filters["script"] = lambda text: Markup(text.replace("<", "\\u003c"))
    found.globals["asset"] = lambda name: Markup(_source(found, name))
    return found


def _source(environment: Environment, name: str) -> str:
    """A file beside the templates as it is."""
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def page(template: str, **values: Any) -> str:
    """A template of `templates/`, filled in."""
    return _environment().get_template(template).render(**values)


def write_page(directory: Path, text: str) -> Path:
    """Writes a page as `index.html` into a directory, which is made if it is not there; returns its path.

    Raises:
        InputError: if it cannot be written.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise InputError(
            f"Cannot write the report to {directory} ({reason(error)}); choose another directory."
        ) from None
    write_text(directory / "index.html", text)
    return directory / "index.html"
