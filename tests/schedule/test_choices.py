"""The choices: each has one folder, which nothing lists, and one page has them all."""

import ast
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import samhw
from docs import tables
from samhw.choices.choice import Choice
from samhw.choices.schedule import CHOICES, DEFAULT, Schedule
from samhw.installed import folders

PACKAGE = Path(samhw.__file__).parent
PAGE = PACKAGE.parent / "docs" / "schedule.md"


def test_each_folder_is_a_field() -> None:
    assert folders("samhw.choices") == tuple(sorted(field.name for field in fields(Schedule)))
    assert [one.name for one in CHOICES] == [field.name for field in fields(Schedule)]


@pytest.mark.parametrize("one", CHOICES, ids=lambda one: one.name)
def test_a_word_is_read_back(one: Choice[Any]) -> None:
    default = getattr(DEFAULT, one.name)
    assert one.taken(one.word(default)) == default
    assert one.help.endswith(".")


def test_the_page_has_the_words_of_each_choice() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert "<!-- table: fields -->" in page
    assert page == tables.written(page), "run python -m docs.tables"


NAMED_OUTSIDE = {
    # Where a choice enters the compiler.
    *(
        "compiler/compiled.py",
        "compiler/nameless.py",
        "compiler/program_to_design.py",
        "compiler/row_ranges.py",
        "compiler/scope.py",
        "compiler/search/decide.py",
        "compiler/search/job.py",
        "compiler/shared_hardware.py",
        "compiler/side_by_side.py",
    ),
    *("compiler/passes/alias_reshapes.py", "compiler/passes/cascade.py"),
    *("compiler/passes/copy_discordant.py", "compiler/passes/split_formats.py"),
    # Where data are stored as it says, and their memories.
    *("app/workload/workload.py", "app/workload/effort.py", "compiler/placement.py", "app/cli/backends.py"),
    "app/sweep/configuration.py",
    # Regions of modules, lanes of a load, words about fusion.
    *("compiler/search/spaces.py", "compiler/search/work.py", "compiler/search/tried.py"),
    "compiler/search/explore.py",
    # What is said where nothing comes of one.
    "compiler/idle.py",
    # What is printed or asked about one of them.
    *(
        "app/checking/advice.py",
        "app/checking/cpu.py",
        "app/checking/measure.py",
        "app/checking/model_and_rtl.py",
        "app/cli/after.py",
        "app/cli/analyses.py",
        "app/papers/points.py",
    ),
    *("app/cli/schedules.py", "app/cli/compare.py", "app/cli/compile.py", "app/cli/correlate.py"),
}
"""The files that ask a schedule for one of its fields, and why. A new one has a reason too."""


def named_outside() -> set[str]:
    """The files outside of the choices that name a field of a schedule: `schedule.lanes`, `asked.tile`."""
    names = {one.name for one in CHOICES} - {"order", "split"}
    found = set()
    for path in PACKAGE.rglob("*.py"):
        file = path.relative_to(PACKAGE).as_posix()
        if file.startswith(("choices/", "lang/")):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Attribute(value=ast.Name(id=owner), attr=name) if name in names:
                    if re.fullmatch("schedule|asked|given", owner):
                        found.add(file)
                case ast.Attribute(value=ast.Attribute(attr="schedule"), attr=name) if name in names:
                    found.add(file)
    return found


def test_few_files_outside_name_a_choice() -> None:
    assert named_outside() == NAMED_OUTSIDE
