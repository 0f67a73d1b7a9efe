"""What of the package's metadata depends on where the repository lies: the links of its description, which is
the README, and the project's addresses. `SAMHW_REPOSITORY=https://..` names it when a release is built."""

import os
import re
from pathlib import Path

from setuptools import setup

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)|<img src=\"(?!https?:)([^\"]+)\"([^>]*)>")
"""A link or a picture of Markdown, or a picture of HTML, that leads to a file of the repository."""


def description(readme: str, repository: str | None) -> str:
    """The README as a page that stands elsewhere: its links lead into the repository. Where nobody says where
    that lies, they are words, and there are no pictures."""

    def elsewhere(found: re.Match[str]) -> str:
        picture, words, path, source, rest = found.groups()
        if not repository:
            return "" if picture or source else words
        if source:
            return f'<img src="{repository}/raw/main/{source}"{rest}>'
        return f"{picture}[{words}]({repository}/{'raw' if picture else 'blob'}/main/{path})"

    return LINK.sub(elsewhere, readme)


def addresses(repository: str | None) -> dict[str, str]:
    """The project's addresses, by what is there."""
    if not repository:
        return {}
    return {
        "Source": repository,
        "Documentation": f"{repository}/blob/main/docs/index.md",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
    }


EDITABLE = {"editable_wheel": {"mode": "compat"}}
"""An editable install is a path, which type checkers and editors follow; a finder of modules they do not."""


if __name__ == "__main__":
    asked = os.environ.get("SAMHW_REPOSITORY", "").rstrip("/") or None
    setup(
        long_description=description(Path("README.md").read_text("utf-8"), asked),
        long_description_content_type="text/markdown",
        project_urls=addresses(asked),
        options=EDITABLE,
    )
