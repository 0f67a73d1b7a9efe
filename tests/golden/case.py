"""A golden file, `<pass>/<name>.txt`: a head, a program, and what comes out, with a line `---` between them.

The head is TOML: a comment that says what the case shows, the fields of the schedule, and `entries` and
`arch` as a `Job` has them. What comes out is a program, what a pass of graphs changes, or `refused:` with the
reason. A node or a memory of a graph has `+` if the pass has made it, `-` if it has left it out, and `~` if
it has changed it.
"""

import tomllib
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from importlib import import_module
from pathlib import Path

import pytest

from samhw.app.cli.after import graph_text, program_after, program_text
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled, Decision
from samhw.compiler.graph_passes import GRAPH_PASSES
from samhw.compiler.passes import Lowerable
from samhw.compiler.pipeline import lower, plan
from samhw.compiler.search import Job
from samhw.errors import InputError
from samhw.graph import Arch
from samhw.lang import parse
from samhw.lang.decision import Refusal

CHOICES = ("brackets", "fuse")
"""Fields of a schedule that make another program."""

SEPARATOR = "---\n"
REFUSED = "refused:"


@dataclass(frozen=True)
class Case:
    """A golden file."""

    path: Path
    head: str
    program: str
    expected: str

    @classmethod
    def read(cls, path: Path) -> "Case":
        head, program, expected = path.read_text("utf-8").split(SEPARATOR)
        return cls(path, head, program, expected)

    def write(self) -> None:
        """Writes the file with what comes out now."""
        self.path.write_text(SEPARATOR.join((self.head, self.program, self.found)), "utf-8")

    @property
    def name(self) -> str:
        """The pass."""
        return self.path.parent.name

    @property
    def is_refused(self) -> bool:
        return self.found.startswith(REFUSED)

    @cached_property
    def job(self) -> Job:
        """What is compiled."""
        fields = tomllib.loads(self.head)
        entries, arch = fields.pop("entries", {}), Arch(**fields.pop("arch", {}))
        program = parse(self.program, self.path.stem)
        return Job(program, Schedule.from_fields(fields), entries=entries, arch=arch)

    @cached_property
    def found(self) -> str:
        """What comes out."""
        try:
            return self.changes() if self.name in GRAPH_PASSES else program_text(self.left)
        except InputError as error:
            return f"{REFUSED} {error}\n"

    @cached_property
    def left(self) -> Lowerable:
        """The program that a pass of programs, or a choice, makes."""
        return self.job.lowerable() if self.name in CHOICES else program_after(self.job, self.name)

    @cached_property
    def decision(self) -> Decision:
        """Of a case of a pass of graphs."""
        return plan(self.job)

    def compiled(self, last: str | None = None) -> Compiled:
        """The design that a pass of graphs leaves, or all of them."""
        found = lower(self.job, self.decision, last)
        if isinstance(found, Refusal):
            raise found.error()
        return found

    def changes(self) -> str:
        """The graph that a pass leaves, and what it has changed there."""
        number = GRAPH_PASSES.index(self.name)
        with pytest.MonkeyPatch.context() as patch:
            if number == 0:
                module = import_module(f"samhw.compiler.graph_passes.{self.name}")
                patch.setattr(module, self.name, lambda assembly: assembly)
            before = graph_text(self.compiled(GRAPH_PASSES[max(0, number - 1)]))
        return marked(before, graph_text(self.compiled(self.name)))


def marked(before: str, after: str) -> str:
    """The lines after a change, each with what has become of it; and in their places those that are gone."""
    if before == after:
        return "unchanged\n"
    old, new = by_name(before), by_name(after)
    names = list(old), list(new)
    result = []
    for _, old_start, old_end, new_start, new_end in SequenceMatcher(None, *names, False).get_opcodes():
        left, made = names[0][old_start:old_end], names[1][new_start:new_end]
        result += [f"- {old[name]}" for name in left if name not in made]
        for name in made:
            mark = "+" if name not in left else "~" if old[name] != new[name] else " "
            result.append(f"{mark} {new[name]}")
    return "".join(f"{line}\n" for line in result)


def by_name(text: str) -> dict[tuple[str, str], str]:
    """The lines of graphs, by region and node or memory."""
    found, region = {}, ""
    for line in text.splitlines():
        first = line.split()[0]
        region = region if line.startswith(" ") else first
        found[region, first] = line
    return found
