"""Pages that are typed as they stand: commands print what the page says, and its Python runs."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LEFT_OUT = "..."


def commands(block: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a session, its continuation lines too, with the lines that it prints."""
    typed: list[str] = []
    for is_typed, lines in groupby(block.splitlines(), lambda line: line.startswith(("$ ", ">"))):
        if not is_typed:
            printed = list(lines)
            yield "\n".join(typed), printed
            typed = []
            continue
        for line in lines:
            if line.startswith("$ ") and typed:
                yield "\n".join(typed), []
                typed = []
            typed.append(line[2:])
    if typed:
        yield "\n".join(typed), []


def timeless(line: str) -> str:
    """Without what differs from machine to machine, and without how far rounding led."""
    return re.sub(r"\d+\.\d+ s\b|\d\.\d+e-\d+", "..", line.rstrip())


def has(printed: list[str], said: list[str]) -> bool:
    """Whether the page says what was printed, of which it may leave out lines where it has dots."""
    pattern = "".join("(.*\n)*?" if line == LEFT_OUT else re.escape(timeless(line)) + "\n" for line in said)
    return re.fullmatch(pattern, "".join(f"{timeless(line)}\n" for line in printed)) is not None


@pytest.mark.parametrize(
    ("printed", "said"),
    [("a in 0.12 s", "a in 3.1 s"), ("a\nb\nc", "a\n..."), ("a\nb\nc", "...\nb\n..."), ("", "")],
)
def test_what_a_page_may_say(printed: str, said: str) -> None:
    assert has(printed.splitlines(), said.splitlines())


@pytest.mark.parametrize(("printed", "said"), [("a\nb", "a"), ("7 cycles", "8 cycles"), ("a", "...\nb")])
def test_what_a_page_may_not_say(printed: str, said: str) -> None:
    assert not has(printed.splitlines(), said.splitlines())


TASK = re.compile(r"^### (.*)\n((?:(?!##).*\n)*)", re.MULTILINE)


def test_tasks_take_five_lines_at_most() -> None:
    """Beside imports."""
    tasks = TASK.findall((DOCS / "how_to.md").read_text("utf-8"))
    assert len(tasks) >= 45
    for task, text in tasks:
        lines = "".join(block for _, block in BLOCK.findall(text)).splitlines()
        typed = [line for line in lines if line.strip() and not line.startswith(("import ", LEFT_OUT))]
        assert len(typed) <= 5, task
        assert typed or "`" in text, task


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize("page", ["tutorial.md", "how_to.md"])
def test_a_page(page: str, tmp_path: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": "300"}
    python = ""
    for language, block in BLOCK.findall((DOCS / page).read_text("utf-8")):
        if language == "python":
            python += block
            continue
        for typed, said in commands(block):
            ran = subprocess.run(
                ["bash", "-c", typed], cwd=tmp_path, env=environment, capture_output=True, text=True
            )
            if "'pygraphviz' cannot be loaded" in ran.stderr:
                continue  # It wants libraries of a desktop's, which a bare system lacks, and says so.
            assert ran.returncode == 0, f"{typed}\n{ran.stderr}"
            assert has(ran.stdout.splitlines(), said), f"{typed}\n{ran.stdout}"
    subprocess.run([sys.executable, "-c", python], cwd=tmp_path, check=True)
