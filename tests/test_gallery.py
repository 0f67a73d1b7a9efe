"""The notebooks of the documents run, and show what they have shown."""

import re
from pathlib import Path
from typing import Any

import pytest

from docs.gallery import GALLERY, run

nbformat = pytest.importorskip("nbformat")

NOTEBOOKS = sorted(GALLERY.glob("*.ipynb"))


def shown(notebook: Any) -> list[str]:
    """What the cells have printed and given, as text, but for what differs from run to run: seconds, and the
    last digits of errors."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    texts = [output.get("text") or output["data"]["text/plain"] for cell in cells for output in cell.outputs]
    return re.sub(r"\d+\.\d+ s\b|\d\.?\d*e-\d+|\d\.\d{6,}", "..", "\n".join(texts)).split("\n")


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook(path: Path) -> None:
    before = nbformat.read(path, as_version=4)
    assert shown(run(path)) == shown(before)


def test_the_page_lists_them() -> None:
    page = (GALLERY.parent / "gallery.md").read_text("utf-8")
    for path in NOTEBOOKS:
        title = nbformat.read(path, as_version=4).cells[0].source.splitlines()[0].removeprefix("# ")
        assert f"[{title}](gallery/{path.name})" in page
        assert f"\ngallery/{path.stem}\n" in page
