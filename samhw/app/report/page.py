"""Pages: HTML files that work offline, made from a template, with styles and scripts inside."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from samhw.errors import InputError
from samhw.files import reason, replacing

__all__ = ["page", "write_page"]


def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("samhw.app.report"),
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


def write_page(directory: Path, text: str, beside: Mapping[str, bytes] | None = None) -> Path:
    """Writes a page as `index.html` into a directory, which is made if it is not there; returns its path.

    Args:
        beside: other files, by name. They take their places together with the page, once all are written.

    Raises:
        InputError: if they cannot be written.
    """
    files = {**(beside or {}), "index.html": text.encode()}
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with ExitStack() as whole:
            opened = [whole.enter_context(replacing(directory / name)) for name in files]
            for file, content in zip(opened, files.values(), strict=True):
                file.write(content)
                file.flush()
    except (OSError, ValueError) as error:
        raise InputError(
            f"Cannot write the report to {directory} ({reason(error)}); choose another directory."
        ) from None
    return directory / "index.html"
