"""Runs the notebooks of docs/gallery and keeps what their cells show, which needs nbclient and ipykernel.

Usage, from the repository's root: PYTHONPATH=. python docs/gallery.py [NAME ..]
"""

import os
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

GALLERY = Path(__file__).parent / "gallery"


def joined(outputs: list[Any]) -> list[Any]:
    """Outputs, the pieces of a stream as one: where it is cut, its writer's buffers decide."""
    found: list[Any] = []
    for output in outputs:
        output.get("metadata", {}).clear()
        if found and output.output_type == "stream" and output.get("name") == found[-1].get("name"):
            found[-1].text += output.text
        else:
            found.append(output)
    return found


def run(path: Path) -> Any:
    """A notebook as its cells run now; raises nbclient's `CellExecutionError` where one of them fails."""
    notebook = nbformat.read(path, as_version=4)
    # Commands come from the environment that runs this.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    NotebookClient(notebook, timeout=300, kernel_name="python3", record_timing=False).execute()
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = joined(cell.outputs)
    return notebook


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(path.stem for path in GALLERY.glob("*.ipynb")):
        nbformat.write(run(GALLERY / f"{name}.ipynb"), GALLERY / f"{name}.ipynb")
